package main

import (
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type pathCommand struct {
	Name string `arg:"" help:"The workflow's name." complete:"workflow"`
}

// located is where a workflow is.
type located struct {
	Name  string   `json:"name"`
	Saved bool     `json:"saved"`
	Path  string   `json:"path"`
	Files []string `json:"files,omitempty"`
}

// Run prints the path of the workflow's file.
func (c *pathCommand) Run(app *cli.App) error {
	_, entry, err := find(app, c.Name)
	if err != nil {
		return err
	}
	files, err := entry.Files()
	if err != nil {
		return err
	}
	return app.Document(located{entry.Name, entry.Saved, entry.Path, files}, func(w io.Writer) {
		_, _ = fmt.Fprintln(w, entry.Path)
	})
}
