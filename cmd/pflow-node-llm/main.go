// Command pflow-node-llm is the node type llm: it asks a language model.
package main

import (
	"os"

	"github.com/pflow-suite/pflow/pkg/cli"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/llm"
	"github.com/pflow-suite/pflow/pkg/nodeprogram"
	"github.com/pflow-suite/pflow/pkg/settings"
)

type grammar struct {
	cli.Common

	Ask askCommand `cmd:"" default:"withargs" hidden:""`
}

const description = `The node type llm: asks a language model. It reads {"v":1,"params":{…}} on standard input, as pflow-exec gives it, and prints the outputs as one JSON object. pflow-node-llm --describe tells the parameters.`

func main() {
	os.Exit(cli.Main("pflow-node-llm", description, &grammar{},
		cli.System{Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit}))
}

type askCommand struct {
	Describe bool `help:"Print the registry entry of the node type: its parameters and outputs."`
}

// Run answers one request, or describes what can be requested.
func (c *askCommand) Run(app *cli.App) error {
	if c.Describe {
		return nodeprogram.Describe(app.Stdout, "llm")
	}
	asker := &llm.Asker{Getenv: app.Getenv, Node: app.Getenv("PFLOW_NODE_ID"), Progress: func(message string) {
		_ = nodeprogram.Progress(app.Stdout, 0, 0, message) // the outputs that follow fail as well
	}}
	if err := load(app, asker); err != nil {
		return err
	}
	err := nodeprogram.Serve(app.Context, "llm", app.Stdin, app.Stdout, asker.Ask)
	if err == nil || app.Context.Err() != nil {
		return err
	}
	f := fault.From(err) // standard output has it already
	app.Complain(f)
	return cli.Status(f.ExitStatus())
}

// load reads the settings of the home, where there is one.
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
