package engine

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/mcp/form"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// keepStep takes the node of a step from the memory if it is kept, or resumes it if the memory has a part of it. It reports false if
// the step must be done like any other.
func (e *execution) keepStep(fr *frame, step plan.Step) bool {
	if step.Item >= 0 || step.Attempt > 1 || step.Do == plan.FanIn || fr.plan.Settled(step.Node) {
		return false
	}
	if nr := fr.running[step.Node]; nr != nil {
		return e.goOn(nr, step)
	}
	nr := e.newNodeRun(fr, step.Node)
	nr.recalls, nr.after = true, fr.ranBefore(step.Node)
	if e.keepNode(nr, step) {
		return true
	}
	if nr.isSub() || nr.node.Batch != nil || nr.node.Loop != nil {
		_, _ = e.Memory.Expand(nr.path())
	}
	if step.Do == plan.Ask && e.keepAnswer(nr) {
		fr.running[step.Node] = nr
		return true
	}
	if step.Do != plan.Ask && e.goOn(nr, step) {
		return true
	}
	if step.Do == plan.Ask {
		nr.answer = nil
	}
	if fr.running[step.Node] == nil {
		fr.parked[step.Node] = nr // it is asked about anew, or runs, and goes on with its parts
	}
	return false
}

// goOn goes on with a node if the memory has a part of it.
func (e *execution) goOn(nr *nodeRun, step plan.Step) bool {
	fr := nr.frame
	if !nr.recalls || !fr.entering && e.halted(fr) {
		return false
	}
	if e.keepQuestion(nr, step) {
		return nr.reply != nil // the plan offers the attempt with the answer; without one the step asks again
	}
	if nr.node.Loop != nil && e.keepIteration(nr, step) {
		return true
	}
	if !e.Memory.Begun(nr.path()) || nr.node.Batch == nil && !nr.isSub() {
		return false
	}
	fr.running[step.Node] = nr
	e.begin(dueStep{frame: fr, step: step}) // its items and inner nodes are queued
	return true
}

// keepQuestion takes the question that the node itself has asked, with the answer if there is one, so that its work until then is
// not done again. It reports whether there is a question.
func (e *execution) keepQuestion(nr *nodeRun, step plan.Step) bool {
	asked, old := e.Memory.Own(nr.path())
	if asked == nil || nr.after != "" || nr.question != nil && nr.question.state != nil || step.Do != plan.Attempt || asked.Iteration != step.Iteration {
		return false
	}
	bound, err := e.values.bind(nr, e.values.binding(nr))
	if err != nil || !e.digests(nr, bound).Matches(asked.InputDigest) {
		return false
	}
	state, err := event.Plain(asked.State, e.Memory.Blob)
	if err != nil {
		return false
	}
	q := &Question{Node: nr.path(), Text: asked.Question, Choices: asked.Choices, AnyAnswer: asked.AnyAnswer, Form: form.Form(asked.Fields)}
	if q.state, _, err = e.store.keep(event.Escape(state)); err != nil {
		e.abort(err)
		return false
	}
	if nr.bound = bound; step.Iteration <= 1 {
		nr.digest = e.values.wholeDigest(nr)
	}
	nr.frame.running[nr.id()] = nr
	e.recordQuestion(nr, q)
	if old != nil && !old.Denies() && (old.Person || !q.Person) && !strings.Contains(old.Answer, redact.Mark) {
		nr.reply = &node.Answer{Text: old.Answer, State: state}
		e.record(nr.frame, inherited(old, nr.id()))
	}
	return true
}

// digests returns the step of a bound node.
func (e *execution) digests(nr *nodeRun, bound *boundNode) resume.Step {
	return resume.Step{Digest: func() string { return bound.digest }, Old: func() string { return e.values.oldNode(nr, bound) }}
}

