package engine

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/engine/resume"
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

// reuse takes the node of a step from the checkpoint if it is kept, or resumes it if the checkpoint has a part of it. It reports false if
// the step must be done like any other.
func (r *reuser) reuse(fr *frame, step plan.Step) bool {
	if step.Item >= 0 || step.Attempt > 1 || step.Do == plan.FanIn || fr.plan.Settled(step.Node) {
		return false
	}
	if nr := fr.running[step.Node]; nr != nil {
		return r.resume(nr, step)
	}
	nr := r.starter.newNodeRun(fr, step.Node)
	nr.recalls, nr.after = true, fr.ranBefore(step.Node)
	if r.reuseNode(nr, step) {
		return true
	}
	if nr.isSub() || nr.node.Batch != nil || nr.node.Loop != nil {
		_, _ = r.adopter.from.Expand(nr.path())
	}
	if step.Do == plan.Ask && r.reuseAnswer(nr) {
		fr.running[step.Node] = nr
		return true
	}
	if step.Do != plan.Ask && r.resume(nr, step) {
		return true
	}
	if step.Do == plan.Ask {
		nr.answer = nil
	}
	fr.parked[step.Node] = nr // it is asked about anew, or runs, and goes on with its parts
	return false
}

// resume goes on with a node if the checkpoint has a part of it.
func (r *reuser) resume(nr *nodeRun, step plan.Step) bool {
	fr := nr.frame
	if !nr.recalls || !fr.entering && r.stop.halted(fr) {
		return false
	}
	if r.reuseQuestion(nr, step) {
		return nr.reply != nil // the plan offers the attempt with the answer; without one the step asks again
	}
	if nr.node.Loop != nil && r.reuseIteration(nr, step) {
		return true
	}
	if !r.adopter.from.Begun(nr.path()) || nr.node.Batch == nil && !nr.isSub() {
		return false
	}
	fr.running[step.Node] = nr
	r.starter.begin(dueStep{frame: fr, step: step}) // its items and inner nodes are queued
	return true
}

// reuseQuestion takes the question that the node itself has asked, with the answer if there is one, so that its work until then is
// not done again. It reports whether there is a question.
func (r *reuser) reuseQuestion(nr *nodeRun, step plan.Step) bool {
	asked, old := r.adopter.from.Own(nr.path())
	if asked == nil || nr.after != "" || nr.question != nil && nr.question.state != nil || step.Do != plan.Attempt || asked.Iteration != step.Iteration {
		return false
	}
	bound, err := r.binder.bind(nr, r.binder.binding(nr))
	if err != nil || !r.digests(nr, bound).Matches(asked.InputDigest) {
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
		nr.digest = r.binder.wholeDigest(nr)
	}
	nr.frame.running[nr.id()] = nr
	r.approvals.record(nr, q)
	if old != nil && !old.Denies() && (old.Person || !q.Person) && !strings.Contains(old.Answer, redact.Mark) {
		nr.reply = &node.Answer{Text: old.Answer, State: state}
		r.rec.record(nr.frame, inherited(old, nr.id()))
	}
	return true
}

// digests returns the step of a bound node.
func (r *reuser) digests(nr *nodeRun, bound *boundNode) resume.Step {
	return resume.Step{Digest: func() string { return bound.digest }, Old: func() string { return r.binder.digests.oldNode(nr, bound) }}
}

// reuseAnswer takes a person's answer if the question is the same, about the same node, and nothing before the node ran anew.
func (r *reuser) reuseAnswer(nr *nodeRun) bool {
	if nr.answer == nil || nr.after != "" {
		return false
	}
	old := r.adopter.from.Answer(nr.path())
	if !old.Person && r.approvals.needsPerson(nr) {
		return false
	}
	q, err := r.approvals.question(nr)
	if err == nil {
		err = r.approvals.preview(nr, q)
	}
	if err != nil {
		return false
	}
	digests := r.binder.digests
	asked := resume.Step{Digest: func() string { return digests.question(nr, q) }, Old: func() string { return digests.oldQuestion(nr, q) }}
	if !asked.Matches(old.InputDigest) {
		return false
	}
	r.rec.record(nr.frame, inherited(old, nr.id()))
	return true
}

