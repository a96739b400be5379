package engine

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// begin begins a step. It returns the task to execute, if there is one.
func (e *execution) begin(d dueStep) *task {
	fr, step := d.frame, d.step
	nr := fr.running[step.Node]
	if nr == nil {
		if e.halted(fr) {
			e.closeFrame(fr)
			return nil
		}
		nr = e.activate(fr, step.Node)
	}
	if step.Do != plan.Ask {
		nr.startTime(e.clock)
	}
	switch step.Do {
	case plan.Ask:
		e.askBefore(nr)
	case plan.FanOut:
		e.fanOut(nr, step)
	case plan.FanIn:
		e.fanIn(nr, step)
	case plan.Attempt:
		if step.Item >= 0 {
			return e.attemptItem(nr, step)
		}
		return e.attempt(nr, step)
	}
	return nil
}

// newNodeRun returns a node of a frame that has not begun.
func (e *execution) newNodeRun(fr *frame, id string) *nodeRun {
	n, _ := fr.Workflow.Node(id)
	nr := &nodeRun{frame: fr, node: n, kind: fr.Kinds[n.Type], began: e.clock.now(), ctx: fr.ctx, cancel: func() {}}
	if n.Loop != nil {
		nr.iteration = 1
	}
	if n.Approval != nil {
		if old := e.Memory.Answer(nr.path()); old != nil && !old.Denies() {
			nr.answer = rawjson.Quote(old.Answer)
		}
	}
	return nr
}

// activate makes a node one of the running ones.
func (e *execution) activate(fr *frame, id string) *nodeRun {
	nr := fr.parked[id]
	delete(fr.parked, id)
	if nr == nil {
		nr = e.newNodeRun(fr, id)
	}
	nr.began = e.clock.now()
	fr.running[id] = nr
	return nr
}

// askBefore asks a person whether a node may run.
func (e *execution) askBefore(nr *nodeRun) {
	q, err := e.asker.question(nr)
	if err == nil {
		err = e.asker.preview(nr, q)
	}
	if err != nil {
		e.refuse(nr, plan.Step{Node: nr.id(), Do: plan.Attempt, Item: -1, Attempt: 1, Iteration: nr.iteration}, err)
		return
	}
	e.askAbout(nr, q)
}

// attempt binds a node, and begins an attempt at it.
func (e *execution) attempt(nr *nodeRun, step plan.Step) *task {
	if nr.ctx.Err() != nil {
		e.refuse(nr, step, timeoutFault(nr.ctx))
		return nil
	}
	if q := nr.question; q != nil && q.state != nil && nr.reply == nil { // the memory has left it open
		if e.halted(nr.frame) {
			delete(nr.frame.running, nr.id())
			e.closeFrame(nr.frame)
			return nil
		}
		e.openQuestion(nr, q)
		return nil
	}
	if step.Attempt == 1 {
		if stale := e.stale(nr); len(stale) > 0 {
			e.refresh(nr, step, stale)
			return nil
		}
		bound, err := e.values.bind(nr, e.values.binding(nr))
		if err != nil {
			e.refuse(nr, step, err)
			return nil
		}
		nr.bound = bound
		if step.Iteration <= 1 {
			nr.digest = e.values.wholeDigest(nr)
		}
		if nr.reply == nil && e.fromCache(nr) {
			return nil
		}
		e.count(nr)
	}
	t := &task{run: nr, step: step, bound: nr.bound, began: e.clock.now(), span: nr.frame.spanIn(e.Span).Child(e.random)}
	ev := nr.startedEvent(step)
	ev.SpanID = t.span.ID
	e.describeSub(nr, ev)
	if nr.frame.owner != nil {
		ev.ParentSpanID = t.span.Parent
	}
	e.record(nr.frame, ev)
	return e.start(t)
}

// attemptItem binds an item of a batch, and begins an attempt at it.
func (e *execution) attemptItem(nr *nodeRun, step plan.Step) *task {
	t := &task{run: nr, step: step, began: e.clock.now(), span: nr.batch.span.Child(e.random)}
	if step.Attempt == 1 {
		nr.batch.busy++
	}
	it := &nr.batch.states[step.Item]
	var err error
	if it.bound == nil {
		it.bound, err = e.fan.bindItem(nr, step.Item)
	}
	if nr.ctx.Err() != nil {
		err = timeoutFault(nr.ctx)
	}
	if err != nil {
		e.finish(&result{task: t, node: failure(err), refused: true})
		return nil
	}
	it.digest, t.bound = it.bound.digest, it.bound
	return e.start(t)
}

