package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type cancelCommand struct {
	RunID string `arg:"" name:"run" help:"A run's id, a beginning of it that no other has, or last."`
}

// patience is how long a cancel waits for the run's end: longer than any ladder of signals takes.
const patience = 3 * process.DefaultGrace

var errPatience = errors.New("it takes too long")

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
	ctx, enough := context.WithTimeoutCause(app.Context, patience, errPatience)
	defer enough()
	if err := rec.Follow(ctx, func([]byte) error { return nil }); err != nil && !errors.Is(err, errPatience) {
		return err
	}
	status, _, err := rec.Status()
	if err != nil {
		return err
	}
	if status == journal.Running {
		return fault.New(fault.Conflict, "Run %s was told to stop and has not stopped within %s", rec.ID, patience).
			Suggest("pflow-exec status %s tells which nodes still run", rec.ID)
	}
	if status == journal.Interrupted { // its runner was killed
		process.EndMarked(process.DefaultGrace, engine.RunVariable+"="+rec.ID)
	}
	return app.Document(cancelled{rec.ID, status}, func(w io.Writer) { _, _ = fmt.Fprintln(w, rec.ID, status) })
}
