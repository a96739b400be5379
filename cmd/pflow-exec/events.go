package main

import (
	"bytes"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type eventsCommand struct {
	RunID  string `arg:"" name:"run" help:"A run's id, a prefix of it that no other run has, or last."`
	Follow bool   `help:"Go on until the run ends." short:"f"`
	Inline bool   `help:"Replace references to long values by the values, so that the events are complete; lines may get long."`
}

// Run prints a run's events as NDJSON, whatever the format is.
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