// start returns a task that is to be executed. For a sub-workflow it enters the frame of that instead.
func (e *execution) start(t *task) *task {
	if e.journalErr != nil {
		return nil
	}
	e.warnings.noteUnresolved(t)
	if t.run.isSub() {
		e.enterChild(t)
		return nil
	}
	e.revoke(t.run)
	if t.step.Item < 0 {
		t.usesSlot = true
		e.slots++
	}
	return t
}

// enterChild begins the workflow that a task's node runs. The task ends when that frame does.
func (e *execution) enterChild(t *task) {
	child, err := e.openSub(t)
	if err != nil {
		e.finish(&result{task: t, node: failure(err), refused: true})
		return
	}
	t.child = child
	e.enter(child)
	e.closeFrame(child)
}

// refuse fails a node that cannot be tried.
func (e *execution) refuse(nr *nodeRun, step plan.Step, err error) {
	if !nr.executed {
		e.write(nr.frame, nr.startedEvent(step))
	}
	e.count(nr)
	e.finish(&result{task: &task{run: nr, step: step, began: e.clock.now()}, node: failure(err), refused: true})
}

// count counts a node as executed, once.
func (e *execution) count(nr *nodeRun) {
	if !nr.executed {
		nr.executed = true
		e.nodesExecuted++
	}
}

// fromCache settles a node with outputs from the cache. It reports whether there are any.
func (e *execution) fromCache(nr *nodeRun) bool {
	kept, run, at, ok := e.outputCache.get(nr, nr.digest)
	if !ok || !nr.frame.plan.Takes(nr.id(), workflow.ActionDefault) {
		return false
	}
	fr := nr.frame
	nr.ranAnew()
	e.revoke(nr)
	fr.set(nr.id(), value{raw: kept})
	e.nodesReused++
	e.settle(nr, &event.Event{
		Event: event.NodeReused, Node: nr.id(), Action: workflow.ActionDefault, Outputs: kept, InputDigest: nr.digest, FromRun: run, RanAt: at, Cached: true,
	}, true)
	e.enqueueReady(fr)
	e.closeFrame(fr)
	return true
}

// fanOut reads the items of a batch and records how many there are. It takes those over that the memory has.
func (e *execution) fanOut(nr *nodeRun, step plan.Step) {
	if nr.waitsForSlot { // its items are known, and now there is a slot
		nr.waitsForSlot, nr.holdsSlot = false, true
		e.slots++
		for _, held := range nr.heldBack {
			e.enqueue(nr.frame, held)
		}
		nr.heldBack = nil
		return
	}
	if nr.ctx.Err() != nil {
		e.refuse(nr, step, timeoutFault(nr.ctx))
		return
	}
	if stale := e.stale(nr); len(stale) > 0 {
		e.refresh(nr, step, stale)
		return
	}
	if err := e.fan.readItems(nr); err != nil {
		e.refuse(nr, step, err)
		return
	}
	fr := nr.frame
	release := nr.cancel
	nr.ctx, nr.batch.stop = context.WithCancelCause(nr.ctx)
	nr.cancel = func() {
		nr.batch.stop(nil)
		release()
	}
	nr.batch.span = fr.spanIn(e.Span).Child(e.random)
	ev, n := nr.startedEvent(step), len(nr.batch.items)
	ev.Items, ev.SpanID = &n, nr.batch.span.ID
	e.describeSub(nr, ev)
	if fr.owner != nil {
		ev.ParentSpanID = nr.batch.span.Parent
	}
	e.record(fr, ev)
	if nr.recalls {
		e.keepItems(nr)
	}
	e.itemsFromCache(nr)
	if nr.batch.fromCache() {
		e.nodesReused++
	} else {
		e.count(nr)
	}
	switch {
	case nr.isSub():
	case e.slotFree():
		nr.holdsSlot = true
		e.slots++
	default: // it began early for what the memory has, and goes on in its turn
		nr.waitsForSlot = true
	}
	e.enqueueReady(fr)
}

// itemsFromCache ends the items of a batch whose outputs are in the cache.
func (e *execution) itemsFromCache(nr *nodeRun) {
	if !e.outputCache.wanted(nr) {
		return
	}
	for i := range nr.batch.items {
		it := &nr.batch.states[i]
		if it.ended {
			continue
		}
		digest, err := e.fan.itemDigest(nr, i)
		if err != nil { // the item fails in its turn
			continue
		}
		kept, run, at, ok := e.outputCache.get(nr, digest)
		if !ok {
			continue
		}
		nr.ranAnew()
		e.revoke(nr)
		nr.batch.cached++
		nr.batch.cachedFrom = max(nr.batch.cachedFrom, run)
		it.ended, it.at = true, e.record(nr.frame, &event.Event{
			Event: event.ItemCompleted, Node: nr.id(), Item: &i, Outputs: kept, InputDigest: digest, FromRun: run, RanAt: at, Cached: true,
		})
	}
}

