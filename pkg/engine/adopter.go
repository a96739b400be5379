package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// adopter takes events of the checkpoint over into this run, with their long values, so that this run's journal stands
// alone.
type adopter struct {
	// from is the checkpoint, or nil.
	from *resume.Memory
	// copyBlob is Config.Adopt.
	copyBlob func(ref event.Reference) (found bool, err error)
	// taken has the long values that were taken over, by the paths of their nodes and their references.
	taken   map[string]bool
	batches *batches
	store   *store
	// output counts the outputs that are taken over.
	output   *outputLimit
	cache    *outputCache
	rec      *recorder
	warnings *warnings
	log      *slog.Logger
}

// keep returns the event of a step that is kept, with its long values taken over, or why the step runs. digest and old are the digests that
// the step has now; see resume.Step.
func (a *adopter) keep(nr *nodeRun, place string, digest, old func() string) (kept *event.Event, because string) {
	step := resume.Step{Node: nr.path(), Place: place, Values: nr.isOfValues(), Since: a.cache.since(nr), Digest: digest, Old: old}
	for {
		row, keep, because := a.from.Decide(step, nr.after)
		if !keep {
			return nil, because
		}
		if kept := a.event(nr.path(), row); kept != nil {
			return kept, ""
		}
		if a.rec.journalErr != nil {
			return nil, ""
		}
		a.from.Lose(place)
	}
}

// items takes the items of a batch over that are kept. A warning names the cache if others run again only because what gives the list did.
func (a *adopter) items(nr *nodeRun) {
	again := 0
	for i := range nr.batch.items {
		digest := func() string {
			digest, err := a.batches.itemDigest(nr, i)
			if err != nil {
				return ""
			}
			return digest
		}
		old, because := a.keep(nr, resume.Item(nr.path(), i), digest, func() string {
			bound, err := a.batches.bindItem(nr, i)
			if err != nil {
				return ""
			}
			return a.batches.digests.oldNode(nr, bound)
		})
		if old != nil {
			it := &nr.batch.states[i]
			a.degrade(nr, old)
			it.ended, it.missingSecrets, it.at = true, old.Redacted, a.rec.record(nr.frame, inherited(old, nr.id()))
		} else if row, ok := a.from.Row(resume.Item(nr.path(), i)); ok && because == resume.After(nr.after) && resume.Params(row.InputDigest) == resume.Params(digest()) {
			again++
		}
	}
	if again > 0 && nr.node.Cache == nil && !nr.isSub() && nr.frame.listsFrom(nr) == nr.after {
		a.warnings.add(fmt.Sprintf("node %s: %s", nr.path(), advice(nr.after, again)))
	}
}

// advice says that items of a batch run again although they are the same, and how they are kept.
func advice(list string, items int) string {
	return fmt.Sprintf("%d of its items run again with the parameters that they had, only because %s ran anew; with \"cache\": true they are kept", items, list)
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
		IterationDigest: old.IterationDigest, RanAt: old.RanTime(),
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

// event reads an event about a node and takes its long values over. It returns nil if the event can no longer be read, or if
// this run's journal cannot be written.
func (a *adopter) event(path string, r resume.Row) *event.Event {
	old, err := r.Read()
	if err != nil {
		a.log.Warn("a completed node runs again", "node", path, "error", err)
		return nil
	}
	if !a.blobs(path, old.Outputs, r) {
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
func (a *adopter) blobs(path string, outputs json.RawMessage, of resume.Row) bool {
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
func (a *adopter) blob(path string, ref event.Reference, of resume.Row) bool {
	var content []byte
	found, err := true, error(nil)
	linked := a.copyBlob != nil && of.IsOf(a.from)
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
