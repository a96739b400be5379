package main

import (
	"bytes"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type eventsCommand struct {
	RunID  string `arg:"" name:"run" help:"A run's id, a beginning of it that no other has, or last."`
	Follow bool   `help:"Go on until the run ends." short:"f"`
	Inline bool   `help:"Put long values where references to them stand, so that the events stand alone; a line may then be long."`
}

// Run prints a run's events, NDJSON whatever standard output is.
func (c *eventsCommand) Run(app *cli.App) error {
	run, err := openRun(app, c.RunID)
	if err != nil {
		return err
	}
	write := func(line []byte) error {
		if c.Inline {
			whole, err := event.Inline(bytes.TrimSuffix(line, []byte("\n")), run.Blob)
			if err != nil {
				return err
			}
			line = append(whole, '\n')
		}
		_, err := app.Stdout.Write(line)
		return err
	}
	if c.Follow {
		ctx, cancel := app.WhileRead()
		defer cancel()
		_, err := run.Follow(ctx, write)
		return err
	}
	return run.Events(func(_ *event.Event, line []byte) error { return write(line) })
}
