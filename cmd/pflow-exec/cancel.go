package main

import (
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/engine/runner"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type cancelCommand struct {
	RunID string `arg:"" name:"run" help:"A run's id, a prefix of it that no other run has, or last." complete:"run"`
}

type cancelled struct {
	RunID  string       `json:"run_id"`
	Status event.Status `json:"status"`
	// Resume is the command that goes on from a cancelled run.
	Resume string `json:"resume,omitempty"`
	// Beyond is what a cancelled run may have left behind where the suite cannot reach it.
	Beyond string `json:"beyond,omitempty"`
}

// Run cancels a run, waits until it has stopped, and prints its status.
func (c *cancelCommand) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	id, status, err := runner.Cancel(app.Context, h, c.RunID)
	if err != nil {
		return err
	}
	answer := cancelled{RunID: id, Status: status}
	if status == event.Cancelled {
		answer.Beyond = runner.Uncancellable(h, id)
		answer.Resume = resumption(app, h, id)
	}
	return app.Document(answer, func(w io.Writer) {
		_, _ = fmt.Fprintln(w, id, status)
		if answer.Resume != "" {
			_, _ = fmt.Fprintf(w, "go on with: %s\n", answer.Resume)
		}
		if answer.Beyond != "" {
			_, _ = fmt.Fprintln(w, answer.Beyond)
		}
	})
}

// resumption returns how the reader of the program goes on from a run, or "" if that is not known.
func resumption(app *cli.App, h *home.Home, id string) string {
	run, err := reader.Open(h).Find(id)
	if err != nil {
		return ""
	}
	o, err := run.Overview(false)
	if err != nil {
		return ""
	}
	o.Address(app.Reader)
	return o.Resume
}
