package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// foreseen is what a run would do.
type foreseen struct {
	Success  bool            `json:"success"`
	DryRun   bool            `json:"dry_run"`
	Workflow string          `json:"workflow"`
	Inputs   json.RawMessage `json:"inputs"`
	Nodes    []foreseenNode  `json:"nodes"`
	// Attach is the live run that would be attached to, and none started.
	Attach      string `json:"attach,omitempty"`
	ResumedFrom string `json:"resumed_from,omitempty"`
}

type foreseenNode struct {
	Node string     `json:"node"`
	Type string     `json:"type"`
	MCP  *event.MCP `json:"mcp,omitempty"`
	// Would is run, reuse, skip, deny, or ask for a node that a person is asked about first.
	Would engine.Intent `json:"would"`
	After []string      `json:"after"`
}

// foresee tells what the request would do, in the order in which it could be done one by one.
func foresee(app *cli.App, h *home.Home, r *request) error {
	p, err := prepare(app, h, r)
	defer func() { p.release() }()
	if err != nil {
		return refuse(app, err, false)
	}
	f := foreseen{Success: true, DryRun: true, Workflow: r.Name, Inputs: json.RawMessage("{}"), Nodes: []foreseenNode{}}
	if p.attach != nil {
		f.Attach = p.attach.ID
		return app.Document(f, func(w io.Writer) { _, _ = fmt.Fprintf(w, "would attach to the live run %s\n", f.Attach) })
	}
	inputs, err := rawjson.Marshal(p.Inputs)
	if err != nil {
		return fault.From(err)
	}
	f.Inputs, _ = p.Redactor.JSON(inputs)
	if p.From != nil {
		f.ResumedFrom = p.From.Run
	}
	look, err := engine.DryRun(app.Context, p.Config)
	if err != nil {
		return refuse(app, p.Redactor.Fault(fault.From(err)), false)
	}
	for _, id := range look.Order {
		n, _ := p.Workflow.Node(id)
		node := foreseenNode{Node: id, Type: n.Type, Would: look.Would[id], After: append([]string{}, look.After[id]...)}
		if m := p.Kinds[n.Type].MCP; m != nil {
			node.MCP = &event.MCP{Server: m.Server, Tool: m.Tool}
		}
		f.Nodes = append(f.Nodes, node)
	}
	return app.Document(f, func(w io.Writer) {
		table := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
		for _, n := range f.Nodes {
			after := ""
			if len(n.After) > 0 {
				after = "after " + strings.Join(n.After, ", ")
			}
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", n.Would, n.Node, n.Type, after)
		}
		_ = table.Flush()
	})
}
