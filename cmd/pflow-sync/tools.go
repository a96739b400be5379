package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type toolsCommand struct {
	Name string `arg:"" optional:"" help:"The server; all by default."`
}

// registered is a tool in the registry.
type registered struct {
	Server      string `json:"server"`
	Tool        string `json:"tool"`
	NodeType    string `json:"node_type"`
	Description string `json:"description"`
}

// Run prints the tools that are node types. It does not start any server.
func (c *toolsCommand) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	types, err := mcpTypes(registry.Open(h))
	if err != nil {
		return err
	}
	if c.Name != "" {
		types = slices.DeleteFunc(types, func(t nodetype.Type) bool { return t.MCP.Server != c.Name })
	}
	if c.Name != "" && len(types) == 0 {
		servers, err := mcpclient.LoadServers(h)
		if err != nil {
			return err
		}
		if _, err := servers.Get(c.Name); err != nil {
			return err
		}
		app.Warn("server %s has no tools in the registry; pflow-sync sync %s registers them", c.Name, c.Name)
	}
	set, err := settings.Load(h)
	if err != nil {
		return err
	}
	secrets := redact.For(set.Env, app.Env)
	items := make([]registered, len(types))
	for i, t := range types {
		items[i] = registered{t.MCP.Server, t.MCP.Tool, t.Name, secrets.Text(t.Description)}
	}
	return cli.List(app, items, func(w io.Writer) {
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, t := range items {
			first, _, _ := strings.Cut(t.Description, "\n")
			_, _ = fmt.Fprintf(table, "%s\t%s\n", t.NodeType, first)
		}
		_ = table.Flush()
	})
}
