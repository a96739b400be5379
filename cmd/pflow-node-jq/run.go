package main

import (
	"context"

	"github.com/pflow-suite/pflow/pkg/nodes/jq"
	"github.com/pflow-suite/pflow/pkg/nodes/nodeprogram"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

const nodeType = "jq"

// maxRequest is the most bytes of a request. A filter may read what a node put out, which is more than other programs read.
const maxRequest = 128 << 20

type runCommand struct {
	Describe bool `help:"Print the registry entry of the node type: its parameters and outputs."`
}

// Run serves one request, or describes the node type.
func (c *runCommand) Run(app *cli.App) error {
	if c.Describe {
		return nodeprogram.Describe(app.Stdout, nodeType)
	}
	return app.Reported(nodeprogram.Serve(app.Context, nodeType, maxRequest, app.Stdin, app.Stdout, func(ctx context.Context, in nodetype.JQ) (*nodetype.JQOutputs, error) {
		return jq.Run(ctx, in, app.Messages())
	}))
}
