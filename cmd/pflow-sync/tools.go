package main

import (
	"io"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/page"
	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type toolsCommand struct {
	pageFlags
	Name string `arg:"" optional:"" help:"The server; all by default." complete:"server"`
	Tool string `arg:"" optional:"" help:"One tool, as its server names it: it is printed with its parameters." complete:"tool"`
}

// registered is a tool in the registry. Inputs are its parameters, if only one tool is asked for.
type registered struct {
	Server      string           `json:"server"`
	Tool        string           `json:"tool"`
	NodeType    string           `json:"node_type"`
	Description string           `json:"description"`
	Inputs      []nodetype.Param `json:"inputs,omitempty"`
}

// Run prints the tools that are node types. It does not start any server.
func (c *toolsCommand) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	found, err := findTools(registry.Open(h))
	if err != nil {
		return err
	}
	types := found.types
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
		if !found.unknown {
			app.Warn("server %s has no tools in the registry; pflow-sync sync %s registers them", c.Name, c.Name)
		}
	}
	if c.Tool != "" { // one that is not found may be among those that cannot be read
		if types, err = named(types, c.Name, c.Tool); err != nil && len(found.warnings) == 0 {
			return err
		}
	}
	set, err := settings.Load(h)
	if err != nil && !found.unknown { // without types nothing is to be redacted
		return err
	}
	if set == nil {
		set = &settings.Settings{}
	}
	secrets := redact.For(set.Env, app.Env)
	items := make([]registered, len(types))
	for i, t := range types {
		items[i] = registered{Server: t.MCP.Server, Tool: t.MCP.Tool, NodeType: t.Name, Description: secrets.Text(t.Description)}
		if c.Tool != "" {
			items[i].Inputs = nodetype.Redacted(t.Params, secrets)
		}
	}
	list := listing[registered]{
		items: items, key: func(t registered) string { return t.NodeType }, query: "tools " + c.Name + " " + c.Tool, shorten: registered.shortened, text: func(w io.Writer, items []registered) { writeTools(w, items, app.Stdout.Columns()) },
		warnings: found.warn(app, &c.pageFlags),
		document: func(items []registered, end pageEnd) any {
			return struct {
				Tools []registered `json:"tools"`
				pageEnd
			}{items, end}
		},
	}
	return list.print(app, &c.pageFlags)
}

// named returns the node types that are a tool of a server, or of any server if its name is empty.
func named(types []nodetype.Type, server, tool string) (found []nodetype.Type, err error) {
	var names []string
	for _, t := range types {
		if t.MCP.Tool == tool {
			found = append(found, t)
		}
		names = append(names, t.MCP.Tool)
	}
	if len(found) == 0 && server != "" {
		return nil, mcpclient.ToolNotFound(server, tool, names)
	}
	return found, nil
}

// shortened returns the tool with the beginning of its description, and without the parameters that do not fit beside it.
func (t registered) shortened(bytes int) registered {
	t.Description = page.Cut(t.Description, bytes/4)
	for i := range t.Inputs {
		t.Inputs[i].Description = page.Cut(t.Inputs[i].Description, 100)
	}
	for len(t.Inputs) > 0 && page.Size(t) > bytes {
		t.Inputs = t.Inputs[:len(t.Inputs)-1]
	}
	return t
}

func writeTools(w io.Writer, tools []registered, columns int) {
	var table cells.Table
	for _, t := range tools {
		first, _, _ := strings.Cut(t.Description, "\n")
		table.Row(t.NodeType, first)
	}
	_ = table.Write(w, columns)
}