// keepAnswer takes a person's answer if the question is the same, about the same node, and nothing before the node ran anew.
func (e *execution) keepAnswer(nr *nodeRun) bool {
	if nr.answer == nil || nr.after != "" {
		return false
	}
	old := e.Memory.Answer(nr.path())
	if !old.Person && e.asker.needsPerson(nr) {
		return false
	}
	q, err := e.asker.question(nr)
	if err == nil {
		err = e.asker.preview(nr, q)
	}
	if err != nil {
		return false
	}
	asked := resume.Step{Digest: func() string { return e.values.question(nr, q) }, Old: func() string { return e.values.oldQuestion(nr, q) }}
	if !asked.Matches(old.InputDigest) {
		return false
	}
	e.record(nr.frame, inherited(old, nr.id()))
	return true
}

// keepNode takes a node that was settled.
func (e *execution) keepNode(nr *nodeRun, step plan.Step) bool {
	old, because := e.decide(nr, nr.path(), func() string { return e.currentDigest(nr) }, func() string { return e.oldDigest(nr) })
	if nr.because = because; old == nil {
		return false
	}
	fr, id := nr.frame, nr.id()
	failed := resume.FailedAndHandled(old)
	leads := failed && fr.plan.Handles(id) || !failed && fr.plan.Takes(id, old.Action)
	if !leads || nr.node.Loop != nil && !e.endsAlike(nr, old, failed) {
		nr.because = event.Changed
		return false
	}
	if step.Do == plan.Ask && nr.answer != nil { // its templates may read the answer if it has to run again
		e.record(fr, inherited(e.Memory.Answer(nr.path()), id))
	}
	ev := reusedEvent(old, id)
	e.noteDegraded(nr, old)
	if failed {
		e.warnings.degradeByFailure(fr.owner, "node "+nr.path()+" failed in run "+ev.FromRun+" and an error edge took it")
	}
	fr.set(id, value{raw: orEmpty(old.Outputs), missingSecrets: old.Redacted, failed: failed})
	e.nodesReused++
	e.settle(nr, ev, true)
	return true
}

// endsAlike reports whether a finished loop would end after the same iteration now: one that its limit ended has the same limit, and one that
// its condition or a failure ended a limit that it does not exceed.
func (e *execution) endsAlike(nr *nodeRun, old *event.Event, failed bool) bool {
	outputs, err := event.Part(orEmpty(old.Outputs), "loop_stopped", e.store.blob)
	if err != nil || old.Iteration == 0 {
		return true // by the digest of before, which has the limit
	}
	if nr.most == 0 && e.currentDigest(nr) == "" {
		return false
	}
	return old.Iteration == nr.most || old.Iteration < nr.most && (failed || gjson.GetBytes(outputs, "loop_stopped").Str == stoppedByCondition)
}

// currentDigest returns the digest that a node would have if it ran now, or "" if that is unknown.
func (e *execution) currentDigest(nr *nodeRun) string {
	if nr.node.Batch != nil {
		if e.fan.readItems(nr) != nil {
			return ""
		}
		digest, err := e.fan.digest(nr)
		if err != nil {
			return ""
		}
		return digest
	}
	bound, err := e.values.bind(nr, e.values.binding(nr))
	if err != nil {
		return ""
	}
	nr.bound = bound
	return e.values.wholeDigest(nr)
}

// oldDigest is currentDigest for the journals of before.
func (e *execution) oldDigest(nr *nodeRun) string {
	if nr.node.Batch != nil {
		if e.fan.readItems(nr) != nil {
			return ""
		}
		return e.values.oldBatch(nr, e.fan.bindItem)
	}
	bound, err := e.values.bind(nr, e.values.binding(nr))
	if err != nil {
		return ""
	}
	return e.values.oldNode(nr, bound)
}

