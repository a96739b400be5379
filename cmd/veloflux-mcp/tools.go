package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/pflow-suite/pflow/pkg/cli"
	"github.com/pflow-suite/pflow/pkg/veloflux"
)

type toolsCommand struct{ offerFlags }

// Run lists the tools. It asks no Manager.
func (c *toolsCommand) Run(app *cli.App) error {
	tools, err := veloflux.Tools(veloflux.Options{
		ToolNames: veloflux.NameStyle(c.ToolNames), ReadOnly: c.ReadOnly, Tools: c.Tools, ExcludeTools: c.ExcludeTools,
	})
	if err != nil {
		return err
	}
	return list(app, "tools", tools, func(t veloflux.Tool) (name, title string) { return t.Name, t.Title })
}

type resourcesCommand struct{}

// Run lists the resources. It asks no Manager.
func (resourcesCommand) Run(app *cli.App) error {
	return list(app, "resources", veloflux.Resources(), func(r veloflux.Resource) (name, title string) { return r.URI, r.Title })
}

// list prints one document with the items under their name, or a line for each with --format ndjson.
func list[T any](app *cli.App, name string, items []T, row func(T) (name, title string)) error {
	text := func(w io.Writer) {
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, item := range items {
			name, title := row(item)
			_, _ = fmt.Fprintf(table, "%s\t%s\n", name, title)
		}
		_ = table.Flush()
	}
	if app.Format() == "ndjson" {
		return cli.List(app, items, text)
	}
	if items == nil {
		items = []T{}
	}
	return app.Document(map[string][]T{name: items}, text)
}
