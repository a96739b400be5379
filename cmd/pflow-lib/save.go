package main

import (
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type saveCommand struct {
	Draft       string `arg:"" help:"The draft's name."`
	Name        string `arg:"" help:"The name in the library."`
	Description string `help:"What the workflow is for. Default: the draft's description."`
	Force       bool   `help:"Replace a saved workflow of that name."`
}

// saved is the result.
type saved struct {
	Success bool   `json:"success"`
	Name    string `json:"name"`
	Path    string `json:"path"`
	// Files are the files of a bundle, and NotBundled is what it lacks.
	Files      []string       `json:"files,omitempty"`
	NotBundled []*fault.Fault `json:"not_bundled,omitempty"`
}

// Run checks the draft and moves it.
func (c *saveCommand) Run(app *cli.App) error {
	lib, types, err := open(app)
	if err != nil {
		return err
	}
	if err := home.CheckName("workflow", c.Name); err != nil {
		return err
	}
	draft, err := lib.Draft(c.Draft)
	if err != nil {
		return err
	}
	file, err := draft.Load()
	if err != nil {
		return err
	}
	report := checked(lib, types, file, nil)
	if f := report.Fault(file.Name); f != nil {
		return refuse(app, f)
	}
	for _, warning := range report.Warnings {
		app.Warn("%s%s", warning.Where(), warning.Message)
	}
	entry, err := lib.Save(app.Context, c.Draft, c.Name, c.Description, c.Force)
	if err != nil {
		return err
	}
	for _, left := range entry.NotBundled {
		app.Warn("%s%s", left.Where(), left.Message)
	}
	return app.Document(saved{true, entry.Name, entry.Path, entry.Files, entry.NotBundled}, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "saved %s\n", entry.Name)
		for _, file := range entry.Files {
			_, _ = fmt.Fprintf(w, "  with %s\n", file)
		}
	})
}
