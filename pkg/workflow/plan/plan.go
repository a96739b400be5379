// Package plan decides which node runs next, from the workflow and the events so far. It is pure: it has no clock, no
// randomness, no goroutine and no I/O, so the engine, a resume, the check and the graph use the same code.
package plan

import (
	"cmp"
	"slices"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Plan is the state of a run. It is a state machine: events about nodes go in, ready steps and the events that follow from
// those come out.
type Plan struct {
	w     *workflow.Workflow
	g     *graph
	nodes []nodeState
	ready []readyStep
	// rank has the length of the longest chain of nodes behind each node. Ready nodes with a higher rank come first.
	rank []int
	// left is how many nodes are not settled.
	left int
	// only reports whether a single node takes part, and nothing after it.
	only bool
}

// readyStep is a step that Ready has not returned yet.
type readyStep struct {
	node int
	step Step
}

// nodeState is the state of one node.
type nodeState struct {
	phase phase
	// body is the node's progress while it runs, else nil.
	body *body
	// open, taken and blocked count the edges to the node. waiting counts the unsettled nodes that it reads.
	open, taken, blocked int
	waiting              int
	// cause is the node whose failure reached this one by an edge or by a template.
	cause string
	// action is the action that the node ended with.
	action string
	// sources are the nodes with a taken edge to this one.
	sources []int
}

// phase is how far a node has come. All phases after ready are settled.
type phase int

const (
	pending phase = iota
	ready
	completed
	failed
	handled
	skipped
	cancelled
)

func (p phase) settled() bool { return p > ready }

// New returns the plan of a workflow without structural faults (see package check). It returns a validation_error if the
// workflow has a cycle.
func New(w *workflow.Workflow) (*Plan, error) {
	g := newGraph(w)
	sorted, cycle := g.order()
	if cycle != nil {
		return nil, g.cycleFault(cycle)
	}
	p := &Plan{w: w, g: g, nodes: make([]nodeState, len(g.ids)), rank: make([]int, len(g.ids))}
	for _, i := range slices.Backward(sorted) {
		for _, r := range g.routes[i] {
			p.rank[i] = max(p.rank[i], p.rank[r.to]+1)
		}
		for _, r := range g.readers[i] {
			p.rank[i] = max(p.rank[i], p.rank[r.node]+1)
		}
	}
	for i := range p.nodes {
		if !g.member[i] {
			p.nodes[i].phase = skipped
			continue
		}
		p.left++
		p.nodes[i].open = g.arrivals[i]
		for _, from := range g.reads[i] {
			if g.member[from.node] {
				p.nodes[i].waiting++
			}
		}
	}
	for i := range p.nodes {
		p.consider(i, nil)
	}
	return p, nil
}

// Ready returns the steps that have become ready since its last call. Steps of nodes with the longest chain behind them come
// first.
func (p *Plan) Ready() []Step {
	slices.SortStableFunc(p.ready, func(a, b readyStep) int {
		return cmp.Or(cmp.Compare(p.rank[b.node], p.rank[a.node]), cmp.Compare(a.node, b.node))
	})
	steps := make([]Step, len(p.ready))
	for i, d := range p.ready {
		steps[i] = d.step
	}
	p.ready = p.ready[:0]
	return steps
}

// Apply applies an event about a node. An event that settles the node (node_completed, node_reused, node_cancelled, or
// node_failed without a retry) may settle others: Apply returns the events of the nodes that are skipped or cancelled because
// of it. Other events are a node's progress: node_started, node_failed with a retry, item_completed, iteration_completed,
// approval_resolved, and approval_requested by a node that asks itself. All remaining events, and those about a settled node, change nothing, so a journal can be replayed as it
// is.
func (p *Plan) Apply(e *event.Event) []*event.Event {
	i, ok := p.g.index[e.Node]
	if !ok {
		return nil
	}
	s := &p.nodes[i]
	switch {
	case s.phase.settled() && s.body == nil:
		return nil
	case e.Item != nil:
		p.item(i, e)
		return nil
	case s.phase.settled(): // it was reopened
		switch {
		case e.Settles(), e.IsFailure(), e.Event == event.NodeCancelled:
			s.body = nil
			p.withdraw(i, all)
		default:
			p.advance(i, e)
		}
		return nil
	}
	var out []*event.Event
	switch e.Event {
	case event.NodeCompleted, event.NodeReused:
		if e.Action == workflow.ActionError { // a reused failure that an error edge handles
			p.settle(i, handled, e.Action, e.Node, &out)
			break
		}
		p.settle(i, completed, e.Action, e.Node, &out)
	case event.NodeFailed:
		switch {
		case !e.IsFailure():
			p.advance(i, e)
		case p.Handles(e.Node) && (e.Handled == nil || *e.Handled):
			p.settle(i, handled, workflow.ActionError, e.Node, &out)
		default:
			p.settle(i, failed, "", e.Node, &out)
		}
	case event.NodeCancelled:
		p.settle(i, cancelled, "", e.Cause, &out)
	case event.NodeSkipped:
		p.settle(i, skipped, "", e.Node, &out)
	default:
		p.advance(i, e)
	}
	return out
}

// Halt cancels every node that is not settled and returns the events of that. The cause is a failed node, or what stopped the
// run. No node may be executing.
func (p *Plan) Halt(cause string) []*event.Event {
	var out []*event.Event
	for i := range p.nodes {
		if !p.nodes[i].phase.settled() {
			out = append(out, &event.Event{Event: event.NodeCancelled, Node: p.g.ids[i], Cause: cause})
			p.settle(i, cancelled, "", cause, &out)
		}
		p.nodes[i].body = nil
	}
	p.ready = p.ready[:0]
	return out
}

// settle sets the phase that a node ends in and passes it on to the nodes after it and to its readers.
func (p *Plan) settle(i int, to phase, action, cause string, out *[]*event.Event) {
	s := &p.nodes[i]
	s.phase, s.action, s.cause, s.body = to, action, cause, nil
	p.left--
	p.withdraw(i, all)
	for _, r := range p.g.routes[i] {
		next := &p.nodes[r.to]
		next.open--
		switch {
		case to == failed, to == cancelled:
			next.blocked++
			next.cause = cmp.Or(next.cause, cause)
		case to != skipped && r.action == action:
			next.taken++
			next.sources = append(next.sources, i)
		}
	}
	for _, r := range p.g.readers[i] {
		next := &p.nodes[r.node]
		next.waiting--
		if (to == failed || to == cancelled) && !r.optional {
			next.cause = cmp.Or(next.cause, cause)
		}
	}
	for _, r := range p.g.routes[i] {
		p.consider(r.to, out)
	}
	for _, r := range p.g.readers[i] {
		p.consider(r.node, out)
	}
}

// consider decides about a node once none of its edges is open and it waits for no node.
func (p *Plan) consider(i int, out *[]*event.Event) {
	s := &p.nodes[i]
	if s.phase != pending || s.open > 0 || s.waiting > 0 {
		return
	}
	id := p.g.ids[i]
	runs := s.taken > 0 || p.g.start[i]
	switch {
	case s.blocked > 0, runs && s.cause != "":
		*out = append(*out, &event.Event{Event: event.NodeCancelled, Node: id, Cause: s.cause})
		p.settle(i, cancelled, "", s.cause, out)
	case runs:
		p.open(i)
	default:
		*out = append(*out, &event.Event{Event: event.NodeSkipped, Node: id, Reason: "no edge to it was taken"})
		p.settle(i, skipped, "", id, out)
	}
}

// Reopen makes a settled node run again for its outputs. The nodes after it are not affected.
func (p *Plan) Reopen(id string) {
	i := p.g.index[id]
	if s := &p.nodes[i]; s.phase.settled() && s.body == nil {
		s.body = &body{}
		if p.w.Nodes[i].Loop != nil {
			s.body.iteration = 1
		}
		p.begin(i)
	}
}
