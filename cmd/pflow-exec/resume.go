package main

import (
	"github.com/pflow-suite/pflow/pkg/engine/runner"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type resumeCommand struct {
	RunID  string   `arg:"" name:"run" help:"A run's id, a beginning of it that no other has, or last."`
	Values []string `arg:"" optional:"" name:"key=value" help:"Inputs that replace those of the run."`
	Inputs string   `help:"Read inputs from a file with one JSON object, or - for standard input." placeholder:"FILE"`
	answerFlags
	settingsFlags
}

// Run goes on from a run with the workflow that it ran. One that is live is followed, one that has succeeded is
// answered again unless other inputs are given.
func (c *resumeCommand) Run(app *cli.App) error {
	show := newPresenter(app, c.answerFlags)
	host, err := newHost(app)
	if err != nil {
		return refuse(app, err, show.stream)
	}
	r, err := c.load(app, host)
	if err != nil {
		return refuse(app, err, show.stream)
	}
	return runHere(app, host, r, show)
}

func (c *resumeCommand) load(app *cli.App, host *runner.Host) (*runner.Request, error) {
	o, err := c.options()
	if err != nil {
		return nil, err
	}
	in, err := inputs(app, c.Inputs, c.Values)
	if err != nil {
		return nil, err
	}
	return runner.LoadRun(host, c.RunID, in, o)
}
