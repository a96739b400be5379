package main

import (
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/catalog/dependencies"
	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/catalog/page"
	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type saveCommand struct {
	Draft       string `arg:"" help:"The draft's name." complete:"draft"`
	Name        string `arg:"" help:"The name in the library."`
	Description string `help:"What the workflow is for. Default: the draft's description."`
	Force       bool   `help:"Replace a saved workflow of that name."`
}

// saved is the result.
type saved struct {
	Success bool   `json:"success"`
	Name    string `json:"name"`
	Path    string `json:"path"`
	// Files are the files of a bundle, and NotBundled is what it does not have. FilesTotal is there if Files are not all.
	Files      []string       `json:"files,omitempty"`
	FilesTotal int            `json:"files_total,omitempty"`
	NotBundled []*fault.Fault `json:"not_bundled,omitempty"`
	// Dependencies is nil for a workflow that was not saved but made.
	Dependencies *needs `json:"dependencies,omitempty"`
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
	h, s, err := loadSettings(app)
	if err != nil {
		return err
	}
	answer := saved{Success: true, Dependencies: &needs{}}
	answer.Dependencies.List = dependencies.Home{Library: lib, Types: registry.Open(h), Settings: s, Getenv: app.Getenv}.Of(file)
	entry, err := lib.Save(app.Context, c.Draft, c.Name, c.Description, c.Force)
	if err != nil {
		return err
	}
	for _, left := range entry.NotBundled {
		app.Warn("%s%s", left.Where(), left.Message)
	}
	answer.Name, answer.Path, answer.Files, answer.NotBundled = entry.Name, entry.Path, entry.Files, entry.NotBundled
	answer.limit(app.MaxBytes)
	return app.Document(answer, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "saved %s as %s\n", c.Draft, entry.Name)
		for _, file := range entry.Files {
			_, _ = fmt.Fprintf(w, "  with %s\n", file)
		}
		writeWhere(w, entry.Entry)
	})
}

// writeWhere writes for people where a workflow is, and how it is run.
func writeWhere(w io.Writer, entry *library.Entry) {
	_, _ = fmt.Fprintf(w, "file: %s\nrun it with: pflow-exec run %s\n", entry.Path, entry.Name)
}

// limit cuts the lists of the answer so that it has at most the given number of bytes, unless that is 0.
func (s *saved) limit(most int) {
	if most == 0 || page.Size(s) <= most {
		return
	}
	for i, f := range s.NotBundled {
		s.NotBundled[i] = briefly(f, maxBrief)
	}
	var total int
	parts := append(s.Dependencies.parts(), listPart(&s.Files, &s.FilesTotal), listPart(&s.NotBundled, &total))
	room := most - page.Size(s)
	for _, p := range parts {
		for _, size := range p.sizes {
			room += size
		}
		room -= len(`,"node_types_total":1000000`)
	}
	cutParts(parts, room, 0)
}
