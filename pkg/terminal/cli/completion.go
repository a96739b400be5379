package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/alecthomas/kong"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/terminal/completion"
)

// completionCommand prints the script by which a shell asks this program for completions.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script.
func (c *completionCommand) Run(app *App) error {
	self, err := os.Executable()
	if err != nil {
		return fault.New(fault.Internal, "Cannot find the path of this program: %v", err)
	}
	_, err = fmt.Fprint(app.Stdout, completion.Script(c.Shell, app.Name, self))
	return err
}

// Values returns what a value of the given kind may be. The tag complete of a grammar's field has the kind. of is what the values depend
// on, as far as the command line has it: the workflow of an input, the server of a tool.
type Values func(app *App, kind string, of []string) ([]completion.Candidate, error)

// owners are the programs that know the values of a kind.
var owners = map[string]string{
	"workflow": "pflow-lib", "saved": "pflow-lib", "draft": "pflow-lib", "input": "pflow-lib", "node": "pflow-lib", "type": "pflow-lib", "parameter": "pflow-lib",
	"run": "pflow-exec", "run-node": "pflow-exec", "run-input": "pflow-exec", "status": "pflow-exec",
	"server": "pflow-sync", "tool": "pflow-sync", "argument": "pflow-sync",
	"client": "pflow-serve", "toolset": "pflow-serve",
}

// completes reports whether a shell, or a program of the suite, asks for completions.
func completes(env []string) bool { return process.Getenv(env, completion.Variable) != "" }

// completer answers a request for completions. own are the values that this program knows, or nil.
type completer struct {
	app *App
	own Values
}

// answer prints the answer to what a script asks with its arguments. It prints nothing if it cannot find one: a person who types a
// command line must not be disturbed.
func (c *completer) answer(parser *kong.Kong, args []string) {
	defer func() { _ = recover() }()
	asker := c.app.Getenv(completion.Variable)
	if asker == completion.Values {
		if len(args) > 0 && c.own != nil {
			list, _ := c.own(c.app, args[0], args[1:])
			for _, one := range list {
				line, _ := rawjson.Marshal(one) // it has texts alone
				_, _ = c.app.Stdout.Write(append(line, '\n'))
			}
		}
		return
	}
	line, ok := completion.Parse(asker, args)
	if !ok {
		return
	}
	q := question{values: c.values}
	_ = completion.Print(c.app.Stdout, asker, line, q.answer(parser.Model.Node, line), c.app.Getenv("HOME"))
}

// askTime is the longest time that another program has for its values.
const askTime = 2 * time.Second

// values returns the values of a kind: from this program if it knows them, else from the one that does.
func (c *completer) values(kind string, of []string) (list []completion.Candidate) {
	owner := owners[kind]
	if owner == c.app.Name && c.own != nil {
		list, _ = c.own(c.app, kind, of)
		return list
	}
	suite, err := c.app.Suite()
	if err != nil || owner == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.app.Context, askTime)
	defer cancel()
	var out bytes.Buffer
	env := append(process.Environment(c.app.Env, completion.Variable), completion.Variable+"="+completion.Values)
	if _, err := process.Run(ctx, process.Command{
		Path: filepath.Join(suite, owner), Args: append([]string{kind}, of...), Env: env, Stdout: &out,
	}); err != nil {
		return nil
	}
	lines := bufio.NewReader(&out)
	for {
		line, err := lines.ReadBytes('\n')
		var one completion.Candidate
		if json.Unmarshal(line, &one) == nil {
			list = append(list, one)
		}
		if err == io.EOF {
			return list
		}
	}
}
