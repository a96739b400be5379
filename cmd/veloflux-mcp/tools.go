package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/pflow-suite/pflow/pkg/cli"
	"github.com/pflow-suite/pflow/pkg/veloflux"
)

type toolsCommand struct{}

// Run lists the tools. It asks no Manager.
func (toolsCommand) Run(app *cli.App) error {
	tools := veloflux.Tools()
	return cli.List(app, tools, func(w io.Writer) {
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, t := range tools {
			_, _ = fmt.Fprintf(table, "%s\t%s\n", t.Name, t.Title)
		}
		_ = table.Flush()
	})
}
