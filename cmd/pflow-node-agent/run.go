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
	Describe bool `help:"Print the registry entry of the node type: its parameters and outputs."`
}

// Run serves one request, or describes the node type.
func (c *runCommand) Run(app *cli.App) error {
	if c.Describe {
		return nodeprogram.Describe(app.Stdout, nodeType)
	}
	dir, err := os.Getwd()
	if err != nil {
		return fault.New(fault.Execution, "Cannot determine the working directory: %v", fault.Reason(err))
	}
	process.AdoptOrphans() // an agent leaves some, and they count as its own until somebody waits for them
	return app.Reported(nodeprogram.ServeAsking(app.Context, nodeType, nodeprogram.MaxRequest, app.Stdin, app.Stdout, func(ctx context.Context, params nodetype.Agent, answer *nodeprogram.Answer) (*nodetype.AgentOutputs, *nodeprogram.Question, error) {
		return agent.Run(ctx, params, answer, agent.Host{
			Dir: dir, Env: app.Env, Stderr: app.Messages(),
			Progress: func(done, total float64, message string, usage *nodetype.Usage) {
				_ = nodeprogram.ProgressUsing(app.Stdout, done, total, message, usage) // if the reader is gone, writing the outputs fails too
			},
		})
	}))
}
