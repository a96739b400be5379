package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/veloflux"
)

type toolsCommand struct {
	styleFlags
	offerFlags
}

// Run lists the tools. It does not contact the Manager.
func (c *toolsCommand) Run(app *cli.App) error {
	options := c.options()
	options.ToolNames = veloflux.NameStyle(c.ToolNames)
	tools, err := veloflux.Tools(options)
	if err != nil {
		return err
	}
	return list(app, "tools", tools, func(t veloflux.Tool) []string { return []string{t.Name, usage(t), t.Title} })
}

// usage returns the arguments of a tool as people write them, optional ones in brackets.
func usage(t veloflux.Tool) string {
	schema := gjson.ParseBytes(t.InputSchema)
	required := schema.Get("required").String()
	var words []string
	schema.Get("properties").ForEach(func(key, _ gjson.Result) bool {
		word := key.Str + "="
		if !strings.Contains(required, key.Raw) {
			word = "[" + word + "]"
		}
		words = append(words, word)
		return true
	})
	return strings.Join(words, " ")
}

type resourcesCommand struct{}

// Run lists the resources. It does not contact the Manager.
func (resourcesCommand) Run(app *cli.App) error {
	return list(app, "resources", veloflux.Resources(), func(r veloflux.Resource) []string { return []string{r.URI, r.Title} })
}

// list prints one document with the items under the given name, or a line for each item with --format ndjson.
func list[T any](app *cli.App, name string, items []T, row func(T) []string) error {
	text := func(w io.Writer) {
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, item := range items {
			_, _ = fmt.Fprintln(table, strings.Join(row(item), "\t"))
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
