package engine

import (
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/trace"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// starter begins steps.
type starter struct {
	sched     *scheduler
	settler   *settler
	rec       *recorder
	stop      *stopState
	counts    *counts
	warnings  *warnings
	binder    *binder
	approvals *approvals
	batches   *batches
	cache     *outputCache
	children  *children
	refresher *refresher
	adopter   *adopter
	// span is the span of the run.
	span   trace.Span
	clock  *clock
	random func() uint64
}

// begin begins a step. It returns the task to execute, if there is one.
func (s *starter) begin(d dueStep) *task {
	fr, step := d.frame, d.step
	nr := fr.running[step.Node]
	if nr == nil {
		if s.stop.halted(fr) {
			s.settler.closeFrame(fr)
			return nil
		}
		nr = s.activate(fr, step.Node)
	}
	if step.Do != plan.Ask {
		nr.startTime(s.clock)
	}
	switch step.Do {
	case plan.Ask:
		s.ask(nr)
	case plan.FanOut:
		s.fanOut(nr, step)
	case plan.FanIn:
		s.fanIn(nr, step)
	case plan.Attempt:
		if step.Item >= 0 {
			return s.attemptItem(nr, step)
		}
		return s.attempt(nr, step)
	}
	return nil
}

// newNodeRun returns a node of a frame that has not begun.
func (s *starter) newNodeRun(fr *frame, id string) *nodeRun {
	n, _ := fr.Workflow.Node(id)
	nr := &nodeRun{frame: fr, node: n, kind: fr.Kinds[n.Type], began: s.clock.now(), ctx: fr.ctx, cancel: func() {}}
	if n.Loop != nil {
		nr.iteration = 1
	}
	if n.Approval != nil {
		if old := s.adopter.from.Answer(nr.path()); old != nil && !old.Denies() {
			nr.answer = rawjson.Quote(old.Answer)
		}
	}
	return nr
}

// activate makes a node one of the running ones.
func (s *starter) activate(fr *frame, id string) *nodeRun {
	nr := fr.parked[id]
	delete(fr.parked, id)
	if nr == nil {
		nr = s.newNodeRun(fr, id)
	}
	nr.began = s.clock.now()
	fr.running[id] = nr
	return nr
}

// ask asks a person whether a node may run.
func (s *starter) ask(nr *nodeRun) {
	q, err := s.approvals.question(nr)
	if err == nil {
		err = s.approvals.preview(nr, q)
	}
	if err != nil {
		s.refuse(nr, plan.Step{Node: nr.id(), Do: plan.Attempt, Item: -1, Attempt: 1, Iteration: nr.iteration}, err)
		return
	}
	s.approvals.ask(nr, q)
}

// attempt binds a node, and begins an attempt at it.
func (s *starter) attempt(nr *nodeRun, step plan.Step) *task {
	if nr.ctx.Err() != nil {
		s.refuse(nr, step, timeoutFault(nr.ctx))
		return nil
	}
	if q := nr.question; q != nil && q.state != nil && nr.reply == nil { // the checkpoint has left it open
		if s.stop.halted(nr.frame) {
			delete(nr.frame.running, nr.id())
			s.settler.closeFrame(nr.frame)
			return nil
		}
		s.approvals.open(nr, q)
		return nil
	}
	if step.Attempt == 1 {
		if stale := s.refresher.stale(nr); len(stale) > 0 {
			s.refresher.refresh(nr, step, stale)
			return nil
		}
		bound, err := s.binder.bind(nr, s.binder.binding(nr))
		if err != nil {
			s.refuse(nr, step, err)
			return nil
		}
		nr.bound = bound
		if step.Iteration <= 1 {
			nr.digest = s.binder.wholeDigest(nr)
		}
		if nr.reply == nil && s.fromCache(nr) {
			return nil
		}
		s.count(nr)
	}
	t := &task{run: nr, step: step, bound: nr.bound, began: s.clock.now(), span: nr.frame.spanIn(s.span).Child(s.random)}
	ev := nr.startedEvent(step)
	ev.SpanID = t.span.ID
	s.children.describe(nr, ev)
	if nr.frame.owner != nil {
		ev.ParentSpanID = t.span.Parent
	}
	s.rec.record(nr.frame, ev)
	return s.start(t)
}

// attemptItem binds an item of a batch, and begins an attempt at it.
func (s *starter) attemptItem(nr *nodeRun, step plan.Step) *task {
	t := &task{run: nr, step: step, began: s.clock.now(), span: nr.batch.span.Child(s.random)}
	if step.Attempt == 1 {
		nr.batch.busy++
	}
	it := &nr.batch.states[step.Item]
	var err error
	if it.bound == nil {
		it.bound, err = s.batches.bindItem(nr, step.Item)
	}
	if nr.ctx.Err() != nil {
		err = timeoutFault(nr.ctx)
	}
	if err != nil {
		s.settler.finish(&result{task: t, node: failure(err), refused: true})
		return nil
	}
	it.digest, t.bound = it.bound.digest, it.bound
	return s.start(t)
}

// start returns a task that is to be executed. For a sub-workflow it enters the frame of that instead.
func (s *starter) start(t *task) *task {
	if s.rec.journalErr != nil {
		return nil
	}
	s.warnings.noteUnresolved(t)
	if t.run.isSub() {
		s.enterChild(t)
		return nil
	}
	if t.step.Item < 0 {
		t.usesSlot = true
		s.sched.slots++
	}
	return t
}

// enterChild begins the workflow that a task's node runs. The task ends when that frame does.
func (s *starter) enterChild(t *task) {
	child, err := s.children.open(t)
	if err != nil {
		s.settler.finish(&result{task: t, node: failure(err), refused: true})
		return
	}
	t.child = child
	s.sched.enter(child)
	s.settler.closeFrame(child)
}

// refuse fails a node that cannot be tried.
func (s *starter) refuse(nr *nodeRun, step plan.Step, err error) {
	if !nr.executed {
		s.rec.write(nr.frame, nr.startedEvent(step))
	}
	s.count(nr)
	s.settler.finish(&result{task: &task{run: nr, step: step, began: s.clock.now()}, node: failure(err), refused: true})
}

// count counts a node as executed, once.
func (s *starter) count(nr *nodeRun) {
	if !nr.executed {
		nr.executed = true
		s.counts.executed++
		s.adopter.revoke(nr)
	}
}

// fromCache settles a node with outputs from the cache. It reports whether there are any.
func (s *starter) fromCache(nr *nodeRun) bool {
	kept, run, ok := s.cache.get(nr, nr.digest)
	if !ok || !nr.frame.plan.Takes(nr.id(), workflow.ActionDefault) {
		return false
	}
	fr := nr.frame
	nr.ranAnew()
	fr.set(nr.id(), value{raw: kept})
	s.counts.reused++
	s.settler.settle(nr, &event.Event{
		Event: event.NodeReused, Node: nr.id(), Action: workflow.ActionDefault, Outputs: kept, InputDigest: nr.digest, FromRun: run, Cached: true,
	}, true)
	s.sched.enqueueReady(fr)
	s.settler.closeFrame(fr)
	return true
}
