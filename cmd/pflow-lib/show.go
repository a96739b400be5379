package main

import "github.com/pflow-suite/pflow/pkg/cli"

type showCommand struct {
	Name string `arg:"" help:"The workflow's name."`
}

// Run prints the file, byte for byte.
func (c *showCommand) Run(app *cli.App) error {
	_, entry, err := find(app, c.Name)
	if err != nil {
		return err
	}
	source, err := entry.Source()
	if err != nil {
		return err
	}
	_, err = app.Stdout.Write(source)
	return err
}
