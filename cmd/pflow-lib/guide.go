package main

import (
	_ "embed"

	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

//go:embed guide.md
var guide []byte

type guideCommand struct{}

// Run prints the guide.
func (guideCommand) Run(app *cli.App) error {
	_, err := app.Stdout.Write(guide)
	return err
}
