package engine

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"

	"github.com/pflow-suite/pflow/pkg/engine/flow"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// The digests of journals from before run_started had a key_version: hashes of nodes as they are written, with all that only schedules
// them. They are needed for as long as events have "v":1, so that what those runs finished is kept, and the keys of their nodes stay.

// oldNode returns the digest of a node, or of an item of its batch: of its type, its definition, and its resolved parameters.
// A secret in the definition counts by its name and not by its value. In the parameters only its presence counts, for the
// parameters may come from an earlier run's outputs, which are without secrets.
func (b *values) oldNode(nr *nodeRun, bound *boundNode) string {
	params, _ := b.store.redactor.JSON(bound.Params)
	h := sha256.New()
	hashParts(h, rawjson.Quote(nr.node.Type), b.store.redactor.Named(nr.node.Params))
	if before, after, text := bound.Long(params); text == nil {
		hashParts(h, params)
	} else if err := hashLong(h, before, after, text); err != nil {
		return ""
	}
	if nr.node.Loop != nil {
		hashParts(h, definition(nr.node.Loop))
		uses, _ := plan.Uses(nr.node)
		for _, u := range uses { // later iterations may read what the first does not
			if v, ok := nr.frame.inputs[u.Ref.Root]; ok {
				v, _ = b.store.redactor.JSON(v)
				hashParts(h, v)
			}
		}
	}
	if bound.sub != nil {
		hashParts(h, rawjson.Quote(oldWorkflow(bound.sub)))
	}
	return sumOf(h)
}

// oldWorkflow returns the digest of a workflow and of all workflows that its nodes run.
func oldWorkflow(f *flow.Flow) string {
	parts := []json.RawMessage{rawjson.Quote(f.Digest)}
	for _, id := range slices.Sorted(maps.Keys(f.Subs)) {
		parts = append(parts, rawjson.Quote(id), rawjson.Quote(oldWorkflow(f.Subs[id])))
	}
	return hashOf(parts...)
}

// oldBatch returns the digest of a batch as a whole: of its definition, and of each item, which its outputs repeat, with the item's
// digest.
func (b *values) oldBatch(nr *nodeRun, bindItem func(nr *nodeRun, i int) (*boundNode, error)) string {
	parts := []json.RawMessage{rawjson.Quote(nr.node.Type), b.store.redactor.Named(nr.node.Params), definition(nr.node.Batch)}
	for i, item := range nr.batch.items {
		bound, err := bindItem(nr, i)
		if err != nil {
			return ""
		}
		item, _ = b.store.redactor.JSON(item)
		parts = append(parts, item, json.RawMessage(b.oldNode(nr, bound)))
	}
	return hashOf(parts...)
}

// oldQuestion returns the digest of what a person is asked about.
func (b *values) oldQuestion(nr *nodeRun, q *Question) string {
	parts := []json.RawMessage{rawjson.Quote(nr.node.Type), b.store.redactor.Named(nr.node.Params), rawjson.Quote(b.store.redactor.Text(q.Text)), q.Params}
	for _, c := range q.Choices {
		parts = append(parts, rawjson.Quote(c))
	}
	return hashOf(parts...)
}

// definition returns a part of a workflow as JSON.
func definition[T workflow.Loop | workflow.Batch](part *T) json.RawMessage {
	raw, err := rawjson.Marshal(part)
	if err != nil {
		return nil // it was read from JSON
	}
	return raw
}
