// Command veloflux-mcp offers a veloFlux Manager to agents: as an MCP server, or one call at a time.
package main

import (
	"math"
	"os"
	"time"

	"github.com/pflow-suite/pflow/pkg/cli"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/veloflux"
)

type grammar struct {
	cli.Common

	Serve serveCommand `cmd:"" default:"withargs" hidden:""`
	Call  callCommand  `cmd:"" help:"Call one tool and print its answer."`
	Tools toolsCommand `cmd:"" help:"List the tools."`
}

const description = "A veloFlux Manager as MCP tools. veloflux-mcp --stdio [--manager-url=URL] [--timeout-secs=SECONDS] serves them to an MCP client."

func main() {
	os.Exit(cli.Main("veloflux-mcp", description, &grammar{},
		cli.System{Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit}))
}

// managerFlags say which Manager is meant.
type managerFlags struct {
	ManagerURL  string  `name:"manager-url" help:"The Manager's URL; a path in it is kept." env:"VELOFLUX_MANAGER_URL" default:"http://127.0.0.1:8080" placeholder:"URL"`
	TimeoutSecs float64 `name:"timeout-secs" help:"How many seconds one request to the Manager may take." env:"VELOFLUX_TIMEOUT_SECS" default:"10" placeholder:"SECONDS"`
}

func (f *managerFlags) runtime() (*veloflux.Runtime, error) {
	if !(f.TimeoutSecs > 0) || f.TimeoutSecs > math.MaxInt32 {
		return nil, fault.New(fault.Usage, "--timeout-secs must be a number of seconds above 0")
	}
	manager, err := veloflux.NewManager(f.ManagerURL, time.Duration(f.TimeoutSecs*float64(time.Second)))
	if err != nil {
		return nil, err
	}
	return veloflux.New(manager), nil
}
