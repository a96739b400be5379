// Command veloflux-mcp offers a veloFlux Manager to agents and to shells: as an MCP server, or one call or read at a time.
package main

import (
	"os"
	"strings"

	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type grammar struct {
	cli.Common

	Serve     serveCommand     `cmd:"" default:"withargs" help:"Serve an MCP client, with --stdio. The word serve may be left out."`
	Call      callCommand      `cmd:"" help:"Call one tool and print its answer."`
	Read      readCommand      `cmd:"" help:"Read one resource and print it."`
	Tools     toolsCommand     `cmd:"" help:"List the tools."`
	Resources resourcesCommand `cmd:"" help:"List the resources."`
}

const description = "A veloFlux Manager as MCP tools and resources. veloflux-mcp --stdio [--manager-url=URL] serves them to an MCP client; " +
	"call and read use them from a shell. Each flag can also be set by an environment variable."

// variables begins the names of the environment variables that set flags.
const variables = "VELOFLUX_"

func main() {
	for _, entry := range os.Environ() { // clients pass "${X:-}" on, so an empty variable counts as unset
		if name, value, _ := strings.Cut(entry, "="); value == "" && strings.HasPrefix(name, variables) {
			_ = os.Unsetenv(name)
		}
	}
	os.Exit(cli.Main("veloflux-mcp", description, &grammar{}, cli.System{
		Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit, Variables: variables,
	}))
}