// reuseNode takes a node that was settled.
func (r *reuser) reuseNode(nr *nodeRun, step plan.Step) bool {
	old, because := r.adopter.keep(nr, nr.path(), func() string { return r.currentDigest(nr) }, func() string { return r.oldDigest(nr) })
	if nr.because = because; old == nil {
		return false
	}
	fr, id := nr.frame, nr.id()
	failed := resume.FailedAndHandled(old)
	if nr.because = event.Changed; nr.node.Loop != nil && !failed && !r.endsAlike(nr, old) {
		return false
	}
	if failed && !fr.plan.Handles(id) || !failed && !fr.plan.Takes(id, old.Action) {
		return false
	}
	if step.Do == plan.Ask && nr.answer != nil { // its templates may read the answer if it has to run again
		r.rec.record(fr, inherited(r.adopter.from.Answer(nr.path()), id))
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

// endsAlike reports whether a finished loop would end after the same iteration now: one that its limit ended has the same limit, and one that
// its condition ended a limit that it does not reach.
func (r *reuser) endsAlike(nr *nodeRun, old *event.Event) bool {
	outputs, err := event.Part(orEmpty(old.Outputs), "loop_stopped", r.approvals.store.blob)
	if err != nil || old.Iteration == 0 {
		return true // by the old digest, which has the limit
	}
	if nr.most == 0 && r.currentDigest(nr) == "" {
		return false
	}
	return old.Iteration == nr.most || old.Iteration < nr.most && gjson.GetBytes(outputs, "loop_stopped").Str == stoppedByCondition
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
	nr.bound = bound
	return r.binder.wholeDigest(nr)
}

// oldDigest is currentDigest for the journals of before.
func (r *reuser) oldDigest(nr *nodeRun) string {
	if nr.node.Batch != nil {
		if r.batches.readItems(nr) != nil {
			return ""
		}
		return r.binder.digests.oldBatch(nr, r.batches.bindItem)
	}
	bound, err := r.binder.bind(nr, r.binder.binding(nr))
	if err != nil {
		return ""
	}
	return r.binder.digests.oldNode(nr, bound)
}

// reuseIteration takes an iteration of a node's loop. If the loop ends with it, so does the node.
func (r *reuser) reuseIteration(nr *nodeRun, step plan.Step) bool {
	fr, id := nr.frame, nr.id()
	var bound *boundNode
	digest := func(of func(resume.Step) string) func() string {
		return func() string {
			var err error
			if bound, err = r.binder.bind(nr, r.binder.binding(nr)); err != nil || len(r.refresher.stale(nr)) > 0 {
				return ""
			}
			return of(r.digests(nr, bound))
		}
	}
	old, because := r.adopter.keep(nr, resume.Iteration(nr.path(), step.Iteration), digest(func(s resume.Step) string { return s.Digest() }),
		digest(func(s resume.Step) string { return s.Old() }))
	if old == nil || old.Redacted {
		nr.because = cmp.Or(because, event.Unfinished)
		return false
	}
	before, had := fr.values[id]
	nr.bound = bound
	ev := inherited(old, id)
	if old.IterationDigest != "" { // the last iteration of a loop, which ended its node
		whole, err := r.approvals.store.inline(orEmpty(old.Outputs))
		if err != nil {
			return false
		}
		ev.Event, ev.Outputs, ev.InputDigest, ev.IterationDigest = event.IterationCompleted, withoutStop(whole), old.IterationDigest, ""
	}
	fr.set(id, value{raw: orEmpty(ev.Outputs)})
	next, err := r.binder.nextIteration(nr)
	if err != nil {
		delete(fr.values, id)
		if had {
			fr.set(id, before)
		}
		return false
	}
	if step.Iteration == 1 {
		nr.digest = r.binder.wholeDigest(nr)
	}
	r.adopter.degrade(nr, old)
	fr.running[id] = nr
	if next.stopped != "" {
		return r.endKept(nr, ev, next.stopped)
	}
	r.rec.record(fr, ev)
	nr.advance(next)
	return true
}

// endKept settles a node whose loop ends with an iteration that was kept.
func (r *reuser) endKept(nr *nodeRun, ev *event.Event, stopped string) bool {
	fr := nr.frame
	res := &result{task: &task{run: nr, step: plan.Step{Iteration: nr.iteration}}, kept: ev.Outputs}
	v, err := r.settler.endLoop(res, fr.values[nr.id()], stopped)
	if err != nil {
		r.rec.abort(err)
		return true
	}
	if !fr.plan.Takes(nr.id(), ev.Action) {
		delete(fr.running, nr.id())
		return false
	}
	fr.set(nr.id(), v)
	ev.IterationDigest = ev.InputDigest
	ev.Event, ev.Attempt, ev.Outputs, ev.InputDigest = event.NodeReused, 0, res.kept, nr.digest
	r.counts.reused++
	r.settler.settle(nr, ev, true)
	return true
}
