package main

import (
	"os"
	"time"

	"github.com/pflow-suite/pflow/pkg/mcp/stdio"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type stdioCommand struct {
	toolFlags
}

// Run serves until the client closes standard input or the process receives a signal.
func (c *stdioCommand) Run(app *cli.App) error {
	made, toolsets, err := c.fronts(app, suitetools.DefaultToolset)
	if err != nil {
		return err
	}
	defer made.suite.Close()
	ctx, cancel := app.WhileRead() // a client that reads no answers is gone
	defer cancel()
	server, err := made.server(ctx, toolsets, nil, cli.Hangups(app))
	if err != nil {
		return err
	}
	out := app.Stdout.File()
	os.Stdout = os.Stderr       // what a library prints must not get between the messages
	app.EndsWithin(time.Minute) // calls end in order
	return server.Serve(ctx, &stdio.Transport{In: app.Stdin, Out: out, Log: app.Log})
}
