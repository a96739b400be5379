package main

import (
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/nodes/llm"
	"github.com/pflow-suite/pflow/pkg/nodes/nodeprogram"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type askCommand struct {
	Describe bool `help:"Print the registry entry of the node type: its parameters and outputs."`
}

// Run serves one request, or describes the node type.
func (c *askCommand) Run(app *cli.App) error {
	if c.Describe {
		return nodeprogram.Describe(app.Stdout, "llm")
	}
	asker := &llm.Asker{Getenv: app.Getenv, Node: app.Getenv("PFLOW_NODE_ID"), Progress: func(message string) {
		_ = nodeprogram.Progress(app.Stdout, 0, 0, message) // if the reader is gone, writing the outputs fails too
	}}
	if err := load(app, asker); err != nil {
		return err
	}
	return app.Reported(nodeprogram.Serve(app.Context, "llm", nodeprogram.MaxRequest, app.Stdin, app.Stdout, asker.Ask))
}

// load reads the settings of the home, if it exists.
func load(app *cli.App, asker *llm.Asker) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	s, err := settings.Load(h)
	if err != nil {
		return err
	}
	asker.Settings = *s
	return nil
}
