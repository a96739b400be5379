package main

import (
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/engine/runner"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type cancelCommand struct {
	RunID string `arg:"" name:"run" help:"A run's id, a beginning of it that no other has, or last."`
}

type cancelled struct {
	RunID  string       `json:"run_id"`
	Status event.Status `json:"status"`
}

// Run stops a run in order and waits until it has stopped.
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