// keepIteration takes an iteration of a node's loop. If the loop ends with it, so does the node.
func (e *execution) keepIteration(nr *nodeRun, step plan.Step) bool {
	fr, id := nr.frame, nr.id()
	var bound *boundNode
	digest := func(of func(resume.Step) string) func() string {
		return func() string {
			var err error
			if bound, err = e.values.bind(nr, e.values.binding(nr)); err != nil || len(e.stale(nr)) > 0 {
				return ""
			}
			return of(e.digests(nr, bound))
		}
	}
	old, because := e.decide(nr, resume.Iteration(nr.path(), step.Iteration), digest(func(s resume.Step) string { return s.Digest() }),
		digest(func(s resume.Step) string { return s.Old() }))
	if old == nil || old.Redacted {
		if step.Iteration > 1 { // else it is that of the node
			nr.because = cmp.Or(because, event.Unfinished)
		}
		return false
	}
	before, had := fr.values[id]
	nr.bound = bound
	ev := inherited(old, id)
	if old.IterationDigest != "" { // the last iteration of a loop, which ended its node
		whole, err := e.store.inline(orEmpty(old.Outputs))
		if err != nil {
			return false
		}
		ev.Event, ev.Outputs, ev.InputDigest, ev.IterationDigest = event.IterationCompleted, withoutStop(whole), old.IterationDigest, ""
	}
	fr.set(id, value{raw: orEmpty(ev.Outputs)})
	next, err := e.fan.nextIteration(nr)
	if err != nil || next.stopped != "" && !fr.plan.Takes(id, ev.Action) {
		delete(fr.values, id)
		if had {
			fr.set(id, before)
		}
		return false
	}
	if step.Iteration == 1 {
		nr.digest = e.values.wholeDigest(nr)
	}
	e.noteDegraded(nr, old)
	fr.running[id] = nr
	if next.stopped != "" {
		e.endKept(nr, ev, next.stopped)
		return true
	}
	e.record(fr, ev)
	nr.advance(next)
	return true
}

// endKept settles a node whose loop ends with an iteration that was kept.
func (e *execution) endKept(nr *nodeRun, ev *event.Event, stopped string) {
	fr := nr.frame
	res := &result{task: &task{run: nr, step: plan.Step{Iteration: nr.iteration}}, kept: ev.Outputs}
	v, err := e.endLoop(res, fr.values[nr.id()], stopped)
	if err != nil {
		e.abort(err)
		return
	}
	fr.set(nr.id(), v)
	ev.IterationDigest = ev.InputDigest
	ev.Event, ev.Attempt, ev.Outputs, ev.InputDigest = event.NodeReused, 0, res.kept, nr.digest
	ev.Warnings = e.store.warnings(nr.degradations)
	e.nodesReused++
	e.settle(nr, ev, true)
}

// decide returns the event of a step that is kept, with its long values taken over, or why the step runs. digest and old are the digests that
// the step has now; see resume.Step.
func (e *execution) decide(nr *nodeRun, place string, digest, old func() string) (kept *event.Event, because string) {
	step := resume.Step{Node: nr.path(), Place: place, Values: nr.isOfValues(), Since: e.outputCache.since(nr), Digest: digest, Old: old}
	for {
		row, keep, because := e.Memory.Decide(step, nr.after)
		if !keep {
			return nil, because
		}
		if kept := e.takeOver(nr.path(), row); kept != nil {
			if nr.after != "" && !step.Values { // only its age is the reason, and that will pass
				kept.InputDigest = resume.Stale(kept.InputDigest)
			}
			return kept, ""
		}
		if e.journalErr != nil {
			return nil, ""
		}
		e.Memory.Lose(place)
	}
}

// keepItems takes the items of a batch over that are kept. A warning names the cache if others run again only because what gives the list did.
func (e *execution) keepItems(nr *nodeRun) {
	again := 0
	for i := range nr.batch.items {
		digest := func() string {
			digest, err := e.fan.itemDigest(nr, i)
			if err != nil {
				return ""
			}
			return digest
		}
		old, because := e.decide(nr, resume.Item(nr.path(), i), digest, func() string {
			bound, err := e.fan.bindItem(nr, i)
			if err != nil {
				return ""
			}
			return e.values.oldNode(nr, bound)
		})
		if old != nil {
			it := &nr.batch.states[i]
			e.noteDegraded(nr, old)
			it.ended, it.missingSecrets, it.at = true, old.Redacted, e.record(nr.frame, inherited(old, nr.id()))
		} else if row, ok := e.Memory.Row(resume.Item(nr.path(), i)); ok && because == resume.After(nr.after) && resume.Params(row.InputDigest) == resume.Params(digest()) {
			again++
		}
	}
	if again > 0 && nr.node.Cache == nil && !nr.isSub() && nr.frame.listsFrom(nr) == nr.after {
		e.warnings.add(fmt.Sprintf("node %s: %s", nr.path(), advice(nr.after, again)))
	}
}

