package main

import (
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/page"
	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
)

// bestInFull is the number of node types that a page with a limit shows in full, unless --detail says otherwise.
const bestInFull = 8

// pager makes one page of the answer to a search.
type pager struct {
	command   *searchCommand
	secrets   *redact.Redactor
	workflows []foundWorkflow
	warnings  []*fault.Fault
	types     *registry.Found
}

// page returns the page that the command asks for. It has at least one entry if there are any.
func (p *pager) page(types *registry.Found) (answer found, err error) {
	p.types = types
	places, err := page.Places(p.command.Cursor, p.command.query(), 2)
	if err != nil {
		return answer, err
	}
	fromNode, fromFlow := places[0].In(types.Len(), types.Name), places[1].In(len(p.workflows), p.key)
	answer = p.frame()
	limits := p.command.limits()
	room := limits.Room(page.Size(answer))
	nodes, flows, err := p.fill(fromNode, fromFlow, room)
	if err != nil {
		return answer, err
	}
	toNode, toFlow := fromNode+len(nodes), fromFlow+len(flows)
	answer.Nodes = append(answer.Nodes, nodes...)
	if answer.Workflows != nil {
		*answer.Workflows = append(*answer.Workflows, flows...)
	}
	answer.More, answer.NextCursor = answer.Total-toNode-toFlow, ""
	suggestions := answer.Suggestions
	answer.Suggestions = nil
	if answer.More > 0 {
		answer.NextCursor = page.Cursor(p.command.query(), page.After(toNode, types.Name), page.After(toFlow, p.key))
		answer.Suggestions = append(answer.Suggestions, suggestions[:min(1, len(suggestions))]...)
	}
	if len(suggestions) > 1 && slices.ContainsFunc(nodes, func(n component) bool { return n.Truncated }) {
		answer.Suggestions = append(answer.Suggestions, suggestions[1])
	}
	return answer, nil
}

// frame returns the page without entries and with everything else that it may have.
func (p *pager) frame() found {
	c := p.command
	answer := found{
		Nodes: []component{}, Total: p.types.Len() + len(p.workflows), NextCursor: strings.Repeat("-", page.MaxCursor),
		Warnings: p.warnings, Suggestions: []string{c.goOn(), wholeType(c.reader)},
	}
	answer.More = answer.Total
	if p.types.Fault != nil {
		answer.Warnings = append([]*fault.Fault{p.secrets.Fault(p.types.Fault)}, p.warnings...)
	}
	if !c.NoWorkflows && c.Server == "" {
		answer.Workflows = &[]foundWorkflow{}
	}
	for _, w := range answer.Warnings {
		w.Address(c.reader)
	}
	if c.maxBytes > 0 && page.Size(answer) > c.maxBytes/2 {
		answer.Suggestions = nil
		for i, w := range answer.Warnings {
			answer.Warnings[i] = briefly(w, c.maxBytes/8)
		}
	}
	return answer
}

// briefly returns only the kind of a fault, its place in a file, and its message cut to a number of bytes.
func briefly(f *fault.Fault, most int) *fault.Fault {
	return &fault.Fault{Type: f.Type, Message: page.Cut(f.Message, most), File: page.Cut(f.File, most), Line: f.Line, Column: f.Column}
}

// key tells one workflow from another.
func (p *pager) key(i int) string { return p.workflows[i].Name }

// fill returns the node types and workflows that fit. Workflows have a quarter of the room, and more if the node types leave it.
func (p *pager) fill(fromNode, fromFlow, room int) (nodes []component, flows []foundWorkflow, err error) {
	limit := p.command.Limit
	flows, used, err := page.Fill(fromFlow, len(p.workflows), limit, room/4, false, p.workflow)
	if err != nil {
		return nil, nil, err
	}
	nodes, taken, err := p.nodes(fromNode, room-used, room, &flows)
	if err != nil {
		return nil, nil, err
	}
	if len(flows) == 0 {
		used = 0
	}
	if rest := fromFlow + len(flows); fromNode+len(nodes) == p.types.Len() && (limit == 0 || len(flows) < limit) {
		left := limit
		if limit > 0 {
			left = limit - len(flows)
		}
		more, _, err := page.Fill(rest, len(p.workflows), left, room-used-taken, len(nodes)+len(flows) == 0, p.workflow)
		return nodes, append(flows, more...), err
	}
	return nodes, flows, nil
}

