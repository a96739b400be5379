package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event/trace"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// batch is the batch of a node once its items are known.
type batch struct {
	// items are plain JSON, states the states of the items.
	items  []json.RawMessage
	states []itemState
	// busy is how many items have begun and not ended. interrupted reports whether one was stopped before its end.
	busy        int
	interrupted bool
	// stop stops the items that run, because one failed.
	stop context.CancelCauseFunc
	// cached is how many items were taken from the cache, cachedFrom the newest run that they come from.
	cached     int
	cachedFrom string
	// span is the span of the batch. Each attempt at an item has a child of it.
	span trace.Span
	// read are the values that items have read from inputs and other nodes, by root and member.
	read map[[2]string]readValue
}

type readValue struct {
	raw          json.RawMessage
	availability template.Availability
}

// itemState is what is known about an item: what it is bound to while it is tried, and how it ended. There may be very many
// items, so their outputs are not held here: they are read from the journal.
type itemState struct {
	bound  *boundNode
	digest string
	ended  bool
	// at is the place of the item's last event in the journal.
	at int64
	// whole is the item's outputs, if the journal has them without a secret.
	whole json.RawMessage
	fault *fault.Fault
	took  time.Duration
	// missingSecrets reports that the outputs come from a checkpoint and miss a secret.
	missingSecrets bool
}

// fromCache reports whether all items were taken from the cache, and at least one.
func (b *batch) fromCache() bool { return b.cached > 0 && b.cached == len(b.items) }

// end notes how an item ended, and the place of the event about that.
func (it *itemState) end(r *result, at int64) {
	it.ended, it.at, it.bound, it.missingSecrets = true, at, nil, r.missingSecrets
	if r.redacted && !r.missingSecrets {
		it.whole = r.node.Outputs
	}
}

// once returns a scope that fetches each value once: all items read the same values, which may be long.
func (b *batch) once(scope template.Scope) template.Scope {
	return func(ref template.Ref) (json.RawMessage, template.Availability) {
		key := [2]string{ref.Root, ref.Member()}
		r, ok := b.read[key]
		if !ok {
			r.raw, r.availability = scope(ref)
			b.read[key] = r
		}
		return r.raw, r.availability
	}
}

// failures returns the index of the first item that failed, or -1, and how many failed.
func (b *batch) failures() (first, failed int) {
	first = -1
	for i, it := range b.states {
		if it.fault != nil {
			if failed++; first < 0 {
				first = i
			}
		}
	}
	return first, failed
}

// succeeded returns how many items succeeded.
func (b *batch) succeeded() (n int) {
	for _, it := range b.states {
		if it.ended && it.fault == nil {
			n++
		}
	}
	return n
}

// batches reads and binds the items of batches, and puts their results together.
type batches struct {
	binder   *binder
	digests  *digester
	store    *store
	warnings *warnings
}

// readItems resolves the items of a node's batch.
func (b *batches) readItems(nr *nodeRun) error {
	source := nr.node.Batch.Items
	value, err := b.binder.binding(nr).Value(nr.node, "batch.items", source)
	if err != nil {
		return err
	}
	if parsed, ok := template.Embedded(value); ok {
		value = parsed
	}
	list := gjson.ParseBytes(value)
	if !list.IsArray() {
		shown := fault.Truncate(string(rawjson.Compact(value)), 100)
		f := fault.New(fault.Execution, "Batch items must be a list, got %s: %s", rawjson.Kind(value), shown)
		if text := gjson.ParseBytes(source); text.Type == gjson.String {
			f.Message = fmt.Sprintf("Batch items must be a list, got %s. Template '%s' resolved to: %s", rawjson.Kind(value), text.Str, shown)
		}
		f.Path = "batch.items"
		if list.Type == gjson.String {
			suggestLines(f, nr.id(), source)
		}
		return f.Suggest("Give a list, or an output that is a list or the JSON text of one")
	}
	nr.batch = &batch{read: map[[2]string]readValue{}}
	list.ForEach(func(_, item gjson.Result) bool {
		nr.batch.items = append(nr.batch.items, json.RawMessage(item.Raw))
		return true
	})
	nr.batch.states = make([]itemState, len(nr.batch.items))
	return nil
}

// suggestLines suggests how the lines of a text become the items of a batch, if the source of the items is one reference.
func suggestLines(f *fault.Fault, id string, source json.RawMessage) {
	expr, ok := template.Whole(gjson.ParseBytes(source).Str)
	if ref, single := expr.Ref(); ok && single {
		f.Suggest(`For a list of its lines write "items": "${%s | lines}"`, ref.Expression())
		f.Suggest(`Or add the node {"id": "%[1]s-lines", "type": "jq", "params": {"input": "%[2]s", "raw_input": true, "filter": "split(\"\\n\") | map(select(. != \"\"))"}} and write "items": "${%[1]s-lines.result}"`, id, ref)
	}
}

// bindItem resolves the node's templates for an item.
func (b *batches) bindItem(nr *nodeRun, i int) (*boundNode, error) {
	binding := b.binder.binding(nr)
	binding.Scope = nr.batch.once(binding.Scope)
	binding.Locals[nr.node.Batch.As] = nr.batch.items[i]
	binding.Locals[plan.IndexName] = integer(i)
	return b.binder.bind(nr, binding)
}

// itemDigest returns the digest of an item, computing it once.
func (b *batches) itemDigest(nr *nodeRun, i int) (string, error) {
	it := &nr.batch.states[i]
	if it.digest == "" {
		bound, err := b.bindItem(nr, i)
		if err != nil {
			return "", err
		}
		it.digest = bound.digest
	}
	return it.digest, nil
}

// digest returns the digest of a batch as a whole.
func (b *batches) digest(nr *nodeRun) (string, error) { return b.digests.batch(nr, b.itemDigest) }
