package reader

import (
	"encoding/json"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Limit shortens the details for a reader, so that they have at most the given number of bytes as JSON, which must be at least 4096.
// Warnings and the fault keep their beginnings. References replace inputs, outputs and parameters; then the last nodes are left
// out, and NodesTotal says how many there are.
func (d *Details) Limit(reader fault.Reader, most int) error {
	d.Address(reader)
	if d.Error != nil {
		d.Error.Address(reader)
	}
	for i := range d.Nodes {
		if d.Nodes[i].Error != nil {
			d.Nodes[i].Error.Address(reader)
		}
	}
	if raw, err := rawjson.Marshal(d); err != nil || len(raw) <= most {
		return err
	}
	if d.Error != nil {
		d.Error = d.Error.LimitErrors(maxErrors).LimitBytes(max(minFault, most/4))
	}
	d.Warnings, d.WarningsTotal = limitWarnings(d.Warnings, most/16)
	d.Workflow, d.Path, d.Cwd = fault.Truncate(d.Workflow, most/32), fault.Truncate(d.Path, most/32), fault.Truncate(d.Cwd, most/32)
	d.Inputs, d.Outputs = brief(d.Inputs, most/32), brief(d.Outputs, most/16)
	nodes := d.Nodes
	d.Nodes = []NodeDetails{}
	raw, err := rawjson.Marshal(d)
	if err != nil {
		return err
	}
	room := most - len(raw) - len(`,"nodes_total":`) - 10
	for _, n := range nodes {
		n.shorten(most / 4)
		if raw, err = rawjson.Marshal(n); err != nil {
			return err
		}
		if room -= len(raw) + len(","); room < 0 {
			d.NodesTotal = len(nodes)
			break
		}
		d.Nodes = append(d.Nodes, n)
	}
	return nil
}

// shorten shortens what is known about a node to about the given number of bytes.
func (n *NodeDetails) shorten(most int) {
	n.Outputs, n.Params, n.Fields = brief(n.Outputs, most/4), brief(n.Params, most/8), brief(n.Fields, most/8)
	n.Question, n.Answer = fault.Truncate(n.Question, most/8), fault.Truncate(n.Answer, most/8)
	n.Warnings, _ = limitWarnings(n.Warnings, most/8)
	if n.Error != nil {
		n.Error = n.Error.LimitErrors(maxErrors).LimitBytes(max(minFault, most/4))
	}
}

// brief returns a value, or a reference without its beginning if it is longer than the given number of bytes as JSON.
func brief(value json.RawMessage, most int) json.RawMessage {
	if len(value) <= most {
		return value
	}
	ref := event.ReferenceTo(value)
	ref.Head = ""
	return ref.Value()
}

// Limit shortens what is known about the node for a reader, so that it has at most the given number of bytes as JSON, which must be
// at least 4096.
func (n *NodeDetails) Limit(reader fault.Reader, most int) error {
	if n.Error != nil {
		n.Error.Address(reader)
	}
	raw, err := rawjson.Marshal(n)
	if err == nil && len(raw) > most {
		n.shorten(most * 3 / 4)
	}
	return err
}
