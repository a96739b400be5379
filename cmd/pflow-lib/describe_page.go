package main

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/pflow-suite/pflow/pkg/catalog/dependencies"
	"github.com/pflow-suite/pflow/pkg/catalog/page"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// needs is what a workflow needs. The totals are there if a list is not whole.
type needs struct {
	dependencies.List
	NodeTypesTotal int `json:"node_types_total,omitempty"`
	ServersTotal   int `json:"servers_total,omitempty"`
	WorkflowsTotal int `json:"workflows_total,omitempty"`
	SettingsTotal  int `json:"settings_total,omitempty"`
}

// part is a list of a document that can be cut.
type part struct {
	sizes []int // of its entries, with what separates them
	total *int
	cut   func(n int)
}

// listPart is the part that is a list.
func listPart[T any](list *[]T, total *int) part {
	p := part{total: total, cut: func(n int) { *list = (*list)[:n] }}
	for _, e := range *list {
		p.sizes = append(p.sizes, page.Size(e)+1)
	}
	return p
}

// mapPart is the part that is an object whose entries are in the given order of importance.
func mapPart[T any](object map[string]T, order []string, total *int) part {
	p := part{total: total, cut: func(n int) {
		for _, name := range order[n:] {
			delete(object, name)
		}
	}}
	for _, name := range order {
		p.sizes = append(p.sizes, page.Size(name)+page.Size(object[name])+2)
	}
	return p
}

// parts returns the lists, the most important first.
func (n *needs) parts() []part {
	return []part{
		listPart(&n.Servers, &n.ServersTotal), listPart(&n.Settings, &n.SettingsTotal), listPart(&n.Workflows, &n.WorkflowsTotal),
		listPart(&n.NodeTypes, &n.NodeTypesTotal),
	}
}

// parts returns the lists, the most important first. Of the inputs, the required ones come first.
func (d *description) parts() []part {
	var required, optional []string
	for _, name := range slices.Sorted(maps.Keys(d.Inputs)) {
		if d.Inputs[name].Required {
			required = append(required, name)
		} else {
			optional = append(optional, name)
		}
	}
	parts := []part{
		mapPart(d.Inputs, append(required, optional...), &d.InputsTotal), mapPart(d.Outputs, slices.Sorted(maps.Keys(d.Outputs)), &d.OutputsTotal),
		listPart(&d.Nodes, &d.NodesTotal), listPart(&d.Edges, &d.EdgesTotal), listPart(&d.Templates, &d.TemplatesTotal),
		listPart(&d.TemplateInputs, &d.TemplateInputsTotal),
	}
	return append(parts, d.Dependencies.parts()...)
}

// cutParts leaves as many entries of the parts as fit into room, and reports whether that is not all. It sets the totals of those that
// are not whole.
func cutParts(parts []part, room, limit int) (cut bool) {
	lists := make([][]int, len(parts))
	for i, p := range parts {
		lists[i] = p.sizes
	}
	for i, n := range page.Distribute(room, limit, lists...) {
		*parts[i].total = 0
		if all := len(parts[i].sizes); n < all {
			*parts[i].total, cut = all, true
			parts[i].cut(n)
		}
	}
	return cut
}

// maxNotes is the most bytes by which a description grows when its lists are cut: what says so, and the totals.
const maxNotes = 512

// limit shortens the description to the limits.
func (d *description) limit(limits page.Limits, reader fault.Reader) {
	for _, f := range slices.Concat(d.Errors, d.Warnings) {
		f.Address(reader)
	}
	size := page.Size(d)
	if limits.Entries > 0 {
		size += maxNotes
	}
	short := limits.Bytes > 0 && size > limits.Bytes
	if short {
		d.shorten(limits.Bytes)
	}
	parts := d.parts()
	room := page.Unlimited
	if short {
		d.Truncated, d.Suggestions = true, wholeWorkflow(reader)
		if limits.Bytes < 2*page.Least {
			d.Suggestions = nil
		}
		without := page.Size(d)
		for _, p := range parts {
			for _, size := range p.sizes {
				without -= size
			}
			without += len(`,"template_inputs_total":1000000`)
		}
		room = limits.Bytes - without
	}
	if cutParts(parts, room, limits.Entries) {
		d.Truncated, d.Suggestions = true, wholeWorkflow(reader)
		if short && limits.Bytes < 2*page.Least {
			d.Suggestions = nil
		}
	}
}

// wholeWorkflow returns how to see what a description leaves out.
func wholeWorkflow(reader fault.Reader) []string {
	if reader.HasTools() {
		return []string{"The whole: describe_workflow with limit 0, or the file itself as the resource pflow://workflows/NAME"}
	}
	return []string{"The whole: pflow-lib describe NAME without --limit and --max-bytes, or the file itself: pflow-lib show NAME"}
}

// shorten cuts the texts of the description.
func (d *description) shorten(most int) {
	d.Description = page.Cut(d.Description, most/8)
	if page.Size(d.Example) > most/8 {
		d.Example = nil
	}
	for i, f := range d.Errors {
		d.Errors[i] = briefly(f, most/32)
	}
	for i, w := range d.Warnings {
		d.Warnings[i] = briefly(w, most/16)
	}
	for name, in := range d.Inputs {
		in.Description, in.Type = page.Cut(in.Description, maxBrief), page.Cut(in.Type, maxBrief)
		if len(in.Default) > maxBrief {
			in.Default = json.RawMessage(`"…"`)
		}
		d.Inputs[name] = in
	}
	for name, out := range d.Outputs {
		d.Outputs[name] = workflow.Output{
			Description: page.Cut(out.Description, maxBrief), Type: page.Cut(out.Type, maxBrief), Source: page.Cut(out.Source, maxBrief), Stdout: out.Stdout,
		}
	}
	for i, n := range d.Nodes {
		d.Nodes[i].Purpose = page.Cut(n.Purpose, maxBrief/2)
	}
	for i, t := range d.Templates {
		d.Templates[i].Path = page.Cut(t.Path, maxBrief)
		reads := slices.Clone(t.Reads[:min(len(t.Reads), 8)])
		for k, text := range reads {
			reads[k] = page.Cut(text, maxBrief/2)
		}
		d.Templates[i].Reads = reads
	}
}
