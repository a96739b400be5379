package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// finish ends a task.
func (e *execution) finish(r *result) {
	nr := r.run
	if r.usesSlot {
		e.slots--
	}
	if nr.kind.Program != "" && r.node.Ask == nil { // only programs report a usage, in the end the whole of it
		usage := r.node.Outputs
		if r.usage != nil {
			usage = r.usage
		}
		if last := e.spending.ended(r.task); last != nil && !gjson.GetBytes(usage, "llm_usage").IsObject() {
			usage = last
		}
		e.addUsage(usage)
	}
	if r.step.Do == plan.Attempt && (!nr.isSub() || r.refused) {
		nr.ranAnew()
	}
	r.stopped = r.stopped || (e.over(nr.frame) || failedBeside(nr.ctx) != "") && r.node.Fault != nil && r.step.Do == plan.Attempt
	for _, why := range r.node.Warnings {
		e.warnings.add(fmt.Sprintf("node %s: %s", nr.path(), fault.Truncate(why, maxMessage)))
	}
	switch {
	case r.err != nil:
		e.abort(r.err)
	case r.step.Item >= 0:
		e.noteUnasked(r)
		e.finishItem(r)
	case r.stopped:
		e.cancel(nr)
	case r.node.Fault != nil:
		e.fail(r)
	case r.node.Ask != nil:
		e.askItself(r)
	default:
		e.succeed(r)
	}
	e.enqueueReady(nr.frame)
	e.closeFrame(nr.frame)
}

// addUsage adds the output llm_usage, if there is one, and stops the run if its budget is used up.
func (e *execution) addUsage(outputs json.RawMessage) {
	calls := 0
	if e.total != nil {
		calls = e.total.Calls
	}
	if e.total = e.total.Add(outputs); e.total == nil || e.total.Calls == calls {
		return
	}
	now := *e.total
	now.Models = slices.Clone(now.Models)
	e.usage = &now
	e.spending.count(&now)
}

// askItself asks what a node asks. Its time begins anew with the answer.
func (e *execution) askItself(r *result) {
	nr, asked := r.run, r.node.Ask
	nr.cancel()
	nr.ctx, nr.cancel, nr.ends = nr.frame.ctx, func() {}, time.Time{}
	state, redacted, err := e.store.keep(event.Escape(asked.State))
	if err != nil {
		e.abort(err)
		return
	}
	nr.reply = nil
	q := &Question{Node: nr.path(), Text: fault.Truncate(asked.Text, maxQuestion), Choices: asked.Choices, AnyAnswer: asked.AnyAnswer, Form: asked.Form, state: state}
	if redacted {
		q.secretState = asked.State
	}
	e.askAbout(nr, q)
}

// noteUnasked notes that an item of a batch asks a person, which only a node as a whole can. Its outputs are what it has until then.
func (e *execution) noteUnasked(r *result) {
	if r.node.Ask == nil {
		return
	}
	if r.node.Ask.Form != nil && r.node.Fault == nil { // without the answer it has done nothing
		r.node.Action = workflow.ActionError
		r.node.Fault = fault.New(fault.Execution, "%s An item of a batch cannot ask a person", fault.Truncate(r.node.Ask.Text, maxUnasked))
	} else {
		e.warnings.degrade(r.task, fmt.Sprintf("node %s: item %d asks a person, which an item of a batch cannot: %s", r.run.path(), r.step.Item,
			fault.Truncate(e.store.redactor.Text(r.node.Ask.Text), maxUnasked)))
	}
}

// maxUnasked is the most bytes of a question in a warning.
const maxUnasked = 500

// drop gives up a step that comes too late because the run is over, and cancels its node unless a part of that still runs.
func (e *execution) drop(d dueStep) {
	nr := d.frame.running[d.step.Node]
	if nr != nil && nr.batch != nil && d.step.Attempt > 1 { // an item that waited to be tried again
		nr.batch.busy--
	}
	if nr != nil && (nr.batch == nil || nr.batch.busy == 0) {
		e.cancel(nr)
	}
	e.closeFrame(d.frame)
}

// cancel settles a node that was stopped before its end.
func (e *execution) cancel(nr *nodeRun) {
	e.interrupted = true
	e.settle(nr, &event.Event{Event: event.NodeCancelled, Node: nr.id(), Cause: e.causeIn(nr.frame)}, false)
}

