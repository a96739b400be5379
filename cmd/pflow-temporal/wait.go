package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/run/cluster"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type waitCommand struct{ runArgument }

// Run waits until a run has ended or waits for a person, and prints its answer.
func (c *waitCommand) Run(app *cli.App) error {
	to, err := c.connect(app.Context, app)
	if err != nil {
		return err
	}
	defer to.Close()
	s, err := to.Await(app.Context, c.RunID, nil)
	if err != nil {
		return err
	}
	return end(app, s)
}

// end prints the answer of a run that has ended or has paused, and returns its exit status.
func end(app *cli.App, s *cluster.State) error {
	a := &reader.Answer{Success: s.Status.Succeeded(), RunID: s.ID, Status: s.Status, Error: s.Fault, Outputs: json.RawMessage("{}")}
	last, err := lastOf(s)
	if err != nil {
		return err
	}
	if last != nil {
		if a.Warnings, a.Usage = last.Warnings, last.Usage; last.Outputs != nil {
			a.Outputs = last.Outputs
		}
		if !a.Success {
			a.Checkpoint = last.Checkpoint
		}
		if a.Error == nil {
			a.Error = last.Error
		}
	}
	if err := app.Document(a, func(w io.Writer) { _, _ = fmt.Fprintf(w, "%s: %s\n", a.RunID, a.Status) }); err != nil {
		return err
	}
	if a.Error != nil {
		app.Complain(a.Error)
	}
	if status := s.Status.ExitStatus(); status != 0 {
		return cli.Status(status)
	}
	return nil
}

// lastOf returns the last event of a run's events, with its long values, or nil if that is missing.
func lastOf(s *cluster.State) (last *event.Event, err error) {
	err = s.Each(func(line []byte, load event.Load) error {
		last = nil
		if kind := event.Kind(gjson.GetBytes(line, "event").Str); kind != event.RunFinished && kind != event.RunRefused {
			return nil
		}
		var e event.Event
		err := json.Unmarshal(line, &e)
		if err == nil {
			e.Outputs, err = event.Inline(e.Outputs, load)
		}
		last = &e
		return err
	})
	return last, err
}
