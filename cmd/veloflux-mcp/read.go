package main

import (
	"encoding/json"

	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/veloflux"
)

type readCommand struct {
	flags
	URI string `arg:"" help:"The resource, as veloflux-mcp resources lists it, such as veloFlux://streams/schema?name=clicks."`
}

// Run reads the resource.
func (c *readCommand) Run(app *cli.App) error {
	runtime, release, err := c.runtime(app, veloflux.Options{})
	if err != nil {
		return err
	}
	defer release()
	content, err := runtime.ReadResource(app.Context, c.URI)
	var document json.RawMessage
	if err == nil {
		document = content.Document
	}
	return printAnswer(app, document, err)
}
