package main

import (
	"errors"

	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type waitCommand struct {
	RunID   string `arg:"" name:"run" help:"A run's id, a prefix of it that no other run has, or last."`
	Timeout string `help:"Stop waiting after this time, with exit status 124; the run goes on." placeholder:"DURATION"`
	answerFlags
}

// Run waits for the end of a run and answers as run --format json does.
func (c *waitCommand) Run(app *cli.App) error {
	limit, err := cli.Duration(c.Timeout)
	if err != nil {
		return err
	}
	run, err := openRun(app, c.RunID)
	if err != nil {
		return err
	}
	show := newPresenter(app, c.answerFlags)
	show.stream, show.progress.active = false, false
	return follow(app, run, show, limit)
}

// errWaited is the cause of a context that limits how long a run is followed.
var errWaited = errors.New("waited long enough")

// openRun finds the run that a command line names.
func openRun(app *cli.App, ref string) (*reader.Run, error) {
	h, err := app.Home()
	if err != nil {
		return nil, err
	}
	return reader.Open(h).Find(ref)
}
