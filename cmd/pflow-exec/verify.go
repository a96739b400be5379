package main

import (
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/engine/runner"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type verifyCommand struct {
	Runs []string `arg:"" optional:"" help:"Runs to check: ids, beginnings of ids, or last; all by default, and the index and the cache." name:"run"`
}

// Help returns the longer text of --help.
func (verifyCommand) Help() string {
	return `Reads journals, and compares each long value with the SHA-256 that names it. It changes nothing. The exit status is 1 if anything is
damaged. A resume runs a node again whose outputs are damaged.`
}

// Run checks what is stored.
func (c *verifyCommand) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	got, err := runner.Verify(app.Context, h, c.Runs)
	if err != nil {
		return err
	}
	err = app.Document(got, func(w io.Writer) {
		for _, d := range got.Defects {
			_, _ = fmt.Fprintf(w, "%s: %s\n", d.File, d.Problem)
		}
		_, _ = fmt.Fprintf(w, "checked %d runs with %d long values, and %d entries of the cache: %d damaged\n", got.Runs, got.Values, got.Cache, len(got.Defects))
	})
	if err == nil && len(got.Defects) > 0 {
		return cli.Status(1)
	}
	return err
}
