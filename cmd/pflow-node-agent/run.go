package main

import (
	"context"
	"os"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodes/agent"
	"github.com/pflow-suite/pflow/pkg/nodes/nodeprogram"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

const nodeType = "agent"

type runCommand struct {
	Describe bool `help:"Print the node type's registry entry, and do nothing."`
}

// Run does one request, or tells what can be requested.
func (c *runCommand) Run(app *cli.App) error {
	if c.Describe {
		return nodeprogram.Describe(app.Stdout, nodeType)
	}
	dir, err := os.Getwd()
	if err != nil {
		return fault.New(fault.Execution, "Cannot tell the working directory: %v", fault.Reason(err))
	}
	process.AdoptOrphans() // an agent leaves some, and until they are waited for they count as its own
	return app.Reported(nodeprogram.Serve(app.Context, nodeType, app.Stdin, app.Stdout, func(ctx context.Context, params nodetype.Agent) (*nodetype.AgentOutputs, error) {
		return agent.Run(ctx, params, agent.Host{
			Dir: dir, Env: app.Env, Stderr: app.Stderr,
			Progress: func(done, total float64, message string) {
				_ = nodeprogram.Progress(app.Stdout, done, total, message) // a reader that has gone away is seen by the answer
			},
		})
	}))
}
