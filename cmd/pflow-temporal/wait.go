package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
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
	a.Error = ofCluster(s, a.Error)
	a.ResumeBy(resumption(s))
	if err := app.Document(a, func(w io.Writer) { _, _ = fmt.Fprintf(w, "%s: %s\n", a.RunID, a.Status) }); err != nil {
		return err
	}
	if f := a.Error; f != nil {
		if step := resumption(s); step != nil {
			f.Then(*step)
		}
		app.Complain(f)
	}
	if status := s.Status.ExitStatus(); status != 0 {
		return cli.Status(status)
	}
	return nil
}

// resumption returns the step that goes on from a run, or nil if it waits for a person or has succeeded.
func resumption(s *cluster.State) *fault.Step {
	if s.Live() || s.Status.Succeeded() || s.Status == event.Paused {
		return nil
	}
	return &fault.Step{Do: fault.DoResume, Run: s.ID}
}

// ofCluster returns the fault of a run with steps of the run on the cluster: those in its events are of the execution on a worker.
func ofCluster(s *cluster.State, f *fault.Fault) *fault.Fault {
	if f == nil {
		return nil
	}
	c := *f
	c.SuggestAs(f)
	for i := range c.Next {
		if c.Next[i].Run != "" {
			c.Next[i].Run = s.ID
		}
	}
	return &c
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
