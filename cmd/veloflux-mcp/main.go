// Command veloflux-mcp offers a veloFlux Manager to agents and to shells: as an MCP server, or one call or read at a time.
package main

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"

	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/veloflux"
)

type grammar struct {
	cli.Common

	Serve     serveCommand     `cmd:"" default:"withargs" fixed:"" help:"Serve an MCP client, with --stdio. The word serve may be left out." example:"veloflux-mcp --stdio --manager-url http://localhost:8080"`
	Call      callCommand      `cmd:"" help:"Call one tool and print its answer." example:"veloflux-mcp call streams.list --manager-url http://localhost:8080"`
	Read      readCommand      `cmd:"" help:"Read one resource and print it." example:"veloflux-mcp read veloflux://capabilities --manager-url http://localhost:8080"`
	Tools     toolsCommand     `cmd:"" help:"List the tools." example:"veloflux-mcp tools"`
	Resources resourcesCommand `cmd:"" help:"List the resources." example:"veloflux-mcp resources"`
}

const description = "A veloFlux Manager as MCP tools and resources. veloflux-mcp --stdio [--manager-url=URL] serves them to an MCP client; " +
	"call and read use them from a shell. Each flag can also be set by an environment variable."

// variables begins the names of the environment variables that set flags.
const variables = "VELOFLUX_"

// running is the runtime of the command, or nil.
var running atomic.Pointer[veloflux.Runtime]

// exit ends the process for a second signal. It names the temporary pipelines that nothing deletes then.
func exit(status int) {
	if r := running.Load(); r != nil {
		if left := r.Temporary(); len(left) > 0 {
			fmt.Fprintf(os.Stderr, "veloflux-mcp: these temporary pipelines may be left behind; the next start of a server deletes them: %s\n", strings.Join(left, ", "))
		}
	}
	os.Exit(status)
}

func main() {
	for _, entry := range os.Environ() { // clients pass "${X:-}" on, so an empty variable counts as unset
		if name, value, _ := strings.Cut(entry, "="); value == "" && strings.HasPrefix(name, variables) {
			_ = os.Unsetenv(name)
		}
	}
	os.Exit(cli.Main("veloflux-mcp", description, &grammar{}, cli.System{
		Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: exit, Variables: variables,
	}))
}
