package engine

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// adopt takes everything of a frame from the checkpoint that can be, and puts what is left into the queue.
func (e *execution) adopt(l *frame) {
	l.adopting = true
	e.enqueueReady(l)
	l.adopting = false
}

// reuse takes a node from the checkpoint when nothing that decides about it has changed, or goes on with one that was not
// done. It is false when the step is to be done as any other.
func (e *execution) reuse(l *frame, s plan.Step) bool {
	if s.Item >= 0 || s.Attempt > 1 || s.Do == plan.FanIn || l.plan.Settled(s.Node) {
		return false
	}
	if a := l.running[s.Node]; a != nil {
		return e.resumePart(l, a, s)
	}
	if slices.ContainsFunc(l.plan.Sources(s.Node), func(from string) bool { return !l.reused[from] && l.settled[from] }) {
		return false
	}
	a := e.newNodeRun(l, s.Node)
	switch {
	case e.reuseWhole(l, a, s):
		return true
	case s.Do != plan.Ask:
		a.inherits = true
		return e.resumePart(l, a, s)
	case e.reuseAnswer(l, a):
		a.inherits = true
		l.running[s.Node] = a
		return true
	}
	return false
}

// resumePart goes on with a node of which the checkpoint has some part.
func (e *execution) resumePart(l *frame, a *nodeRun, s plan.Step) bool {
	if !a.inherits || !e.From.begun[l.path(s.Node)] || !l.adopting && e.halted(l) {
		return false
	}
	if a.node.Loop != nil && e.inheritIteration(l, a, s) {
		return true
	}
	if a.node.Batch == nil && a.kind.Name != workflow.SubType {
		return false
	}
	l.running[s.Node] = a
	e.begin(due{l: l, step: s}) // what it has to execute comes by the queue
	return true
}

// reuseAnswer takes a person's answer when the question is the same, about the same node.
func (e *execution) reuseAnswer(l *frame, a *nodeRun) bool {
	if a.answer == nil {
		return false
	}
	old := e.From.answers[l.path(a.node.ID)]
	if q, err := e.question(l, a); err != nil || e.questionDigest(a, q) != old.InputDigest {
		return false
	}
	e.record(l, e.inherited(old, a.node.ID))
	return true
}

// reuseWhole takes a node that was done.
func (e *execution) reuseWhole(l *frame, a *nodeRun, s plan.Step) bool {
	m, ok := e.From.settled[l.path(s.Node)]
	if !ok || m.InputDigest == "" || e.currentDigest(l, a) != m.InputDigest {
		return false
	}
	old := e.event(l.path(s.Node), m)
	if old == nil {
		return false
	}
	failed := old.Event == event.NodeFailed || old.Action == workflow.ActionError && old.Error != nil
	if failed && !l.plan.Handles(s.Node) {
		return false
	}
	if s.Do == plan.Ask && a.answer != nil { // templates may read it when the node has to run again
		e.record(l, e.inherited(e.From.answers[l.path(s.Node)], s.Node))
	}
	ev := e.inherited(old, s.Node)
	ev.Event, ev.Attempt = event.NodeReused, 0
	v := value{raw: orEmpty(old.Outputs), redacted: old.Redacted, failed: failed}
	for _, why := range old.Warnings {
		e.degrade(&task{l: l, a: a}, why)
	}
	if failed {
		ev.Action, ev.Error = workflow.ActionError, old.Error
		e.degrade(l.owner, "node "+l.path(s.Node)+" failed in run "+ev.FromRun+" and an error edge took it")
	}
	l.set(s.Node, v)
	l.reused[s.Node] = true
	e.reuses++
	e.settle(l, a, ev, true)
	return true
}

// orEmpty is what a node put out, or an empty object.
func orEmpty(outputs json.RawMessage) json.RawMessage {
	if outputs == nil {
		return json.RawMessage("{}")
	}
	return outputs
}

// currentDigest is the digest that a node would have if it ran now; empty when that cannot be told.
func (e *execution) currentDigest(l *frame, a *nodeRun) string {
	if a.node.Batch != nil {
		if e.readItems(l, a) != nil {
			return ""
		}
		digest, err := e.batchDigest(l, a)
		if err != nil {
			return ""
		}
		return digest
	}
	p, err := e.bind(l, a, e.binding(l, a))
	if err != nil {
		return ""
	}
	return p.digest
}

