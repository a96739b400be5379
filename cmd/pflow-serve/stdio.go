package main

import (
	"fmt"
	"os"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/stdio"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

const instructions = `pflow keeps tasks as workflows: JSON or Markdown files that run the same way every time.
1. browse_components finds node types with their parameters and outputs; list_library and describe_workflow find what exists already.
2. Write a draft to %s/NAME.json: {"inputs":{…},"nodes":[{"id","type","params"}],"edges":[{"from","to"}],"outputs":{"NAME":{"source":"${node.key}"}}}. ${node.key} in a parameter is another node's output. A node can also have "batch", "loop", "retry", "timeout", "approval" and "cache". In a shell, pflow-lib guide prints the language on one page, and pflow-lib check finds every fault of a draft.
3. execute runs it. When a node fails, correct the draft and execute it again with resume set to checkpoint.run_id: finished nodes do not run again.
4. save_to_library keeps it.`

type stdioCommand struct{}

// Run serves until the client closes standard input or the process receives a signal.
func (c *stdioCommand) Run(app *cli.App) error {
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
	f := &suitetools.Front{Suite: &suitetools.Suite{Dir: suite, Env: app.Env, Version: cli.Version, Log: app.Log}}
	server, err := mcpserver.New(mcpserver.Config{
		Name: "pflow", Title: "pflow", Version: cli.Version, Instructions: fmt.Sprintf(instructions, drafts),
		Tools: f.Tools(), Resources: f.Resources(), Read: f.Read, Log: app.Log,
	})
	if err != nil {
		return err
	}
	out := app.Stdout.File()
	os.Stdout = os.Stderr // what a library prints must not get between the messages
	return server.Serve(ctx, &stdio.Transport{In: app.Stdin, Out: out, Log: app.Log})
}