// fanIn puts the results of a batch's items together, and ends the node.
func (e *execution) fanIn(nr *nodeRun, step plan.Step) {
	if nr.digest == "" {
		if digest, err := e.fan.digest(nr); err == nil { // else an item could not be bound, and a later run tries that again
			nr.digest = digest
		}
	}
	r := e.fan.result(&task{run: nr, step: step, began: nr.began})
	if e.journalErr == nil {
		r.err = e.fan.outputs(r)
	}
	e.finish(r)
}

// askAbout asks a question about a node, or one that the node itself asks. The node goes on when it is answered.
func (e *execution) askAbout(nr *nodeRun, q *Question) {
	e.recordQuestion(nr, q)
	e.openQuestion(nr, q)
}

// recordQuestion records a question.
func (e *execution) recordQuestion(nr *nodeRun, q *Question) {
	ev := &event.Event{
		Event: event.ApprovalRequested, Node: nr.id(), Question: e.store.redactor.Text(q.Text), Choices: q.Choices, Params: q.Params, AnyAnswer: q.AnyAnswer,
	}
	if q.Person = e.asker.needsPerson(nr); q.Person {
		ev.By, ev.DeniedBy = workflow.ByPerson, e.Memory.DeniedBy(nr.path())
	}
	if q.Form != nil {
		ev.Fields, _ = e.store.redactor.JSON(json.RawMessage(q.Form))
	}
	nr.question = q
	if q.state == nil {
		e.write(nr.frame, ev)
		return
	}
	ev.State, ev.InputDigest = q.state, nr.bound.digest
	if nr.node.Loop != nil {
		ev.Iteration = nr.iteration
	}
	e.record(nr.frame, ev)
}

// openQuestion waits for the answer to a question.
func (e *execution) openQuestion(nr *nodeRun, q *Question) {
	if given := e.asker.answerFor(nr, q); given.Text != "" {
		e.answered(nr, q, given)
		return
	}
	e.asker.open[nr] = true
	if e.Ask == nil {
		return
	}
	ctx, cancel := context.WithCancel(nr.frame.ctx)
	nr.withdraw = cancel
	var answer, by string
	var err error
	e.async(func() {
		defer cancel()
		answer, by, err = e.Ask(ctx, *q)
	}, func() {
		if !e.asker.open[nr] {
			return // it was withdrawn
		}
		if err != nil || !q.accepts(answer) { // without an answer the question stays open
			e.closeFrame(nr.frame)
			return
		}
		delete(e.asker.open, nr)
		e.answered(nr, q, Answer{answer, by, true})
	})
}

// answered lets a node run, or denies the run.
func (e *execution) answered(nr *nodeRun, q *Question, given Answer) {
	e.record(nr.frame, &event.Event{
		Event: event.ApprovalResolved, Node: nr.id(), Answer: e.asker.shown(given.Text), By: given.By, Person: given.Person, AnyAnswer: q.AnyAnswer,
		InputDigest: e.values.question(nr, q),
	})
	if q.AnyAnswer || !plan.Denies(given.Text) {
		if err := e.reply(nr, q, given.Text); err != nil {
			e.abort(err)
			return
		}
		e.enqueueReady(nr.frame)
		return
	}
	if e.denied == nil {
		person := ""
		if !strings.HasPrefix(given.By, "--") { // else a flag gave it
			person = " by " + given.By
		}
		e.denied = fault.New(fault.Execution, "Node %s was denied: it was answered %q%s", q.Node, given.Text, person).Suggest("Resume the run to be asked again")
		e.denied.Node = q.Node
	}
	e.cancel(nr)
	for _, fr := range e.asker.frames(nr.frame) {
		e.asker.withdraw(fr)
		e.closeFrame(fr)
	}
}

// reply gives an answer to a node: to its templates, or to the node itself if that has asked.
func (e *execution) reply(nr *nodeRun, q *Question, answer string) error {
	if q.state == nil {
		nr.answer = rawjson.Quote(answer)
		return nil
	}
	state, err := q.secretState, error(nil)
	if state == nil {
		state, err = e.store.plain(q.state)
	}
	nr.reply = &node.Answer{Text: answer, State: state}
	return err
}
