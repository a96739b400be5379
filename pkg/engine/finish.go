package engine

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// finish settles a task that has ended, and makes ready what may go on because of it.
func (e *execution) finish(r *result) {
	if r.tookSlot {
		e.slots--
	}
	l, a := r.l, r.a
	if a.kind.Program != "" { // which alone tell of a usage
		e.usage = e.usage.Add(r.node.Outputs)
	}
	r.stopped = r.stopped || e.ctx.Err() != nil && r.node.Fault != nil
	switch {
	case r.err != nil:
		e.abort(r.err)
	case r.step.Item >= 0:
		e.finishItem(r)
	case r.stopped:
		e.cancel(l, a)
	case r.node.Fault != nil:
		e.fail(r)
	default:
		e.succeed(r)
	}
	e.enqueueReady(l)
	e.closeFrame(l)
}

// cancel settles a node that has begun and was stopped before its end.
func (e *execution) cancel(l *frame, a *nodeRun) {
	e.interrupted = true
	e.settle(l, a, &event.Event{Event: event.NodeCancelled, Node: a.node.ID, Cause: e.stopCause()}, false)
}

// succeed settles a node that succeeded, or lets its loop go on.
func (e *execution) succeed(r *result) {
	l, a := r.l, r.a
	v := valueOf(r)
	ms := milliseconds(r.began)
	if a.node.Loop != nil {
		l.set(a.node.ID, v)
		again, stopped, err := e.nextIteration(l, a)
		if err != nil {
			r.node, r.refused = &node.Result{Action: workflow.ActionError, Fault: fault.From(err), Outputs: r.node.Outputs}, true
			e.fail(r)
			return
		}
		if again {
			e.record(l, &event.Event{
				Event: event.IterationCompleted, Node: a.node.ID, Iteration: a.iteration, Action: r.node.Action, Outputs: r.kept,
				InputDigest: a.bound.digest, Redacted: r.redacted, DurationMS: &ms, Attempt: r.step.Attempt, Warnings: e.warningTexts(r.degradations),
			})
			a.iteration++
			return
		}
		if v, err = e.endLoop(r, v, stopped); err != nil {
			e.abort(err)
			return
		}
		ms = milliseconds(a.began)
	}
	if a.node.Batch != nil || r.step.Attempt > 1 {
		ms = milliseconds(a.began)
	}
	l.set(a.node.ID, v)
	e.store(a, r, v.raw)
	e.settle(l, a, &event.Event{
		Event: event.NodeCompleted, Node: a.node.ID, Action: r.node.Action, Outputs: r.kept, InputDigest: a.digest,
		Redacted: r.redacted, DurationMS: &ms, Attempt: r.step.Attempt, Iteration: r.step.Iteration, Warnings: e.warningTexts(a.degradations),
	}, true)
	if action := r.node.Action; action != workflow.ActionDefault && !l.plan.Routes(a.node.ID, action) {
		e.warn(fmt.Sprintf("node %s ended with action %q, which no edge takes", l.path(a.node.ID), action))
	}
}

// endLoop adds to the outputs of a loop's last iteration why it was the last.
func (e *execution) endLoop(r *result, v value, stopped string) (value, error) {
	if stopped == stoppedByMost {
		e.warn(fmt.Sprintf("node %s: its loop stopped after %d iterations, the most it may have", r.l.path(r.a.node.ID), r.a.iteration))
	}
	whole, err := e.opened(v.raw)
	if err != nil {
		return v, err
	}
	v.raw = with(whole, "loop_stopped", rawjson.Quote(stopped))
	r.kept, _, err = e.keep(v.raw)
	return v, err
}

// What a loop says of why it stopped.
const (
	stoppedByCondition = "condition"
	stoppedByMost      = "max_iterations"
)

// nextIteration says whether a node's loop goes on, and works out what the next iteration is given; else it says why it stops.
func (e *execution) nextIteration(l *frame, a *nodeRun) (again bool, stopped string, err error) {
	loop := a.node.Loop
	b := e.binding(l, a)
	b.Locals = a.bound.Locals()
	condition, path := loop.While, "loop.while"
	if loop.Until != "" {
		condition, path = loop.Until, "loop.until"
	}
	value, err := b.Value(a.node, path, rawjson.Quote(condition))
	if err != nil {
		return false, "", err
	}
	switch holds := template.Truth(value); {
	case plan.Again(loop, a.iteration, holds):
	case plan.Again(loop, 0, holds): // were it not for the most iterations
		return false, stoppedByMost, nil
	default:
		return false, stoppedByCondition, nil
	}
	carry := map[string]json.RawMessage{}
	for name, raw := range loop.Carry {
		if carry[name], err = b.Value(a.node, rawjson.JoinPath("loop.carry", name), raw); err != nil {
			return false, "", err
		}
	}
	a.carry = carry
	return true, "", nil
}

// fail tries a node that failed again, or settles it.
func (e *execution) fail(r *result) {
	l, a := r.l, r.a
	f := *e.redacted(r.node.Fault)
	f.Node = l.path(a.node.ID)
	ms := milliseconds(r.began)
	ev := &event.Event{
		Event: event.NodeFailed, Node: a.node.ID, Error: &f, Attempt: r.step.Attempt, Iteration: r.step.Iteration,
		Outputs: r.kept, Redacted: r.redacted, DurationMS: &ms,
	}
	if e.retry(r, ev) {
		e.record(l, ev)
		return
	}
	retry, handled := false, l.plan.Handles(a.node.ID)
	ev.WillRetry, ev.Handled = &retry, &handled
	if handled {
		ev.InputDigest = a.digest
		v := valueOf(r)
		v.raw, v.failed, ev.Outputs = telling(v.raw, f.Message), true, telling(r.kept, f.Message)
		l.set(a.node.ID, v)
		e.degrade(l.owner, fmt.Sprintf("node %s failed and an error edge took it: %s", f.Node, f.Message))
	} else {
		delete(l.values, a.node.ID) // what an earlier iteration put out
		if l.root == nil {
			l.root, l.failedNode = &f, a.node.ID
		}
		if e.halted(l) {
			e.withdraw(l)
		}
	}
	e.settle(l, a, ev, handled)
}

// maxFault is how many bytes the fault of a node has in its event, and in what is made of it, at most.
const maxFault = 32 << 10

// redacted is a fault as it is written: without secrets, and no longer than anybody reads.
func (e *execution) redacted(f *fault.Fault) *fault.Fault {
	return e.Redactor.Fault(f).LimitBytes(maxFault)
}

// settle writes a node's last event. checkpoint says that a later run can go on from it.
func (e *execution) settle(l *frame, a *nodeRun, ev *event.Event, checkpoint bool) {
	id := a.node.ID
	if l.running[id] == a {
		delete(l.running, id)
	}
	a.cancel()
	if a.holdsSlot {
		a.holdsSlot = false
		e.slots--
	}
	if checkpoint && !l.settled[id] {
		l.settled[id] = true
		l.order = append(l.order, id)
	}
	e.record(l, ev)
	e.release(l, id, checkpoint)
}

func milliseconds(since time.Time) float64 {
	return float64(time.Since(since).Microseconds()) / 1000
}
