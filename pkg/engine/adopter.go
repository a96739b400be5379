package engine

import (
	"bytes"
	"encoding/json"
	"log/slog"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// adopter takes events of the checkpoint over into this run, with their long values, so that this run's journal stands
// alone.
type adopter struct {
	// from is the checkpoint, or nil.
	from *Checkpoint
	// copyBlob is Config.Adopt.
	copyBlob func(ref event.Reference) (found bool, err error)
	// taken has the long values that were taken over, by the paths of their nodes and their references.
	taken   map[string]bool
	batches *batches
	store   *store
	// output counts the outputs that are taken over.
	output   *outputLimit
	rec      *recorder
	warnings *warnings
	log      *slog.Logger
}

// answer returns the event of the answer to the question about a node, or nil.
func (a *adopter) answer(nr *nodeRun) *event.Event {
	if a.from == nil {
		return nil
	}
	return a.from.answers[nr.path()]
}

// settled returns the last event of a node, or nil unless the node has the digest that it had then.
func (a *adopter) settled(nr *nodeRun, digest func() string) *event.Event {
	return a.unchanged(nr, a.from.settled[nr.path()], digest)
}

// iteration returns the event of an iteration of a node's loop, or nil unless it has the digest that it had then.
func (a *adopter) iteration(nr *nodeRun, iteration int, digest func() string) *event.Event {
	return a.unchanged(nr, a.from.parts[iterationKey(nr.path(), iteration)], digest)
}

func (a *adopter) unchanged(nr *nodeRun, r record, digest func() string) *event.Event {
	if r.InputDigest == "" || digest() != r.InputDigest {
		return nil
	}
	return a.event(nr.path(), r)
}

// items takes the items of a batch over that the checkpoint has.
func (a *adopter) items(nr *nodeRun) {
	for i := range nr.batch.items {
		r, ok := a.from.parts[itemKey(nr.path(), i)]
		if !ok {
			continue
		}
		digest, err := a.batches.itemDigest(nr, i)
		if err != nil || r.InputDigest != digest {
			continue
		}
		old := a.event(nr.path(), r)
		if old == nil {
			continue
		}
		it := &nr.batch.states[i]
		a.degrade(nr, old)
		it.ended, it.missingSecrets, it.at = true, old.Redacted, a.rec.record(nr.frame, inherited(old, nr.id()))
	}
}

// degrade notes why the outputs of an adopted event were not a full success.
func (a *adopter) degrade(nr *nodeRun, old *event.Event) {
	if len(old.Warnings) > 0 && (nr.node.Batch != nil || nr.isSub()) {
		a.warnings.retryable = true
	}
	for _, why := range old.Warnings {
		a.warnings.degradeNode(nr, why)
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
	}
}

// reusedEvent returns the event of a node that is reused as a whole.
func reusedEvent(old *event.Event, id string) *event.Event {
	ev := inherited(old, id)
	ev.Event, ev.Attempt = event.NodeReused, 0
	if failedAndHandled(old) {
		ev.Action, ev.Error = workflow.ActionError, old.Error
	}
	return ev
}

// event reads an event about a node and takes its long values over. It returns nil if the event can no longer be read, or if
// this run's journal cannot be written.
func (a *adopter) event(path string, r record) *event.Event {
	old, err := r.read()
	if err != nil {
		a.log.Warn("a completed node runs again", "node", path, "error", err)
		return nil
	}
	if !a.blobs(path, old.Outputs, r.of) {
		return nil
	}
	if old.Outputs, err = event.Spill(old.Outputs, a.store.journal.PutBlob); err != nil { // of a stream without blobs
		a.rec.abort(err)
		return nil
	}
	a.output.adopt(len(old.Outputs))
	return old
}

// blobs takes the long values among outputs over from a checkpoint. It reports whether all were found; if they cannot be stored,
// the run is aborted.
func (a *adopter) blobs(path string, outputs json.RawMessage, of *Checkpoint) bool {
	if !bytes.Contains(outputs, []byte(`"$blob"`)) {
		return true
	}
	if ref, ok := event.ReferenceOf(outputs); ok {
		return a.blob(path, ref, of)
	}
	all := true
	gjson.ParseBytes(outputs).ForEach(func(_, v gjson.Result) bool {
		all = !v.IsObject() && !v.IsArray() || a.blobs(path, json.RawMessage(v.Raw), of)
		return all
	})
	return all
}

// blob takes one long value over, and those that it refers to.
func (a *adopter) blob(path string, ref event.Reference, of *Checkpoint) bool {
	var content []byte
	found, err := true, error(nil)
	linked := a.copyBlob != nil && of == a.from
	if linked {
		found, err = a.copyBlob(ref)
	}
	if found && err == nil && (!linked || ref.JSON()) {
		if content, err = of.Blob(ref.Blob); err != nil || len(content) != ref.Bytes {
			found, err = false, nil
		} else if !linked {
			_, err = a.store.journal.PutBlob(content)
		}
	}
	if err != nil {
		a.rec.abort(err)
		return false
	}
	if !found {
		a.log.Warn("a completed node runs again: a long value of its outputs is missing", "node", path)
		return false
	}
	if taken := path + " " + ref.Blob; !a.taken[taken] {
		a.taken[taken] = true
		a.output.adopt(ref.Bytes)
	}
	return !ref.JSON() || a.blobs(path, content, of)
}
