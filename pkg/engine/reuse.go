package engine

import (
	"strings"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/mcp/form"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// reuser takes nodes, answers and iterations from the checkpoint, instead of running or asking them again.
type reuser struct {
	adopter   *adopter
	starter   *starter
	settler   *settler
	rec       *recorder
	stop      *stopState
	counts    *counts
	warnings  *warnings
	binder    *binder
	approvals *approvals
	batches   *batches
	refresher *refresher
}

// reuse takes the node of a step from the checkpoint if nothing that decides about the node has changed, or resumes it if
// the checkpoint has a part of it. It reports false if the step must be done like any other.
func (r *reuser) reuse(fr *frame, step plan.Step) bool {
	if step.Item >= 0 || step.Attempt > 1 || step.Do == plan.FanIn || fr.plan.Settled(step.Node) {
		return false
	}
	if nr := fr.running[step.Node]; nr != nil {
		return r.resume(nr, step)
	}
	if _, changed := fr.ranBefore(step.Node); changed {
		return false
	}
	nr := r.starter.newNodeRun(fr, step.Node)
	if r.reuseNode(nr, step) {
		return true
	}
	if nr.isSub() || nr.node.Batch != nil || nr.node.Loop != nil {
		_, _ = r.adopter.from.expand(nr.path())
	}
	switch {
	case step.Do != plan.Ask:
		nr.inherits = true
		return r.resume(nr, step)
	case r.reuseAnswer(nr):
		nr.inherits = true
		fr.running[step.Node] = nr
		return true
	}
	nr.inherits, nr.answer = true, nil
	fr.parked[step.Node] = nr // it is asked about anew, and goes on with its parts
	return false
}

// resume goes on with a node if the checkpoint has a part of it.
func (r *reuser) resume(nr *nodeRun, step plan.Step) bool {
	fr := nr.frame
	if !nr.inherits || !fr.entering && r.stop.halted(fr) {
		return false
	}
	if r.reuseQuestion(nr, step) {
		return nr.reply != nil // the plan offers the attempt with the answer; without one the step asks again
	}
	if !r.adopter.from.begun[nr.path()] {
		return false
	}
	if nr.node.Loop != nil && r.reuseIteration(nr, step) {
		return true
	}
	if nr.node.Batch == nil && !nr.isSub() {
		return false
	}
	fr.running[step.Node] = nr
	r.starter.begin(dueStep{frame: fr, step: step}) // its items and inner nodes are queued
	return true
}

// reuseQuestion takes the question that the node itself has asked, with the answer if there is one, so that its work until then is
// not done again. It reports whether there is a question.
func (r *reuser) reuseQuestion(nr *nodeRun, step plan.Step) bool {
	asked := r.adopter.from.own[nr.path()]
	if asked == nil || nr.question != nil && nr.question.state != nil || step.Do != plan.Attempt || asked.Iteration != step.Iteration {
		return false
	}
	bound, err := r.binder.bind(nr, r.binder.binding(nr))
	if err != nil || bound.digest != asked.InputDigest {
		return false
	}
	state, err := event.Plain(asked.State, r.adopter.from.Blob)
	if err != nil {
		return false
	}
	q := &Question{Node: nr.path(), Text: asked.Question, Choices: asked.Choices, AnyAnswer: asked.AnyAnswer, Form: form.Form(asked.Fields)}
	if q.state, _, err = r.approvals.store.keep(event.Escape(state)); err != nil {
		r.rec.abort(err)
		return false
	}
	if nr.bound = bound; step.Iteration <= 1 {
		nr.digest = bound.digest
	}
	nr.frame.running[nr.id()] = nr
	r.approvals.record(nr, q)
	if old := r.adopter.from.ownAnswers[nr.path()]; old != nil && !old.Denies() && (old.Person || !q.Person) && !strings.Contains(old.Answer, redact.Mark) {
		nr.reply = &node.Answer{Text: old.Answer, State: state}
		r.rec.record(nr.frame, inherited(old, nr.id()))
	}
	return true
}

// reuseAnswer takes a person's answer if the question is the same, about the same node.
func (r *reuser) reuseAnswer(nr *nodeRun) bool {
	if nr.answer == nil {
		return false
	}
	old := r.adopter.answer(nr)
	if !old.Person && r.approvals.needsPerson(nr) {
		return false
	}
	q, err := r.approvals.question(nr)
	if err == nil {
		err = r.approvals.preview(nr, q)
	}
	if err != nil || r.approvals.digests.question(nr, q) != old.InputDigest {
		return false
	}
	r.rec.record(nr.frame, inherited(old, nr.id()))
	return true
}

// reuseNode takes a node that was settled.
func (r *reuser) reuseNode(nr *nodeRun, step plan.Step) bool {
	old := r.adopter.settled(nr, func() string { return r.currentDigest(nr) })
	if old == nil {
		return false
	}
	fr, id := nr.frame, nr.id()
	failed := failedAndHandled(old)
	if failed && !fr.plan.Handles(id) || !failed && !fr.plan.Takes(id, old.Action) {
		return false
	}
	if step.Do == plan.Ask && nr.answer != nil { // its templates may read the answer if it has to run again
		r.rec.record(fr, inherited(r.adopter.answer(nr), id))
	}
	ev := reusedEvent(old, id)
	r.adopter.degrade(nr, old)
	if failed {
		r.warnings.degradeByFailure(fr.owner, "node "+nr.path()+" failed in run "+ev.FromRun+" and an error edge took it")
	}
	fr.set(id, value{raw: orEmpty(old.Outputs), missingSecrets: old.Redacted, failed: failed})
	r.counts.reused++
	r.settler.settle(nr, ev, true)
	return true
}

// currentDigest returns the digest that a node would have if it ran now, or "" if that is unknown.
func (r *reuser) currentDigest(nr *nodeRun) string {
	if nr.node.Batch != nil {
		if r.batches.readItems(nr) != nil {
			return ""
		}
		digest, err := r.batches.digest(nr)
		if err != nil {
			return ""
		}
		return digest
	}
	bound, err := r.binder.bind(nr, r.binder.binding(nr))
	if err != nil {
		return ""
	}
	return bound.digest
}

// reuseIteration takes an iteration of a node's loop, if the loop goes on after it.
func (r *reuser) reuseIteration(nr *nodeRun, step plan.Step) bool {
	fr, id := nr.frame, nr.id()
	var bound *boundNode
	old := r.adopter.iteration(nr, step.Iteration, func() (digest string) {
		if len(r.refresher.stale(nr)) > 0 {
			return ""
		}
		var err error
		if bound, err = r.binder.bind(nr, r.binder.binding(nr)); err != nil {
			return ""
		}
		return bound.digest
	})
	if old == nil || old.Redacted {
		return false
	}
	before, had := fr.values[id]
	nr.bound = bound
	fr.set(id, value{raw: orEmpty(old.Outputs)})
	next, err := r.binder.nextIteration(nr)
	if err != nil || next.stopped != "" {
		delete(fr.values, id)
		if had {
			fr.set(id, before)
		}
		return false
	}
	if step.Iteration == 1 {
		nr.digest = bound.digest
	}
	r.adopter.degrade(nr, old)
	fr.running[id] = nr
	r.rec.record(fr, inherited(old, id))
	nr.advance(next)
	return true
}
