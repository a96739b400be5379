package main

import (
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type removeCommand struct {
	Name string `arg:"" help:"The workflow's name." complete:"workflow"`
}

// removed is the result. Saved is false for a draft.
type removed struct {
	Success bool   `json:"success"`
	Name    string `json:"name"`
	Saved   bool   `json:"saved"`
}

// Run deletes the workflow.
func (c *removeCommand) Run(app *cli.App) error {
	lib, _, err := open(app)
	if err != nil {
		return err
	}
	entry, err := lib.Remove(app.Context, c.Name)
	if err != nil {
		return err
	}
	return app.Document(removed{true, entry.Name, entry.Saved}, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "removed %s\n", entry.Name)
	})
}
