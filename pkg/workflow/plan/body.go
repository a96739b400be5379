package plan

import (
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Do is what a step does.
type Do int

// What a step may do. The plan expects the named event for it.
const (
	// Ask asks a person whether the node may run; approval_resolved has the answer.
	Ask Do = iota
	// Attempt tries the node, or an item of it; node_started records an attempt at the node. A node that asks itself is tried
	// again with the answer.
	Attempt
	// FanOut reads the items of a batch; node_started records how many there are.
	FanOut
	// FanIn puts the results of a batch together once its items have ended; the event settles the node.
	FanIn
)

// Step is a piece of work that may start now.
type Step struct {
	Node string
	Do   Do
	// Iteration is the iteration of the node's loop, from 1; 0 without a loop.
	Iteration int
	// Item is the index of the batch's item; -1 if the step is for the node as a whole.
	Item int
	// Attempt counts from 1. After the first attempt, Retry is the policy that determines the wait.
	Attempt int
	Retry   *workflow.Retry
}

// body is the progress of a running node.
type body struct {
	asking    bool // a person has not answered yet
	iteration int
	attempt   int
	started   bool // the attempt has begun
	// questioned reports that the node itself has asked a person, and waits for the answer.
	questioned bool

	items []itemState // of a batch that has begun
	next  int         // the first item that may not have been offered
	// busy, ended and failed count items: those offered and not ended, those ended, and the failed ones among the latter.
	busy, ended, failed int
}

// itemState is the progress of an item of a batch.
type itemState struct {
	phase   itemPhase
	attempt int
}

type itemPhase uint8

const (
	itemPending itemPhase = iota
	itemBusy
	itemCompleted
	itemFailed
	itemCancelled
)

// open offers the first step of a node that may run.
func (p *Plan) open(i int) {
	n := &p.w.Nodes[i]
	s := &p.nodes[i]
	s.phase = ready
	s.body = &body{}
	if n.Loop != nil {
		s.body.iteration = 1
	}
	if n.Approval != nil {
		s.body.asking = true
		p.offer(i, Step{Do: Ask, Item: -1})
		return
	}
	p.begin(i)
}

// begin offers the first step of an iteration.
func (p *Plan) begin(i int) {
	b := p.nodes[i].body
	b.attempt, b.items, b.next, b.busy, b.ended, b.failed, b.started, b.questioned = 1, nil, 0, 0, 0, 0, false, false
	if p.w.Nodes[i].Batch != nil {
		p.offer(i, Step{Do: FanOut, Iteration: b.iteration, Item: -1, Attempt: 1})
		return
	}
	p.offer(i, Step{Do: Attempt, Iteration: b.iteration, Item: -1, Attempt: 1})
}

// offer makes a step of a node ready.
func (p *Plan) offer(i int, s Step) {
	s.Node = p.g.ids[i]
	p.ready = append(p.ready, readyStep{i, s})
}

// withdraw removes those ready steps of a node that which selects.
func (p *Plan) withdraw(i int, which func(Step) bool) {
	kept := p.ready[:0]
	for _, d := range p.ready {
		if d.node != i || !which(d.step) {
			kept = append(kept, d)
		}
	}
	p.ready = kept
}

func all(Step) bool { return true }

// advance applies an event that is a running node's progress.
func (p *Plan) advance(i int, e *event.Event) {
	s := &p.nodes[i]
	b := s.body
	if b == nil {
		return
	}
	switch e.Event {
	case event.ApprovalResolved:
		switch {
		case e.Denies():
		case b.asking:
			b.asking = false
			p.withdraw(i, all)
			p.begin(i)
		case b.questioned:
			b.questioned = false
			p.offer(i, Step{Do: Attempt, Iteration: b.iteration, Item: -1, Attempt: b.attempt})
		}
	case event.ApprovalRequested: // by the node itself
		if !b.asking && e.State != nil && e.Iteration == b.iteration && p.w.Nodes[i].Batch == nil {
			p.withdraw(i, all)
			b.questioned, b.started = true, false
		}
	case event.NodeStarted:
		if b.asking || e.Iteration != b.iteration || e.Attempt < b.attempt || b.started && e.Attempt == b.attempt {
			return
		}
		b.attempt, b.started = e.Attempt, true
		p.withdraw(i, all)
		if e.Items != nil && *e.Items >= 0 && p.w.Nodes[i].Batch != nil && b.items == nil {
			b.items = make([]itemState, *e.Items)
			p.offerItems(i)
		}
	case event.NodeFailed: // with a retry
		if b.started && e.Attempt == b.attempt && p.w.Nodes[i].Batch == nil {
			b.attempt++
			b.started = false
			p.offer(i, Step{Do: Attempt, Iteration: b.iteration, Item: -1, Attempt: b.attempt, Retry: Policy(&p.w.Nodes[i])})
		}
	case event.IterationCompleted:
		if e.Iteration == b.iteration && p.w.Nodes[i].Loop != nil {
			p.withdraw(i, all)
			b.iteration++
			p.begin(i)
		}
	}
}

// item applies an event about an item of a batch.
func (p *Plan) item(i int, e *event.Event) {
	b := p.nodes[i].body
	if b == nil || *e.Item < 0 || *e.Item >= len(b.items) || e.Iteration != b.iteration {
		return
	}
	it := &b.items[*e.Item]
	if it.phase >= itemCompleted {
		return
	}
	again := e.WillRetry != nil && *e.WillRetry
	switch {
	case e.Event == event.ItemCompleted:
		p.endItem(i, *e.Item, itemCompleted)
	case e.Event == event.NodeCancelled: // another item failed
		p.endItem(i, *e.Item, itemCancelled)
	case e.Event != event.NodeFailed:
		return
	case again && it.phase == itemBusy && e.Attempt == it.attempt:
		it.attempt++
		p.withdraw(i, func(s Step) bool { return s.Item == *e.Item })
		p.offer(i, Step{Do: Attempt, Iteration: b.iteration, Item: *e.Item, Attempt: it.attempt, Retry: Policy(&p.w.Nodes[i])})
		return
	case again:
		return
	default:
		b.failed++
		p.endItem(i, *e.Item, itemFailed)
	}
	p.offerItems(i)
}

// endItem sets the phase that an item ends in.
func (p *Plan) endItem(i, item int, phase itemPhase) {
	b := p.nodes[i].body
	it := &b.items[item]
	if it.phase == itemBusy {
		b.busy--
		p.withdraw(i, func(s Step) bool { return s.Item == item })
	}
	it.phase = phase
	b.ended++
}

// offerItems offers items up to the batch's concurrency, or the fan-in once all have ended. After a failed item it offers no
// other, unless the batch continues after failures.
func (p *Plan) offerItems(i int) {
	b, batch := p.nodes[i].body, p.w.Nodes[i].Batch
	width := 1
	if batch.Parallel {
		width = max(1, batch.MaxConcurrent)
	}
	stopped := b.failed > 0 && batch.ErrorHandling != Continue
	for !stopped && b.busy < width {
		for b.next < len(b.items) && b.items[b.next].phase != itemPending {
			b.next++
		}
		if b.next == len(b.items) {
			break
		}
		b.items[b.next] = itemState{itemBusy, 1}
		b.busy++
		p.offer(i, Step{Do: Attempt, Iteration: b.iteration, Item: b.next, Attempt: 1})
	}
	if b.busy == 0 && (stopped || b.ended == len(b.items)) {
		p.offer(i, Step{Do: FanIn, Iteration: b.iteration, Item: -1, Attempt: b.attempt})
	}
}