// succeed settles a node that succeeded, or begins the next iteration of its loop.
func (e *execution) succeed(r *result) {
	nr, fr, id := r.run, r.run.frame, r.run.id()
	v := r.value()
	ms := milliseconds(e.clock.since(r.began))
	if nr.node.Loop != nil {
		fr.set(id, v)
		next, err := e.fan.nextIteration(nr)
		switch {
		case err != nil:
			r.node, r.refused = &node.Result{Action: workflow.ActionError, Fault: fault.From(err), Outputs: r.node.Outputs}, true
			e.fail(r)
			return
		case next.stopped == "":
			e.record(fr, &event.Event{
				Event: event.IterationCompleted, Node: id, Iteration: nr.iteration, Action: r.node.Action, Outputs: r.kept, InputDigest: nr.bound.digest,
				Redacted: r.redacted, DurationMS: &ms, Attempt: r.step.Attempt, Warnings: e.store.warnings(r.degradations), Note: e.note(r),
			})
			nr.advance(next)
			if next.wait > 0 {
				nr.delays = map[int]time.Duration{-1: next.wait}
			}
			return
		}
		if v, err = e.endLoop(r, v, next.stopped); err != nil {
			e.abort(err)
			return
		}
	}
	if !fr.plan.Takes(id, r.node.Action) {
		r.node = &node.Result{Action: workflow.ActionError, Fault: untakenFault(id, r.node.Action, fr.plan.Actions(id)), Outputs: r.node.Outputs}
		r.refused, r.unhandled = true, true
		e.fail(r)
		return
	}
	if nr.node.Loop != nil || nr.node.Batch != nil || r.step.Attempt > 1 {
		ms = milliseconds(e.clock.since(nr.began))
	}
	fr.set(id, v)
	if nr.node.Batch == nil && e.outputCache.cacheable(r, nr.degradations) {
		e.outputCache.put(nr, nr.digest, v.raw)
	}
	ev := &event.Event{
		Event: event.NodeCompleted, Node: id, Action: r.node.Action, Outputs: r.kept, InputDigest: nr.digest,
		Redacted: r.redacted, DurationMS: &ms, Attempt: r.step.Attempt, Iteration: r.step.Iteration, Warnings: e.store.warnings(nr.degradations),
		Note: e.note(r),
	}
	if nr.node.Loop != nil {
		ev.IterationDigest = nr.bound.digest
	}
	if nr.batch != nil && nr.batch.fromCache() {
		ev.Event, ev.Attempt, ev.Cached, ev.FromRun = event.NodeReused, 0, true, nr.batch.cachedFrom
	}
	e.settle(nr, ev, true)
	if action := r.node.Action; action != workflow.ActionDefault && action != workflow.EndOfBranch && !slices.Contains(fr.plan.Actions(id), action) {
		e.warnings.add(fmt.Sprintf("node %s ended with action %q, which no edge takes", nr.path(), action))
	}
}

// untakenFault returns the fault of a node that ended with an action which none of its edges takes.
func untakenFault(id, action string, edges []string) *fault.Fault {
	f := fault.New(fault.Execution, "Node %q ended with action %q, which no edge takes; its edges are for: %s", id, action, strings.Join(edges, ", "))
	f.Offer(action, edges)
	return f.Suggest("Add an edge for the action %s, to a node or to %s to end the branch, or correct what the node does", action, workflow.EndOfBranch)
}

// fail settles a node that failed, unless another attempt follows.
func (e *execution) fail(r *result) {
	nr, fr, id := r.run, r.run.frame, r.run.id()
	f := e.faultOf(r)
	ms := milliseconds(e.clock.since(r.began))
	ev := &event.Event{
		Event: event.NodeFailed, Node: id, Error: f, Attempt: r.step.Attempt, Iteration: r.step.Iteration,
		Outputs: r.kept, Redacted: r.redacted, DurationMS: &ms,
	}
	if e.retry(r, ev) {
		e.record(fr, ev)
		return
	}
	retry, handled := false, fr.plan.Handles(id) && !r.unhandled
	ev.WillRetry, ev.Handled = &retry, &handled
	if handled {
		ev.InputDigest = nr.digest
		v := r.value()
		v.raw, v.failed, ev.Outputs = withError(v.raw, f.Message), true, withError(r.kept, f.Message)
		fr.set(id, v)
		e.warnings.degradeByFailure(fr.owner, fmt.Sprintf("node %s failed and an error edge took it: %s", f.Node, f.Message))
	} else {
		delete(fr.values, id) // the outputs of an earlier iteration
		if fr.failure == nil {
			fr.failure, fr.failedNode = f, id
		}
		if e.StopOnFailure && !e.KeepGoing {
			e.stopBeside(fr.stop, nr.path())
		}
		if e.halted(fr) {
			e.asker.withdraw(fr)
		}
	}
	e.settle(nr, ev, handled)
}

// stopBeside stops what runs beside a node or an item that failed. Workflows in which only questions are open have nothing that runs and
// would end them.
func (e *execution) stopBeside(stop context.CancelCauseFunc, path string) {
	stop(&failureError{path})
	for _, fr := range e.asker.frames(nil) {
		if fr.owner != nil && failedBeside(fr.ctx) != "" {
			e.asker.withdraw(fr)
			e.closeFrame(fr)
		}
	}
}

// note returns a result's note as it is written.
func (e *execution) note(r *result) string {
	return fault.Truncate(e.store.redactor.Text(r.node.Note), maxMessage)
}

// faultOf returns the fault of a failed task as it is written.
func (e *execution) faultOf(r *result) *fault.Fault {
	f := *e.store.fault(r.node.Fault)
	f.Node = r.run.path()
	r.run.frame.explain(&f)
	return &f
}

