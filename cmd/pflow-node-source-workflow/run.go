package main

import (
	"context"
	"errors"
	"slices"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/source"
	"github.com/pflow-suite/pflow/pkg/nodes/nodeprogram"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type runCommand struct {
	Describe bool `help:"Print the registry entry of the node type: its parameters and outputs."`
}

// attempt is a variable by which a runner finds the processes of a node. With another value in the commands of the source, the
// runner leaves it to this program to end them: the command cancel begins only then.
const attempt = "PFLOW_ATTEMPT=source"

// Run serves one request, or describes the node type.
func (c *runCommand) Run(app *cli.App) error {
	if c.Describe {
		return nodeprogram.Describe(app.Stdout, nodetype.SourceWorkflowName)
	}
	h, err := app.Home()
	if err != nil {
		return err
	}
	suite, err := app.Suite()
	if err != nil {
		return err
	}
	serve := func(ctx context.Context, in nodetype.SourceWorkflow) (*nodetype.SourceWorkflowOutputs, error) {
		s, err := source.Find(h, in.Source)
		if err != nil {
			return nil, err
		}
		result, execution, err := s.Execute(ctx, source.Host{
			Dir: h.Dir(), Env: process.Environment(append(slices.Clip(app.Env), attempt)), Suite: suite, Stderr: app.Messages(),
			Progress: func(done, total float64, message string) {
				_ = nodeprogram.Progress(app.Stdout, done, total, message) // if the reader is gone, writing the outputs fails too
			},
		}, in.ID, in.Arguments)
		if f, ok := errors.AsType[*fault.Fault](err); ok && len(f.Suggestions) == 0 {
			f.Suggest("Correct the inputs, or look for the reason in the source %s, which runs the workflow", in.Source)
		}
		return &nodetype.SourceWorkflowOutputs{Result: result, ExecutionID: execution}, err
	}
	return app.Reported(nodeprogram.Serve(app.Context, nodetype.SourceWorkflowName, nodeprogram.MaxRequest, app.Stdin, app.Stdout, serve))
}
