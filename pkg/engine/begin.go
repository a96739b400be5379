package engine

import (
	"context"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// begin brings a step on its way. What is to be executed by a goroutine is given back as a task.
func (e *execution) begin(d due) *task {
	l, s := d.l, d.step
	a := l.running[s.Node]
	if a == nil {
		if e.halted(l) {
			e.closeFrame(l)
			return nil
		}
		a = e.activate(l, s.Node)
	}
	if s.Do != plan.Ask {
		a.clock()
	}
	switch s.Do {
	case plan.Ask:
		e.ask(l, a)
	case plan.FanOut:
		e.fanOut(l, a, s)
	case plan.FanIn:
		e.fanIn(l, a, s)
	case plan.Attempt:
		if s.Item >= 0 {
			return e.attemptItem(l, a, s)
		}
		return e.attempt(l, a, s)
	}
	return nil
}

// drop lets go of a step that comes too late, because the run is over, and of its node when nothing of it runs.
func (e *execution) drop(d due) {
	a := d.l.running[d.step.Node]
	if a != nil && a.batch != nil && d.step.Attempt > 1 { // an item that waited to be tried again
		a.batch.busy--
	}
	if a != nil && (a.batch == nil || a.batch.busy == 0) {
		e.cancel(d.l, a)
	}
	e.closeFrame(d.l)
}

// newNodeRun is a node of a frame that may begin.
func (e *execution) newNodeRun(l *frame, id string) *nodeRun {
	n, _ := l.Workflow.Node(id)
	a := &nodeRun{node: n, kind: l.Kinds[n.Type], began: time.Now(), ctx: l.ctx, cancel: func() {}}
	if n.Loop != nil {
		a.iteration = 1
	}
	if n.Approval != nil && e.From != nil {
		if old, ok := e.From.answers[l.path(id)]; ok && !plan.Denies(old.Answer) {
			a.answer = rawjson.Quote(old.Answer)
		}
	}
	return a
}

// activate makes a node one of those that have begun.
func (e *execution) activate(l *frame, id string) *nodeRun {
	a := l.parked[id]
	delete(l.parked, id)
	if a == nil {
		a = e.newNodeRun(l, id)
	}
	l.running[id] = a
	return a
}

// clock starts a node's time, which a person who is asked does not use up.
func (a *nodeRun) clock() {
	if t := a.node.Timeout; t != nil && t.Node > 0 && !a.timed {
		a.timed = true
		a.ctx, a.cancel = context.WithTimeoutCause(a.ctx, time.Duration(t.Node), &node.TimeoutError{After: time.Duration(t.Node)})
	}
}

// attempt prepares a node, and starts an attempt at it.
func (e *execution) attempt(l *frame, a *nodeRun, s plan.Step) *task {
	if a.ctx.Err() != nil {
		e.refuse(l, a, s, e.timeoutFault(a.ctx))
		return nil
	}
	if s.Attempt == 1 {
		if stale := e.stale(l, a); len(stale) > 0 {
			e.refresh(l, a, s, stale)
			return nil
		}
		p, err := e.bind(l, a, e.binding(l, a))
		if err != nil {
			e.refuse(l, a, s, err)
			return nil
		}
		a.bound = p
		if s.Iteration <= 1 {
			a.digest = p.digest
		}
		if e.fromCache(l, a) {
			return nil
		}
		e.count(a)
	}
	t := &task{l: l, a: a, step: s, bound: a.bound, began: time.Now(), span: e.span(l).Child()}
	ev := e.started(a, s)
	ev.SpanID = t.span.ID
	if l.owner != nil {
		ev.ParentSpanID = t.span.Parent
	}
	e.record(l, ev)
	return e.start(t)
}

// attemptItem prepares an item of a batch, and starts an attempt at it.
func (e *execution) attemptItem(l *frame, a *nodeRun, s plan.Step) *task {
	t := &task{l: l, a: a, step: s, began: time.Now(), span: a.batch.span.Child()}
	if s.Attempt == 1 {
		a.batch.busy++
	}
	it := &a.batch.ends[s.Item]
	var err error
	if it.bound == nil {
		it.bound, err = e.bindItem(l, a, s.Item)
	}
	if a.ctx.Err() != nil {
		err = e.timeoutFault(a.ctx)
	}
	if err != nil {
		e.finish(&result{task: t, node: failure(err), refused: true})
		return nil
	}
	it.digest, t.bound = it.bound.digest, it.bound
	return e.start(t)
}

// start gives a task to a goroutine, or makes a frame of its sub-workflow.
func (e *execution) start(t *task) *task {
	if e.journalErr != nil {
		return nil
	}
	e.noteUnresolved(t)
	if t.a.kind.Name == workflow.SubType {
		e.openFrame(t)
		return nil
	}
	if t.step.Item < 0 {
		t.tookSlot = true
		e.slots++
	}
	return t
}

// refuse fails a node that cannot be tried.
func (e *execution) refuse(l *frame, a *nodeRun, s plan.Step, err error) {
	if !a.counted {
		e.write(l, e.started(a, s))
	}
	e.count(a)
	e.finish(&result{task: &task{l: l, a: a, step: s, began: time.Now()}, node: failure(err), refused: true})
}

// count makes a node one of those that were executed.
func (e *execution) count(a *nodeRun) {
	if !a.counted {
		a.counted = true
		e.executed++
	}
}

// started is the event of an attempt that begins.
func (e *execution) started(a *nodeRun, s plan.Step) *event.Event {
	ev := &event.Event{Event: event.NodeStarted, Node: a.node.ID, Type: a.node.Type, Attempt: s.Attempt, Iteration: s.Iteration}
	if a.kind.MCP != nil {
		ev.MCP = &event.MCP{Server: a.kind.MCP.Server, Tool: a.kind.MCP.Tool}
	}
	return ev
}
