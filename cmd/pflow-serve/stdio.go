package main

import (
	"os"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/stdio"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type stdioCommand struct {
	Toolsets string `help:"The toolsets to serve, separated by commas: core (the five tools for workflows, the default), drafts (writing drafts without files), servers (MCP servers) and veloflux (a veloFlux Manager)." env:"PFLOW_TOOLSETS" placeholder:"TOOLSET,…"`
}

// Run serves until the client closes standard input or the process receives a signal.
func (c *stdioCommand) Run(app *cli.App) error {
	toolsets, err := suitetools.ParseToolsets(c.Toolsets)
	if err != nil {
		return err
	}
	h, err := app.Home()
	if err != nil {
		return err
	}
	drafts, err := h.Make("workflows")
	if err != nil { // a home that cannot be written can still be read
		drafts = h.Path("workflows")
		app.Log.Warn("the folder for drafts cannot be created", "error", err)
	}
	suite, err := app.Suite()
	if err != nil {
		return err
	}
	ctx, cancel := app.WhileRead() // a client that reads no answers is gone
	defer cancel()
	f := &suitetools.Front{
		Suite:    &suitetools.Suite{Dir: suite, Env: app.Env, Home: h, Version: cli.Version, Log: app.Log},
		Toolsets: toolsets,
	}
	server, err := mcpserver.New(mcpserver.Config{
		Name: "pflow", Title: "pflow", Version: cli.Version, Instructions: f.Instructions(drafts),
		Tools: f.Tools(), Unknown: f.Unknown, Resources: f.Resources(), Read: f.Read, Prompts: f.Prompts(drafts), Log: app.Log,
	})
	if err != nil {
		return err
	}
	out := app.Stdout.File()
	os.Stdout = os.Stderr // what a library prints must not get between the messages
	return server.Serve(ctx, &stdio.Transport{In: app.Stdin, Out: out, Log: app.Log})
}
