package main

import (
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/cli"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run"
)

type cancelCommand struct {
	RunID string `arg:"" name:"run" help:"A run's id, a beginning of it that no other has, or last."`
}

type cancelled struct {
	RunID  string       `json:"run_id"`
	Status event.Status `json:"status"`
}

// Run stops a run in order and waits until it has stopped. A run that has ended already is told as it is.
func (c *cancelCommand) Run(app *cli.App) error {
	_, rec, err := openRun(app, c.RunID)
	if err != nil {
		return err
	}
	if _, err := rec.Cancel(); err != nil {
		return err
	}
	if err := rec.Follow(app.Context, func([]byte) error { return nil }); err != nil {
		return err
	}
	status, _, err := rec.Status()
	if err != nil {
		return err
	}
	if status == run.Running {
		return fault.New(fault.Conflict, "Run %s has not stopped", rec.ID)
	}
	return app.Document(cancelled{rec.ID, status}, func(w io.Writer) { _, _ = fmt.Fprintln(w, rec.ID, status) })
}
