package main

import (
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/engine/runner"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type cancelCommand struct {
	RunID string `arg:"" name:"run" help:"A run's id, a prefix of it that no other run has, or last."`
}

type cancelled struct {
	RunID  string       `json:"run_id"`
	Status event.Status `json:"status"`
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
	return app.Document(cancelled{id, status}, func(w io.Writer) { _, _ = fmt.Fprintln(w, id, status) })
}
