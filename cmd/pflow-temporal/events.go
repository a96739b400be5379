package main

import (
	"bytes"
	"io"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/cluster"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type eventsCommand struct {
	runArgument
	Follow bool `help:"Go on until the run ends or waits for a person." short:"f"`
}

// Help returns the longer text of --help.
func (eventsCommand) Help() string {
	return `The events are a checkpoint for any machine: long values are in them.

  pflow-temporal events RUN | pflow-exec run disk.json --resume -      # goes on here from what has finished there`
}

// Run prints the events of a run.
func (c *eventsCommand) Run(app *cli.App) error {
	ctx, cancel := app.WhileRead()
	defer cancel()
	to, err := c.connect(ctx, app)
	if err != nil {
		return err
	}
	defer to.Close()
	if !c.Follow {
		s, err := to.State(ctx, c.RunID)
		if err != nil {
			return err
		}
		_, err = printEvents(app, s, nil)
		return err
	}
	var printed printed
	_, err = to.Await(ctx, c.RunID, func(s *cluster.State) error {
		var err error
		printed, err = printEvents(app, s, printed)
		return err
	})
	return err
}

// printed is what has been printed of a run.
type printed []byte

// printEvents prints the events of a run after those that were printed. If the run went on elsewhere since, it prints all.
func printEvents(app *cli.App, s *cluster.State, before printed) (printed, error) {
	r, err := s.Events()
	if err != nil {
		return before, err
	}
	defer func() { _ = r.Close() }()
	b, err := io.ReadAll(r)
	if err != nil {
		return before, fault.From(err)
	}
	at := 0
	if bytes.HasPrefix(b, before) {
		at = len(before)
	}
	_, err = app.Stdout.Write(b[at:])
	return b, err
}