// nodes returns the node types from an index on that fit, and the bytes they take. If the first of them needs the whole page, it
// clears the workflows.
func (p *pager) nodes(from, room, whole int, flows *[]foundWorkflow) (nodes []component, used int, err error) {
	detail, to := p.command.Detail, p.types.Len()
	if from >= to {
		return nil, 0, nil
	}
	if detail == "" && p.command.maxBytes == 0 {
		detail = "full"
	}
	switch {
	case detail == "brief", detail == "" && from >= bestInFull:
		return page.Fill(from, to, p.command.Limit, room, len(*flows) == 0, p.brief)
	case detail == "full":
		first, err := p.full(from)
		if err != nil {
			return nil, 0, err
		}
		if page.Size(first) >= room {
			*flows, room = nil, whole
		}
		return page.Fill(from, to, p.command.Limit, room, true, func(i int) (component, error) {
			c, err := p.full(i)
			return c.within(room - 1), err
		})
	}
	return p.mixed(from, room)
}

// mixed returns the best node types in full, and the others in brief. The others have a quarter of the room, and more if the best
// leave it.
func (p *pager) mixed(from, room int) (nodes []component, used int, err error) {
	limit, total := p.command.Limit, p.types.Len()
	if limit > 0 {
		total = min(total, from+limit)
	}
	to := min(bestInFull, total)
	var best []component
	for i := from; i < to; i++ {
		c, err := p.full(i)
		if err != nil {
			return nil, 0, err
		}
		best = append(best, c)
	}
	others, reserved, err := page.Fill(to, total, 0, room/4, false, p.brief)
	if err != nil {
		return nil, 0, err
	}
	best = shortened(best, room-reserved)
	nodes, used, err = page.Fill(0, len(best), 0, room, true, func(i int) (component, error) { return best[i], nil })
	if err != nil || len(nodes) < len(best) {
		return nodes, used, err
	}
	if used+reserved > room { // the best are larger than their shares
		others, reserved = nil, 0
	}
	more, further, err := page.Fill(to+len(others), total, 0, room-used-reserved, false, p.brief)
	return slices.Concat(nodes, others, more), used + reserved + further, err
}

// shortened returns components that together fit into room, if they can: each is shortened to its share, and what that leaves goes to
// the first ones.
func shortened(whole []component, room int) []component {
	sizes := make([]int, len(whole))
	for i, c := range whole {
		sizes[i] = page.Size(c) + 1
	}
	list := make([]component, len(whole))
	for i, share := range page.Shares(room, sizes...) {
		list[i] = whole[i].within(share - 1)
		room -= page.Size(list[i]) + 1
	}
	for i, c := range list {
		if c.Truncated && room > 0 {
			list[i] = whole[i].within(page.Size(c) + room)
			room -= page.Size(list[i]) - page.Size(c)
		}
	}
	return list
}

// full returns a node type in full. If its entry is broken, it has the error.
func (p *pager) full(i int) (component, error) {
	t, err := p.types.Type(i)
	if err == nil {
		return componentOf(t, p.secrets), nil
	}
	f := fault.From(err)
	if f.Type != fault.Validation {
		return component{}, err
	}
	f = p.secrets.Fault(f)
	if p.command.maxBytes > 0 {
		f = briefly(f, maxBrief)
	}
	return component{Type: p.types.Name(i), Error: f}, nil
}

func (p *pager) brief(i int) (component, error) {
	c, err := p.full(i)
	return c.brief(), err
}

// workflow returns a workflow, on a page with a limit in brief.
func (p *pager) workflow(i int) (foundWorkflow, error) {
	w := p.workflows[i]
	if p.command.maxBytes > 0 {
		w.Description = page.Cut(w.Description, maxBrief)
		if w.Error != nil {
			w.Error = briefly(w.Error, maxBrief)
		}
	}
	return w, nil
}
