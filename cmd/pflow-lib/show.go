package main

import (
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

type showCommand struct {
	Name string `arg:"" help:"The workflow's name." complete:"workflow"`
	Raw  bool   `help:"On a terminal, print the control characters of the file too. They can change what the terminal shows."`
	As   string `help:"Print the file as it is, or the workflow as JSON or Markdown." enum:"file,json,markdown" default:"file" placeholder:"file|json|markdown"`
}

// Run prints the file, byte for byte, or the workflow in the other form.
func (c *showCommand) Run(app *cli.App) error {
	if c.Raw {
		app.Stdout.Raw()
	}
	_, entry, err := find(app, c.Name)
	if err != nil {
		return err
	}
	var text []byte
	if c.As == "file" {
		text, err = entry.Source()
	} else {
		text, err = c.converted(entry.Load)
	}
	if err != nil {
		return err
	}
	_, err = app.Stdout.Write(text)
	return err
}

// converted returns the workflow in the requested form.
func (c *showCommand) converted(load func() (*workflow.File, error)) ([]byte, error) {
	file, err := load()
	switch {
	case err != nil:
		return nil, err
	case c.As == "json":
		return file.JSON(), nil
	case file.Markdown:
		return file.Source, nil
	}
	return workflow.Markdown(file.Workflow, c.Name)
}