// advice says that items of a batch run again although they are the same, and how they are kept.
func advice(list string, items int) string {
	return fmt.Sprintf("%d of its items run again with the parameters that they had, only because %s ran anew; with \"cache\": true they are kept", items, list)
}

// noteDegraded notes why the outputs of an adopted event were not a full success.
func (e *execution) noteDegraded(nr *nodeRun, old *event.Event) {
	if len(old.Warnings) > 0 && (nr.node.Batch != nil || nr.isSub()) {
		e.warnings.retryable = true
	}
	for _, why := range old.Warnings {
		e.warnings.degradeNode(nr, why)
	}
}

// inherited returns an event of an earlier run as this run records it.
func inherited(old *event.Event, id string) *event.Event {
	from := old.FromRun
	if from == "" {
		from = old.Run
	}
	return &event.Event{
		Event: old.Event, Node: id, Item: old.Item, Iteration: old.Iteration, Action: old.Action, Outputs: old.Outputs, InputDigest: old.InputDigest,
		Redacted: old.Redacted, Warnings: old.Warnings, Note: old.Note, Answer: old.Answer, AnyAnswer: old.AnyAnswer, By: old.By, Person: old.Person, FromRun: from, Attempt: old.Attempt,
		IterationDigest: old.IterationDigest, RanAt: cmp.Or(old.RanAt, old.Time.Format(time.RFC3339Nano)),
	}
}

// reusedEvent returns the event of a node that is reused as a whole.
func reusedEvent(old *event.Event, id string) *event.Event {
	ev := inherited(old, id)
	ev.Event, ev.Attempt = event.NodeReused, 0
	if resume.FailedAndHandled(old) {
		ev.Action, ev.Error = workflow.ActionError, old.Error
	}
	return ev
}

// takeOver reads an event about a node and takes its long values over. It returns nil if the event can no longer be read, or if
// this run's journal cannot be written.
func (e *execution) takeOver(path string, r resume.Row) *event.Event {
	old, err := r.Read()
	if err != nil {
		e.Log.Warn("a completed node runs again", "node", path, "error", err)
		return nil
	}
	if !e.takeBlobs(path, old.Outputs, r) {
		return nil
	}
	if old.Outputs, err = event.Spill(old.Outputs, e.Journal.PutBlob); err != nil { // of a stream without blobs
		e.abort(err)
		return nil
	}
	if row := path + " " + old.Run + " " + strconv.Itoa(int(r.At)); !e.taken[row] {
		e.taken[row] = true
		e.output.adopt(len(old.Outputs))
	}
	return old
}

// takeBlobs takes the long values among outputs over from an earlier run. It reports whether all were found; if they cannot be stored,
// the run is aborted.
func (e *execution) takeBlobs(path string, outputs json.RawMessage, of resume.Row) bool {
	if !bytes.Contains(outputs, []byte(`"$blob"`)) {
		return true
	}
	if ref, ok := event.ReferenceOf(outputs); ok {
		return e.takeBlob(path, ref, of)
	}
	all := true
	gjson.ParseBytes(outputs).ForEach(func(_, v gjson.Result) bool {
		all = !v.IsObject() && !v.IsArray() || e.takeBlobs(path, json.RawMessage(v.Raw), of)
		return all
	})
	return all
}

// takeBlob takes one long value over, and those that it refers to.
func (e *execution) takeBlob(path string, ref event.Reference, of resume.Row) bool {
	var content []byte
	found, err := true, error(nil)
	linked := e.Adopt != nil && of.IsOf(e.Memory)
	if linked {
		found, err = e.Adopt(ref)
	}
	if found && err == nil && (!linked || ref.JSON()) {
		if content, err = of.Blob(ref.Blob); err != nil || len(content) != ref.Bytes {
			found, err = false, nil
		} else if !linked {
			_, err = e.Journal.PutBlob(content)
		}
	}
	if err != nil {
		e.abort(err)
		return false
	}
	if !found {
		e.Log.Warn("a completed node runs again: a long value of its outputs is missing", "node", path)
		return false
	}
	if taken := path + " " + ref.Blob; !e.taken[taken] {
		e.taken[taken] = true
		e.output.adopt(ref.Bytes)
	}
	return !ref.JSON() || e.takeBlobs(path, content, of)
}

