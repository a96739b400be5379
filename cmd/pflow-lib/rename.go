package main

import (
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type renameCommand struct {
	Name    string `arg:"" help:"The workflow's name." complete:"workflow"`
	NewName string `arg:"" help:"Its new name, which no workflow may have."`
}

// Help describes what keeps the old name.
func (*renameCommand) Help() string {
	return `Renames the saved workflow of that name, or else the draft. The files of a bundle go with it, and its statistics go on under the new name. Runs
so far keep the old name, and so do shares, settings and other workflows that run it: the command names those workflows.`
}

// renamed is the result.
type renamed struct {
	Success bool   `json:"success"`
	Name    string `json:"name"`
	OldName string `json:"old_name"`
	Saved   bool   `json:"saved"`
	Path    string `json:"path"`
	// UsedBy are the workflows that run it by its old name.
	UsedBy []string `json:"used_by,omitempty"`
}

// Run renames the workflow.
func (c *renameCommand) Run(app *cli.App) error {
	lib, _, err := open(app)
	if err != nil {
		return err
	}
	entry, err := lib.Rename(app.Context, c.Name, c.NewName)
	if err != nil {
		return err
	}
	answer := renamed{Success: true, Name: entry.Name, OldName: c.Name, Saved: entry.Saved, Path: entry.Path}
	for _, user := range lib.UsedBy(c.Name) {
		answer.UsedBy = append(answer.UsedBy, user.Name)
		app.Warn("%s runs the workflow by its old name %q: correct it", user.HomePath(), c.Name)
	}
	return app.Document(answer, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "renamed %s to %s\n", c.Name, entry.Name)
		writeWhere(w, entry)
	})
}
