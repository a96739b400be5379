package engine

import (
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
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// settler ends tasks, nodes and frames: it records how they ended, and enqueues what may begin because of it.
type settler struct {
	sched     *scheduler
	rec       *recorder
	store     *store
	stop      *stopState
	counts    *counts
	spending  *spending
	warnings  *warnings
	binder    *binder
	cache     *outputCache
	children  *children
	questions *questions
	refresher *refresher
	clock     *clock
	random    func() uint64
	// ask asks the question of a node.
	ask func(nr *nodeRun, q *Question)
}

// finish ends a task.
func (s *settler) finish(r *result) {
	nr := r.run
	if r.usesSlot {
		s.sched.slots--
	}
	if nr.kind.Program != "" && r.node.Ask == nil { // only programs report a usage, in the end the whole of it
		usage := r.node.Outputs
		if r.usage != nil {
			usage = r.usage
		}
		if last := s.spending.ended(r.task); last != nil && !gjson.GetBytes(usage, "llm_usage").IsObject() {
			usage = last
		}
		s.addUsage(usage)
	}
	if r.step.Do == plan.Attempt && (!nr.isSub() || r.refused) {
		nr.ranAnew()
	}
	r.stopped = r.stopped || (s.stop.over(nr.frame) || failedBeside(nr.ctx) != "") && r.node.Fault != nil && r.step.Do == plan.Attempt
	for _, why := range r.node.Warnings {
		s.warnings.add(fmt.Sprintf("node %s: %s", nr.path(), fault.Truncate(why, maxMessage)))
	}
	switch {
	case r.err != nil:
		s.rec.abort(r.err)
	case r.step.Item >= 0:
		s.noteUnasked(r)
		s.finishItem(r)
	case r.stopped:
		s.cancel(nr)
	case r.node.Fault != nil:
		s.fail(r)
	case r.node.Ask != nil:
		s.question(r)
	default:
		s.succeed(r)
	}
	s.sched.enqueueReady(nr.frame)
	s.closeFrame(nr.frame)
}

// addUsage adds the output llm_usage, if there is one, and stops the run if its budget is used up.
func (s *settler) addUsage(outputs json.RawMessage) {
	calls := 0
	if s.counts.usage != nil {
		calls = s.counts.usage.Calls
	}
	if s.counts.usage = s.counts.usage.Add(outputs); s.counts.usage == nil || s.counts.usage.Calls == calls {
		return
	}
	now := *s.counts.usage
	now.Models = slices.Clone(now.Models)
	s.rec.usage = &now
	s.spending.count(&now)
}

// question asks what a node asks. Its time begins anew with the answer.
func (s *settler) question(r *result) {
	nr, asked := r.run, r.node.Ask
	nr.cancel()
	nr.ctx, nr.cancel, nr.ends = nr.frame.ctx, func() {}, time.Time{}
	state, redacted, err := s.store.keep(event.Escape(asked.State))
	if err != nil {
		s.rec.abort(err)
		return
	}
	nr.reply = nil
	q := &Question{Node: nr.path(), Text: fault.Truncate(asked.Text, maxQuestion), Choices: asked.Choices, AnyAnswer: asked.AnyAnswer, Form: asked.Form, state: state}
	if redacted {
		q.secretState = asked.State
	}
	s.ask(nr, q)
}

// noteUnasked notes that an item of a batch asks a person, which only a node as a whole can. Its outputs are what it has until then.
func (s *settler) noteUnasked(r *result) {
	if r.node.Ask == nil {
		return
	}
	if r.node.Ask.Form != nil && r.node.Fault == nil { // without the answer it has done nothing
		r.node.Action = workflow.ActionError
		r.node.Fault = fault.New(fault.Execution, "%s An item of a batch cannot ask a person", fault.Truncate(r.node.Ask.Text, maxUnasked))
	} else {
		s.warnings.degrade(r.task, fmt.Sprintf("node %s: item %d asks a person, which an item of a batch cannot: %s", r.run.path(), r.step.Item,
			fault.Truncate(s.store.redactor.Text(r.node.Ask.Text), maxUnasked)))
	}
}

// maxUnasked is the most bytes of a question in a warning.
const maxUnasked = 500

// drop gives up a step that comes too late because the run is over, and cancels its node unless a part of that still runs.
func (s *settler) drop(d dueStep) {
	nr := d.frame.running[d.step.Node]
	if nr != nil && nr.batch != nil && d.step.Attempt > 1 { // an item that waited to be tried again
		nr.batch.busy--
	}
	if nr != nil && (nr.batch == nil || nr.batch.busy == 0) {
		s.cancel(nr)
	}
	s.closeFrame(d.frame)
}

// cancel settles a node that was stopped before its end.
func (s *settler) cancel(nr *nodeRun) {
	s.stop.interrupted = true
	s.settle(nr, &event.Event{Event: event.NodeCancelled, Node: nr.id(), Cause: s.stop.causeIn(nr.frame)}, false)
}

// succeed settles a node that succeeded, or begins the next iteration of its loop.
func (s *settler) succeed(r *result) {
	nr, fr, id := r.run, r.run.frame, r.run.id()
	v := r.value()
	ms := milliseconds(s.clock.since(r.began))
	if nr.node.Loop != nil {
		fr.set(id, v)
		next, err := s.binder.nextIteration(nr)
		switch {
		case err != nil:
			r.node, r.refused = &node.Result{Action: workflow.ActionError, Fault: fault.From(err), Outputs: r.node.Outputs}, true
			s.fail(r)
			return
		case next.stopped == "":
			s.rec.record(fr, &event.Event{
				Event: event.IterationCompleted, Node: id, Iteration: nr.iteration, Action: r.node.Action, Outputs: r.kept, InputDigest: nr.bound.digest,
				Redacted: r.redacted, DurationMS: &ms, Attempt: r.step.Attempt, Warnings: s.store.warnings(r.degradations), Note: s.note(r),
			})
			nr.advance(next)
			if next.wait > 0 {
				nr.delays = map[int]time.Duration{-1: next.wait}
			}
			return
		}
		if v, err = s.endLoop(r, v, next.stopped); err != nil {
			s.rec.abort(err)
			return
		}
	}
	if !fr.plan.Takes(id, r.node.Action) {
		r.node = &node.Result{Action: workflow.ActionError, Fault: untakenFault(id, r.node.Action, fr.plan.Actions(id)), Outputs: r.node.Outputs}
		r.refused, r.unhandled = true, true
		s.fail(r)
		return
	}
	if nr.node.Loop != nil || nr.node.Batch != nil || r.step.Attempt > 1 {
		ms = milliseconds(s.clock.since(nr.began))
	}
	fr.set(id, v)
	if nr.node.Batch == nil && s.cache.cacheable(r, nr.degradations) {
		s.cache.put(nr, nr.digest, v.raw)
	}
	ev := &event.Event{
		Event: event.NodeCompleted, Node: id, Action: r.node.Action, Outputs: r.kept, InputDigest: nr.digest,
		Redacted: r.redacted, DurationMS: &ms, Attempt: r.step.Attempt, Iteration: r.step.Iteration, Warnings: s.store.warnings(nr.degradations),
		Note: s.note(r),
	}
	if nr.node.Loop != nil {
		ev.IterationDigest = nr.bound.digest
	}
	if nr.batch != nil && nr.batch.fromCache() {
		ev.Event, ev.Attempt, ev.Cached, ev.FromRun = event.NodeReused, 0, true, nr.batch.cachedFrom
	}
	s.settle(nr, ev, true)
	if action := r.node.Action; action != workflow.ActionDefault && action != workflow.EndOfBranch && !slices.Contains(fr.plan.Actions(id), action) {
		s.warnings.add(fmt.Sprintf("node %s ended with action %q, which no edge takes", nr.path(), action))
	}
}

// untakenFault returns the fault of a node that ended with an action which none of its edges takes.
func untakenFault(id, action string, edges []string) *fault.Fault {
	f := fault.New(fault.Execution, "Node %q ended with action %q, which no edge takes; its edges are for: %s", id, action, strings.Join(edges, ", "))
	f.Offer(action, edges)
	return f.Suggest("Add an edge for the action %s, to a node or to %s to end the branch, or correct what the node does", action, workflow.EndOfBranch)
}

// fail settles a node that failed, unless another attempt follows.
func (s *settler) fail(r *result) {
	nr, fr, id := r.run, r.run.frame, r.run.id()
	f := s.faultOf(r)
	ms := milliseconds(s.clock.since(r.began))
	ev := &event.Event{
		Event: event.NodeFailed, Node: id, Error: f, Attempt: r.step.Attempt, Iteration: r.step.Iteration,
		Outputs: r.kept, Redacted: r.redacted, DurationMS: &ms,
	}
	if s.retry(r, ev) {
		s.rec.record(fr, ev)
		return
	}
	retry, handled := false, fr.plan.Handles(id) && !r.unhandled
	ev.WillRetry, ev.Handled = &retry, &handled
	if handled {
		ev.InputDigest = nr.digest
		v := r.value()
		v.raw, v.failed, ev.Outputs = withError(v.raw, f.Message), true, withError(r.kept, f.Message)
		fr.set(id, v)
		s.warnings.degradeByFailure(fr.owner, fmt.Sprintf("node %s failed and an error edge took it: %s", f.Node, f.Message))
	} else {
		delete(fr.values, id) // the outputs of an earlier iteration
		if fr.failure == nil {
			fr.failure, fr.failedNode = f, id
		}
		if s.stop.onFailure && !s.stop.keepGoing {
			fr.stop(&failureError{nr.path()})
		}
		if s.stop.halted(fr) {
			s.questions.withdraw(fr)
		}
	}
	s.settle(nr, ev, handled)
}

// note returns a result's note as it is written.
func (s *settler) note(r *result) string {
	return fault.Truncate(s.store.redactor.Text(r.node.Note), maxMessage)
}

// faultOf returns the fault of a failed task as it is written.
func (s *settler) faultOf(r *result) *fault.Fault {
	f := *s.store.fault(r.node.Fault)
	f.Node = r.run.path()
	r.run.frame.explain(&f)
	return &f
}

// retry reports whether another attempt follows a failed one, and announces it in the event of the failure.
func (s *settler) retry(r *result, ev *event.Event) bool {
	nr := r.run
	if r.refused || nr.ctx.Err() != nil || nr.node.Batch != nil && r.step.Item < 0 {
		return false
	}
	policy := plan.Retries(nr.node, r.step.Attempt, r.node.Fault)
	if policy == nil {
		return false
	}
	draw := float64(s.random()>>11) / (1 << 53) // from 0 to 1
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
func (s *settler) finishItem(r *result) {
	nr, fr, i := r.run, r.run.frame, r.step.Item
	it := &nr.batch.states[i]
	it.took = s.clock.since(r.began)
	ms := milliseconds(it.took)
	nr.batch.busy--
	switch {
	case r.node.Fault == nil:
		it.end(r, s.rec.record(fr, &event.Event{
			Event: event.ItemCompleted, Node: nr.id(), Item: &i, SpanID: r.span.ID, Attempt: r.step.Attempt, Outputs: r.kept, InputDigest: it.digest,
			Redacted: r.redacted, DurationMS: &ms, Warnings: s.store.warnings(r.degradations), Note: s.note(r),
		}))
		if s.cache.cacheable(r, r.degradations) {
			digest := it.digest
			s.sched.async(func() { s.cache.put(nr, digest, r.kept) }, func() {}) // items that end together must not wait for each other
		}
	case r.stopped && failedBeside(nr.ctx) != "" && !s.stop.over(fr): // another item failed
		s.rec.record(fr, &event.Event{Event: event.NodeCancelled, Node: nr.id(), Item: &i, SpanID: r.span.ID, Cause: wholePath + failedBeside(nr.ctx)})
	case r.stopped:
		nr.batch.interrupted = true
	default:
		f := s.faultOf(r)
		ev := &event.Event{
			Event: event.NodeFailed, Node: nr.id(), Item: &i, SpanID: r.span.ID, Attempt: r.step.Attempt, Error: f, Outputs: r.kept, Redacted: r.redacted, DurationMS: &ms,
		}
		if s.retry(r, ev) {
			nr.batch.busy++
			s.rec.record(fr, ev)
			break
		}
		no := false
		ev.WillRetry, it.fault = &no, f
		it.end(r, s.rec.record(fr, ev))
		if s.stop.onFailure && nr.node.Batch.ErrorHandling != plan.Continue {
			nr.batch.stop(&failureError{resume.Item(nr.path(), i)})
		}
	}
	if nr.batch.busy == 0 && (nr.batch.interrupted || s.stop.over(fr)) {
		s.cancel(nr)
	}
}

// settle records a node's last event. resumable reports whether a later run can resume from it.
func (s *settler) settle(nr *nodeRun, ev *event.Event, resumable bool) {
	fr, id := nr.frame, nr.id()
	if fr.running[id] == nr {
		delete(fr.running, id)
	}
	nr.cancel()
	if nr.holdsSlot {
		nr.holdsSlot = false
		s.sched.slots--
	}
	if !fr.anew[id] && nr.after != "" {
		fr.behind[id] = nr.after
	}
	if resumable && !fr.settled[id] {
		fr.settled[id] = true
		fr.order = append(fr.order, id)
	}
	if delete(fr.written, id); resumable && ev.Redacted {
		fr.written[id] = orEmpty(ev.Outputs)
	}
	s.rec.record(fr, ev)
	s.refresher.release(fr, id, resumable)
}

// closeFrame ends the frame of a sub-workflow, and its task, once nothing of it runs and nothing more may start.
func (s *settler) closeFrame(fr *frame) {
	t := fr.owner
	if t == nil || t.child != fr || fr.entering || !fr.plan.Done() && !s.stop.halted(fr) {
		return
	}
	for _, nr := range fr.running {
		if !s.questions.open[nr] {
			return
		}
	}
	s.questions.withdraw(fr)
	t.child = nil
	fr.stop(nil)
	fr.cancel()
	cause := fr.failedNode
	if cause == "" {
		cause = s.stop.causeIn(fr)
	}
	for _, ev := range fr.plan.Halt(cause) {
		s.rec.write(fr, ev)
	}
	s.finish(s.children.result(fr))
}