// retry reports whether another attempt follows a failed one, and announces it in the event of the failure.
func (e *execution) retry(r *result, ev *event.Event) bool {
	nr := r.run
	if r.refused || nr.ctx.Err() != nil || nr.node.Batch != nil && r.step.Item < 0 {
		return false
	}
	policy := plan.Retries(nr.node, r.step.Attempt, r.node.Fault)
	if policy == nil {
		return false
	}
	draw := float64(e.random()>>11) / (1 << 53) // from 0 to 1
	delay := plan.Jittered(policy, plan.Delay(policy, r.step.Attempt), draw)
	again, ms := true, milliseconds(delay)
	ev.WillRetry, ev.RetryInMS = &again, &ms
	if nr.delays == nil {
		nr.delays = map[int]time.Duration{}
	}
	nr.delays[r.step.Item] = delay
	return true
}

// finishItem ends an attempt at an item of a batch: the item is settled, or tried again.
func (e *execution) finishItem(r *result) {
	nr, fr, i := r.run, r.run.frame, r.step.Item
	it := &nr.batch.states[i]
	it.took = e.clock.since(r.began)
	ms := milliseconds(it.took)
	nr.batch.busy--
	switch {
	case r.node.Fault == nil:
		it.end(r, e.record(fr, &event.Event{
			Event: event.ItemCompleted, Node: nr.id(), Item: &i, SpanID: r.span.ID, Attempt: r.step.Attempt, Outputs: r.kept, InputDigest: it.digest,
			Redacted: r.redacted, DurationMS: &ms, Warnings: e.store.warnings(r.degradations), Note: e.note(r),
		}))
		if e.outputCache.cacheable(r, r.degradations) {
			digest := it.digest
			e.async(func() { e.outputCache.put(nr, digest, r.kept) }, func() {}) // items that end together must not wait for each other
		}
	case r.stopped && failedBeside(nr.ctx) != "" && !e.over(fr): // another item failed
		e.record(fr, &event.Event{Event: event.NodeCancelled, Node: nr.id(), Item: &i, SpanID: r.span.ID, Cause: wholePath + failedBeside(nr.ctx)})
	case r.stopped:
		nr.batch.interrupted = true
	default:
		f := e.faultOf(r)
		ev := &event.Event{
			Event: event.NodeFailed, Node: nr.id(), Item: &i, SpanID: r.span.ID, Attempt: r.step.Attempt, Error: f, Outputs: r.kept, Redacted: r.redacted, DurationMS: &ms,
		}
		if e.retry(r, ev) {
			nr.batch.busy++
			e.record(fr, ev)
			break
		}
		no := false
		ev.WillRetry, it.fault = &no, f
		it.end(r, e.record(fr, ev))
		if e.StopOnFailure && nr.node.Batch.ErrorHandling != plan.Continue && !fr.plan.Handles(nr.id()) {
			e.stopBeside(nr.batch.stop, resume.Item(nr.path(), i))
		}
	}
	if nr.batch.busy == 0 && (nr.batch.interrupted || e.over(fr)) {
		e.cancel(nr)
	}
}

// settle records a node's last event. resumable reports whether a later run can resume from it.
func (e *execution) settle(nr *nodeRun, ev *event.Event, resumable bool) {
	fr, id := nr.frame, nr.id()
	if fr.running[id] == nr {
		delete(fr.running, id)
	}
	nr.cancel()
	if nr.holdsSlot {
		nr.holdsSlot = false
		e.slots--
	}
	if !fr.anew[id] && nr.after != "" {
		fr.anewBefore[id] = nr.after
	}
	if resumable && !fr.settled[id] {
		fr.settled[id] = true
		fr.order = append(fr.order, id)
	}
	if delete(fr.written, id); resumable && ev.Redacted {
		fr.written[id] = orEmpty(ev.Outputs)
	}
	e.record(fr, ev)
	e.release(fr, id, resumable)
}

// closeFrame ends the frame of a sub-workflow, and its task, once nothing of it runs and nothing more may start.
func (e *execution) closeFrame(fr *frame) {
	t := fr.owner
	if t == nil || t.child != fr || fr.entering || !fr.plan.Done() && !e.halted(fr) {
		return
	}
	for _, nr := range fr.running {
		if !e.asker.open[nr] {
			return
		}
	}
	e.asker.withdraw(fr)
	t.child = nil
	fr.stop(nil)
	fr.cancel()
	cause := fr.failedNode
	if cause == "" {
		cause = e.causeIn(fr)
	}
	for _, ev := range fr.plan.Halt(cause) {
		e.write(fr, ev)
	}
	e.finish(e.subResult(fr))
}

// endLoop adds to the outputs of a loop's last iteration why it is the last.
func (e *execution) endLoop(r *result, v value, stopped string) (value, error) {
	if stopped == stoppedByLimit {
		e.warnings.add(fmt.Sprintf("node %s: its loop stopped after %d iterations, its max_iterations", r.run.path(), r.run.iteration))
	}
	whole, err := e.store.inline(v.raw)
	if err != nil {
		return v, err
	}
	v.raw = with(whole, "loop_stopped", rawjson.Quote(stopped))
	r.kept, _, err = e.store.keep(v.raw)
	return v, err
}
