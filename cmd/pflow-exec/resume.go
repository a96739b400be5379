package main

import (
	"github.com/pflow-suite/pflow/pkg/engine/runner"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type resumeCommand struct {
	RunID       string   `arg:"" name:"run" help:"A run's id, a prefix of it that no other run has, or last." complete:"run"`
	Values      []string `arg:"" optional:"" name:"key=value" help:"Inputs that replace those of the run." complete:"run-input"`
	Inputs      string   `help:"Read inputs from a file that holds one JSON object, or - for standard input." placeholder:"FILE"`
	RetryFailed bool     `help:"Run the failed items and the handled failures of the run again, and the nodes that they lead to. All else stays."`
	answerFlags
	settingsFlags
}

// Run goes on from a run with its workflow as it is now. It follows a live run, and answers again for one that has
// succeeded unless other inputs are given.
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
	o, err := c.options(app)
	if err != nil {
		return nil, err
	}
	o.RetryFailed = c.RetryFailed
	in, err := inputs(app, c.Inputs, c.Values)
	if err != nil {
		return nil, err
	}
	return runner.LoadRun(host, c.RunID, in, o)
}
