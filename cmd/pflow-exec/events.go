package main

import (
	"bytes"
	"errors"
	"io"

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
	_, rec, err := openRun(app, c.RunID)
	if err != nil {
		return err
	}
	write := func(line []byte) error {
		if c.Inline {
			whole, err := event.Inline(bytes.TrimSuffix(line, []byte("\n")), rec.Blob)
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
		return rec.Follow(ctx, write)
	}
	journal, err := rec.Open()
	if err != nil {
		return err
	}
	defer func() { _ = journal.Close() }()
	events := event.NewReader(journal)
	for {
		_, line, err := events.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := write(line); err != nil {
			return err
		}
	}
}
