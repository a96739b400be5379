package plan

import (
	"cmp"
	"slices"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Plan is where a run stands. It is a state machine: events of settled nodes go in, ready nodes and the events that
// follow of necessity come out.
type Plan struct {
	w     *workflow.Workflow
	g     *graph
	state []state
	ready []due
	// rank is how long the longest chain behind a node is: of the nodes that are ready, the one with most behind it
	// goes first.
	rank []int
	left int
}

// due is a step that was made ready and not asked for yet.
type due struct {
	node int
	step Step
}

// state is one node's.
type state struct {
	phase phase
	// body is there while the node runs.
	body *body
	// open, taken and blocked count the edges that come to the node; waiting the nodes it reads that are not settled.
	open, taken, blocked int
	waiting              int
	// cause is the node whose failure reached this one by an edge or by a reading.
	cause string
	// action is what the node ended with.
	action string
	// sources are the nodes that had a part in this one running: by a taken edge.
	sources []int
}

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

// New makes the plan of a workflow that pkg/workflow/check found no structural fault in. A cycle is a validation_error.
func New(w *workflow.Workflow) (*Plan, error) {
	g := newGraph(w)
	sorted, cycle := g.order()
	if cycle != nil {
		return nil, g.cycleFault(cycle)
	}
	p := &Plan{w: w, g: g, state: make([]state, len(g.ids)), rank: make([]int, len(g.ids))}
	for _, i := range slices.Backward(sorted) {
		for _, r := range g.routes[i] {
			p.rank[i] = max(p.rank[i], p.rank[r.to]+1)
		}
		for _, r := range g.readers[i] {
			p.rank[i] = max(p.rank[i], p.rank[r.node]+1)
		}
	}
	for i := range p.state {
		if !g.member[i] {
			p.state[i].phase = skipped
			continue
		}
		p.left++
		p.state[i].open = g.arrivals[i]
		for _, from := range g.reads[i] {
			if g.member[from.node] {
				p.state[i].waiting++
			}
		}
	}
	for i := range p.state {
		p.consider(i, nil)
	}
	return p, nil
}

// Ready gives the steps that have become ready since it was last asked, those of nodes with the longest chain behind
// them first.
func (p *Plan) Ready() []Step {
	slices.SortStableFunc(p.ready, func(a, b due) int {
		return cmp.Or(cmp.Compare(p.rank[b.node], p.rank[a.node]), cmp.Compare(a.node, b.node))
	})
	steps := make([]Step, len(p.ready))
	for i, d := range p.ready {
		steps[i] = d.step
	}
	p.ready = p.ready[:0]
	return steps
}

// Rank is how many nodes the longest chain behind a node has.
func (p *Plan) Rank(id string) int { return p.rank[p.g.index[id]] }

// Order lists the nodes so that each comes after all that it waits for.
func (p *Plan) Order() []string {
	sorted, _ := p.g.order()
	ids := make([]string, len(sorted))
	for k, i := range sorted {
		ids[k] = p.g.ids[i]
	}
	return ids
}

// Waits lists the nodes that a node waits for: those with an edge to it, and those it reads.
func (p *Plan) Waits(id string) []string {
	i := p.g.index[id]
	var ids []string
	for from, routes := range p.g.routes {
		reads := slices.ContainsFunc(p.g.reads[i], func(r reading) bool { return r.node == from })
		if reads || slices.ContainsFunc(routes, func(r route) bool { return r.to == i }) {
			ids = append(ids, p.g.ids[from])
		}
	}
	return ids
}

// Done says whether every node is settled.
func (p *Plan) Done() bool { return p.left == 0 }

// Apply takes an event of a node. One that settles it (node_completed, node_reused, node_failed that is not retried,
// node_cancelled) gives the events that follow of necessity: nodes that are skipped or cancelled because of it. The others
// say how far a node has come: node_started, node_failed that is retried, item_completed, iteration_completed,
// approval_resolved. Any other event, and one of a node that is settled already, changes nothing, so a journal can be
// replayed as it is.
func (p *Plan) Apply(e *event.Event) []*event.Event {
	i, ok := p.g.index[e.Node]
	if !ok {
		return nil
	}
	s := &p.state[i]
	switch {
	case s.phase.settled() && s.body == nil:
		return nil
	case e.Item != nil:
		p.item(i, e)
		return nil
	case s.phase.settled(): // it runs once more
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
		if e.Action == workflow.ActionError { // a failure that an error edge took, reused
			p.settle(i, handled, e.Action, e.Node, &out)
			break
		}
		p.settle(i, completed, e.Action, e.Node, &out)
	case event.NodeFailed:
		switch {
		case !e.IsFailure():
			p.advance(i, e)
		case p.Handles(e.Node):
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

// Handles says whether an edge takes the node's failure.
func (p *Plan) Handles(id string) bool {
	return slices.ContainsFunc(p.g.routes[p.g.index[id]], func(r route) bool { return r.action == workflow.ActionError })
}

// Routes says whether an edge takes the node's action.
func (p *Plan) Routes(id, action string) bool {
	return slices.ContainsFunc(p.g.routes[p.g.index[id]], func(r route) bool { return r.action == action })
}

// Halt cancels every node that is not settled, because of a cause: a node that failed, or what stopped the run. It is for
// a time when no node is being executed.
func (p *Plan) Halt(cause string) []*event.Event {
	var out []*event.Event
	for i := range p.state {
		if !p.state[i].phase.settled() {
			out = append(out, &event.Event{Event: event.NodeCancelled, Node: p.g.ids[i], Cause: cause})
			p.settle(i, cancelled, "", cause, &out)
		}
		p.state[i].body = nil
	}
	p.ready = p.ready[:0]
	return out
}

// Sources lists the nodes that had a part in a node running: those with a taken edge to it and those it reads.
func (p *Plan) Sources(id string) []string {
	i := p.g.index[id]
	var ids []string
	for _, n := range p.state[i].sources {
		ids = append(ids, p.g.ids[n])
	}
	for _, r := range p.g.reads[i] {
		ids = append(ids, p.g.ids[r.node])
	}
	return ids
}

// Leaves lists the nodes that ran to an end that routes no further: what they put out is a run's result when the workflow
// declares no outputs.
func (p *Plan) Leaves() []string {
	var ids []string
	for i, s := range p.state {
		if s.phase == completed && !p.Routes(p.g.ids[i], s.action) && !p.readByRun(i) {
			ids = append(ids, p.g.ids[i])
		}
	}
	return ids
}

// readByRun says whether, where templates alone order the nodes, some node that ran reads this one.
func (p *Plan) readByRun(i int) bool {
	if len(p.g.routes[i]) > 0 || p.g.arrivals[i] > 0 {
		return false
	}
	return slices.ContainsFunc(p.g.readers[i], func(r reading) bool { return p.state[r.node].phase == completed })
}

// settle gives a node its end and passes that on along its edges and to its readers.
func (p *Plan) settle(i int, to phase, action, cause string, out *[]*event.Event) {
	s := &p.state[i]
	s.phase, s.action, s.cause, s.body = to, action, cause, nil
	p.left--
	p.withdraw(i, all)
	for _, r := range p.g.routes[i] {
		next := &p.state[r.to]
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
		next := &p.state[r.node]
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

// consider decides about a node for which no edge and no reading is open any more.
func (p *Plan) consider(i int, out *[]*event.Event) {
	s := &p.state[i]
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

// Settled says whether a node has come to its end, be it that it runs once more.
func (p *Plan) Settled(id string) bool { return p.state[p.g.index[id]].phase.settled() }

// Reopen makes a node that is settled run once more, for what it puts out; nothing that followed of its end changes.
func (p *Plan) Reopen(id string) {
	i := p.g.index[id]
	if s := &p.state[i]; s.phase.settled() && s.body == nil {
		s.body = &body{}
		if p.w.Nodes[i].Loop != nil {
			s.body.iteration = 1
		}
		p.begin(i)
	}
}