// inheritItems takes the items of a batch that are in the checkpoint.
func (e *execution) inheritItems(l *frame, a *nodeRun) {
	for i := range a.batch.items {
		m, ok := e.From.parts[itemKey(l.path(a.node.ID), i)]
		if !ok {
			continue
		}
		digest, err := e.itemDigest(l, a, i)
		if err != nil || m.InputDigest != digest {
			continue
		}
		old := e.event(l.path(a.node.ID), m)
		if old == nil {
			continue
		}
		it := &a.batch.ends[i]
		for _, why := range old.Warnings {
			e.degrade(&task{l: l, a: a}, why)
		}
		it.ended, it.missingSecrets, it.at = true, old.Redacted, e.record(l, e.inherited(old, a.node.ID))
	}
}

// inheritIteration takes an iteration that is in the checkpoint, if the loop goes on after it.
func (e *execution) inheritIteration(l *frame, a *nodeRun, s plan.Step) bool {
	id := a.node.ID
	m, ok := e.From.parts[iterationKey(l.path(id), s.Iteration)]
	if !ok || len(e.stale(l, a)) > 0 {
		return false
	}
	p, err := e.bind(l, a, e.binding(l, a))
	if err != nil || m.InputDigest != p.digest {
		return false
	}
	old := e.event(l.path(id), m)
	if old == nil || old.Redacted {
		return false
	}
	before, had := l.values[id]
	a.bound = p
	l.set(id, value{raw: orEmpty(old.Outputs)})
	if again, _, err := e.nextIteration(l, a); err != nil || !again {
		delete(l.values, id)
		if had {
			l.set(id, before)
		}
		return false
	}
	if s.Iteration == 1 {
		a.digest = p.digest
	}
	for _, why := range old.Warnings {
		e.degrade(&task{l: l, a: a}, why)
	}
	l.running[id] = a
	e.record(l, e.inherited(old, id))
	a.iteration++
	return true
}

// inherited is an event of an earlier run, told once more in this one.
func (e *execution) inherited(old *event.Event, id string) *event.Event {
	from := old.FromRun
	if from == "" {
		from = old.Run
	}
	return &event.Event{
		Event: old.Event, Node: id, Item: old.Item, Iteration: old.Iteration, Action: old.Action, Outputs: old.Outputs, InputDigest: old.InputDigest,
		Redacted: old.Redacted, Warnings: old.Warnings, Answer: old.Answer, By: old.By, FromRun: from, Attempt: old.Attempt,
	}
}

// adoptBlobs takes the long values of an earlier run's outputs over into this run's record, so that it stands alone. It
// says whether they were all there; when they cannot be kept here the run falls.
func (e *execution) adoptBlobs(path string, outputs json.RawMessage) bool {
	if !bytes.Contains(outputs, []byte(`"$blob"`)) {
		return true
	}
	if ref, ok := event.ReferenceOf(outputs); ok {
		return e.adoptBlob(path, ref)
	}
	all := true
	gjson.ParseBytes(outputs).ForEach(func(_, v gjson.Result) bool {
		all = !v.IsObject() && !v.IsArray() || e.adoptBlobs(path, json.RawMessage(v.Raw))
		return all
	})
	return all
}

// adoptBlob takes over one long value, and those that it refers to.
func (e *execution) adoptBlob(path string, ref event.Reference) bool {
	var content []byte
	found, err := true, error(nil)
	if e.Adopt != nil {
		found, err = e.Adopt(ref)
	}
	if found && err == nil && (e.Adopt == nil || ref.JSON()) {
		if content, err = e.From.Blob(ref.Blob); err != nil || len(content) != ref.Bytes {
			found, err = false, nil
		} else if e.Adopt == nil {
			_, err = e.Journal.PutBlob(content)
		}
	}
	if err != nil {
		e.abort(err)
		return false
	}
	if !found {
		e.Log.Warn("a completed node runs again: a long value that it put out is missing", "node", path)
		return false
	}
	return !ref.JSON() || e.adoptBlobs(path, content)
}
