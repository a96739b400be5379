package main

import (
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/workflow/schema"
)

type schemaCommand struct{}

// Run prints the JSON Schema of workflow files.
func (schemaCommand) Run(app *cli.App) error {
	_, err := app.Stdout.Write(schema.JSON())
	return err
}
