package main

import (
	"errors"
	"fmt"

	"github.com/mattn/go-isatty"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/run/progress"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// degradedStatus returns the exit status of a degraded run: 1 if the command line, the workflow or the settings say so, in this
// order, else 0.
func (s *presenter) degradedStatus(run *reader.Run) (cli.Status, error) {
	fails := s.FailDegraded
	if fails == nil {
		err := run.Events(func(e *event.Event, _ []byte) error {
			if e.Workflow != nil {
				for _, path := range []string{"runtime.fail_degraded", "ir.runtime.fail_degraded"} {
					if v := gjson.GetBytes(e.Workflow.Definition, path); v.IsBool() {
						fails = new(v.Bool())
					}
				}
			}
			return errFirstEvent
		})
		if err != nil && !errors.Is(err, errFirstEvent) {
			return 1, err
		}
	}
	if fails == nil {
		h, err := s.app.Home()
		if err != nil {
			return 1, err
		}
		set, err := settings.Load(h)
		if err != nil {
			return 1, err
		}
		fails = &set.FailDegraded
	}
	if *fails {
		return 1, nil
	}
	return 0, nil
}

// errFirstEvent ends the reading of a run's events after the first one.
var errFirstEvent = errors.New("only the first event")

// sayDegraded writes the last line about a degraded run for people: why it is degraded.
func (s *presenter) sayDegraded(last *event.Event) {
	text := progress.Degraded(last)
	forPeople := isatty.IsTerminal(s.app.Stderr.Fd()) || !s.app.JSON()
	if text == "" || s.app.Quiet || !forPeople || s.stream && s.app.Stdout.Terminal() {
		return
	}
	_, _ = fmt.Fprintln(s.app.Messages(), text)
}
