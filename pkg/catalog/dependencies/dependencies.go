// Package dependencies names what a workflow needs besides its file: node types, MCP servers, other workflows, and values of the
// settings. It runs nothing, so what only a template decides is not among them.
package dependencies

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// List is what a workflow needs, with the workflows that it runs. Each part is sorted and not nil.
type List struct {
	NodeTypes []string `json:"node_types"`
	Servers   []Server `json:"servers"`
	// Workflows are the names or paths by which nodes run workflows.
	Workflows []string  `json:"workflows"`
	Settings  []Setting `json:"settings"`
}

// Server is an MCP server whose tools are node types of the workflow.
type Server struct {
	Name string `json:"name"`
	// Configured reports whether the configuration of the home has the server.
	Configured bool `json:"configured"`
}

// Setting is a value that the workflow takes from the environment or from settings.json.
type Setting struct {
	Name string `json:"name"`
	// For names what needs it: "input NAME", "node ID" or "server NAME".
	For string `json:"for"`
	// Secret reports whether the value belongs under env of settings.json, and not under vars or llm.
	Secret bool `json:"secret"`
	// Required reports whether a run fails without it, unless a caller gives it as an input.
	Required bool `json:"required"`
	// Set reports whether there is a value.
	Set bool `json:"set"`
}

// Home is where the needed things are looked for.
type Home struct {
	Library  *library.Library
	Types    *registry.Registry
	Settings *settings.Settings
	// Getenv returns a variable of the environment, or "".
	Getenv func(name string) string
}

// maxWorkflows limits how many workflows are read.
const maxWorkflows = 100

// Of returns what a workflow needs. A workflow that cannot be read is named, and what it needs is not.
func (h Home) Of(file *workflow.File) List {
	c := collector{
		home: h, types: map[string]bool{}, servers: map[string]bool{}, workflows: map[string]bool{}, settings: map[Setting]bool{},
		read: map[string]bool{}, configured: map[string][]string{},
	}
	for name, in := range file.Workflow.Inputs {
		c.input(name, in)
	}
	c.workflow(file, 0)
	list := List{
		NodeTypes: sorted(c.types), Workflows: sorted(c.workflows), Servers: []Server{}, Settings: []Setting{},
	}
	if len(c.servers) > 0 {
		c.configured = h.Types.ConfiguredServers()
	}
	for _, name := range sorted(c.servers) {
		variables, ok := c.configured[name]
		list.Servers = append(list.Servers, Server{name, ok})
		for _, variable := range variables {
			c.variable(variable, "server "+name, true)
		}
	}
	for s := range c.settings {
		list.Settings = append(list.Settings, s)
	}
	slices.SortFunc(list.Settings, func(a, b Setting) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.For, b.For)) })
	return list
}

// collector collects the parts of a List.
type collector struct {
	home                      Home
	types, servers, workflows map[string]bool
	settings                  map[Setting]bool
	read                      map[string]bool // the files that were read
	configured                map[string][]string
}

// workflow adds what the nodes of a workflow need, and the workflows that they run.
func (c *collector) workflow(file *workflow.File, depth int) {
	for i := range file.Workflow.Nodes {
		n := &file.Workflow.Nodes[i]
		if !c.types[n.Type] {
			c.types[n.Type] = true
			if t, ok, err := c.home.Types.Known(n.Type); ok && err == nil && t.MCP != nil {
				c.servers[t.MCP.Server] = true
			}
		}
		c.node(n)
		if n.Type == workflow.SubType && depth < workflow.MaxDepth {
			c.sub(file, n, depth)
		}
	}
}

// sub adds the workflow that a node runs, and what it needs.
func (c *collector) sub(file *workflow.File, n *workflow.Node, depth int) {
	named, ok := workflow.SubOf(n.Params)
	if !ok {
		return
	}
	if named.Inline != nil {
		if inline, err := file.Inline("", named.Inline); err == nil {
			c.workflow(inline, depth+1)
		}
		return
	}
	if named.Ref == "" || strings.Contains(named.Ref, "${") {
		return
	}
	c.workflows[named.Ref] = true
	sub, err := c.home.Library.OpenSub(file, named.Ref)
	if err != nil {
		return
	}
	if at := filepath.Join(sub.Dir, sub.Name); !c.read[at] && len(c.read) < maxWorkflows {
		c.read[at] = true
		c.workflow(sub, depth+1)
	}
}

func sorted(set map[string]bool) []string {
	return append([]string{}, slices.Sorted(maps.Keys(set))...)
}
