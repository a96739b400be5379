package runner

import (
	"context"
	"encoding/json"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// DryRun is the document of what a run would do.
type DryRun struct {
	Success  bool   `json:"success"`
	DryRun   bool   `json:"dry_run"`
	Workflow string `json:"workflow"`
	// Inputs are those of the workflow, without secrets.
	Inputs json.RawMessage `json:"inputs"`
	// Nodes are in an order in which they could run one by one.
	Nodes []DryRunNode `json:"nodes"`
	// Attach is the run that would be attached to in place of starting one.
	Attach      string `json:"attach,omitempty"`
	ResumedFrom string `json:"resumed_from,omitempty"`
}

// DryRunNode is what a run would do about a node.
type DryRunNode struct {
	Node  string        `json:"node"`
	Type  string        `json:"type"`
	MCP   *event.MCP    `json:"mcp,omitempty"`
	Would engine.Intent `json:"would"`
	// Because is why a node would run, if a run is resumed. Why says more of some.
	Because string `json:"because,omitempty"`
	Why     string `json:"why,omitempty"`
	// After are the nodes that it waits for.
	After []string `json:"after"`
}

// DryRun returns what Execute would do.
func (l *Launch) DryRun(ctx context.Context) (*DryRun, error) {
	d := &DryRun{Success: true, DryRun: true, Workflow: l.request.Name, Inputs: json.RawMessage("{}"), Nodes: []DryRunNode{}, Attach: l.Attach}
	if l.Attach != "" {
		return d, nil
	}
	inputs, err := rawjson.Marshal(l.inputs)
	if err != nil {
		return nil, fault.From(err)
	}
	d.Inputs, _ = l.redactor.JSON(inputs)
	if l.from != nil {
		d.ResumedFrom = l.from.Run
	}
	preview, err := engine.DryRun(ctx, l.config(""))
	if err != nil {
		return nil, l.redactor.Fault(fault.From(err))
	}
	for _, id := range preview.Order {
		node := DryRunNode{Node: id, Type: preview.Nodes[id].Type, Would: preview.Would[id], Because: preview.Because[id], Why: l.redactor.Text(preview.Why[id]), After: append([]string{}, preview.After[id]...)}
		if m := preview.Kinds[id].MCP; m != nil {
			node.MCP = &event.MCP{Server: m.Server, Tool: m.Tool}
		}
		d.Nodes = append(d.Nodes, node)
	}
	return d, nil
}