// forward records what the memory has of frames that have not begun yet, such as those of later items of a batch. Without it a resume of this
// run would not find that. It is called before anything is executed.
func (e *execution) forward(top *frame) {
	from := e.Memory
	if from == nil {
		return
	}
	for _, r := range from.Rows(func(place string) bool { return e.wanted(top, place) }) {
		e.forwardRow(r)
	}
}

// wanted reports whether the row at a place is of a frame that has not begun, inside a running node that takes such records.
func (e *execution) wanted(top *frame, path string) bool {
	i := strings.LastIndexByte(path, '/')
	if i < 0 || e.entered[path[:i+1]] {
		return false
	}
	id, _, _ := strings.Cut(path, "/")
	id, _, _ = strings.Cut(id, "[")
	id, _, _ = strings.Cut(id, "#")
	if nr := top.running[id]; nr == nil || !nr.recalls || nr.after != "" {
		return false
	}
	from := e.Memory
	for ; i >= 0; i = strings.LastIndexByte(path[:i], '/') { // what is around it and finished is reused as a whole
		_, part := from.Row(path[:i])
		_, first := from.Row(resume.Iteration(path[:i], 1))
		_, settled := from.Row(event.Enclosing(path[:i] + "/"))
		if part || first || settled {
			return false
		}
	}
	return true
}

// forwardRow records an event of the memory, which is not written again when it is reused.
func (e *execution) forwardRow(r resume.Row) {
	old := e.takeOver(r.Node, r)
	if old == nil {
		return
	}
	ev := inherited(old, r.Node)
	if r.Settles() {
		ev = reusedEvent(old, r.Node)
		ev.Cached, ev.Outdated, ev.Cause, ev.InputDigest = old.Cached, old.Outdated, old.Cause, r.InputDigest
		if before := e.Memory.Outdated(r.Node); before != "" {
			ev.Outdated, ev.Cause, ev.IterationDigest = true, before, ""
		}
	}
	if e.append(ev); ev.Outdated {
		return
	}
	e.forwarded[resume.Place(ev.Node, ev)] = ev.At
}

// revoke records that what was forwarded of the nodes behind one, and behind those around it, no longer counts, because the node is executed.
// What was forwarded of the later iterations of a loop does not count either.
func (e *execution) revoke(nr *nodeRun) {
	for ; len(e.forwarded) > 0 && !nr.frame.plan.Settled(nr.id()); nr = nr.frame.owner.run { // a node that runs again for a secret changes nothing
		behind := plan.Behind(nr.frame.Workflow, map[string]bool{nr.id(): true})
		for _, place := range slices.Sorted(maps.Keys(e.forwarded)) {
			rest, inFrame := strings.CutPrefix(place, nr.frame.prefix)
			segments, ok := event.Segments(rest)
			if !inFrame || !ok {
				continue
			}
			first := segments[0]
			if behind[first.ID] || first.ID == nr.id() && nr.node.Loop != nil && first.Iteration > nr.iteration {
				e.outdate(place, nr.path())
			}
		}
		if nr.frame.owner == nil {
			return
		}
	}
}

// outdate records that what was forwarded at a place no longer counts, because of a node.
func (e *execution) outdate(place, because string) {
	delete(e.forwarded, place)
	ev := &event.Event{Event: event.NodeReused, Node: place, FromRun: e.Memory.Run, Outdated: true, Cause: because}
	segments, _ := event.Segments(place)
	switch last := segments[len(segments)-1]; {
	case last.Item >= 0:
		ev.Event, ev.Node, ev.Item = event.ItemCompleted, strings.TrimSuffix(place, "["+strconv.Itoa(last.Item)+"]"), &last.Item
	case last.Iteration > 0:
		ev.Event, ev.Node, ev.Iteration = event.IterationCompleted, strings.TrimSuffix(place, "#"+strconv.Itoa(last.Iteration)), last.Iteration
	}
	e.append(ev)
}
