package cli

import (
	"fmt"
	"os"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
)

// completion prints the script by which a shell asks this program for completions.
type completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

var completionScripts = map[string]string{
	"bash": "complete -C %[2]s %[1]s\n",
	"zsh":  "autoload -U +X bashcompinit && bashcompinit\ncomplete -C %[2]s %[1]s\n",
	"fish": "function __complete_%[1]s\n    set -lx COMP_LINE (commandline -cp)\n    test -z (commandline -ct)\n    and set COMP_LINE \"$COMP_LINE \"\n    %[2]s\nend\ncomplete -f -c %[1]s -a \"(__complete_%[1]s)\"\n",
}

// Run prints the script.
func (c *completion) Run(app *App) error {
	self, err := os.Executable()
	if err != nil {
		return fault.New(fault.Internal, "Cannot find the path of this program: %v", err)
	}
	_, err = fmt.Fprintf(app.Stdout, completionScripts[c.Shell], app.Name, self)
	return err
}

// complete answers a shell that asks for completions through COMP_LINE, and reports whether it did.
func complete(parser *kong.Kong, env []string) bool {
	if process.Getenv(env, "COMP_LINE") == "" {
		return false
	}
	asked := false
	kongcompletion.Register(parser, kongcompletion.WithExitFunc(func(int) { asked = true }))
	return asked
}
