package engine

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/trace"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// batch is a node's batch once its items are known.
type batch struct {
	// items are plain JSON.
	items []json.RawMessage
	ends  []itemEnd
	// busy is how many items have begun and not ended; cut says that one was stopped before its end.
	busy int
	cut  bool
	// span is that of the batch; each attempt at an item is one below it.
	span trace.Span
	// read are the values that items have read of inputs and other nodes, by the root and the member of it.
	read map[[2]string]read
}

type read struct {
	raw      json.RawMessage
	standing template.Availability
}

// once is a scope from which each value is fetched once: what one item reads the others read too, and it may be long.
func (b *batch) once(scope template.Scope) template.Scope {
	return func(ref template.Ref) (json.RawMessage, template.Availability) {
		of := [2]string{ref.Root, ref.Member()}
		r, ok := b.read[of]
		if !ok {
			r.raw, r.standing = scope(ref)
			b.read[of] = r
		}
		return r.raw, r.standing
	}
}

// itemEnd is what is known of an item: how it was prepared, while it is tried, and how it ended. There may be very many,
// so what an item put out is not held here: it is read again from the journal.
type itemEnd struct {
	bound  *boundNode
	digest string
	ended  bool
	// at is where the journal has its last event.
	at int64
	// whole is what it put out, when the journal lacks a secret of that.
	whole          json.RawMessage
	fault          *fault.Fault
	took           time.Duration
	missingSecrets bool
}

// fanOut reads the items of a batch and says how many there are. From a checkpoint it takes the items that are there.
func (e *execution) fanOut(l *frame, a *nodeRun, s plan.Step) {
	if a.waitsForSlot { // its items are known, and now there is a place
		a.waitsForSlot, a.holdsSlot = false, true
		e.slots++
		for _, held := range a.heldBack {
			e.push(l, held)
		}
		a.heldBack = nil
		return
	}
	if a.ctx.Err() != nil {
		e.refuse(l, a, s, e.timeoutFault(a.ctx))
		return
	}
	if stale := e.stale(l, a); len(stale) > 0 {
		e.refresh(l, a, s, stale)
		return
	}
	if err := e.readItems(l, a); err != nil {
		e.refuse(l, a, s, err)
		return
	}
	if a.node.Cache != nil && e.Cache != nil {
		digest, err := e.batchDigest(l, a)
		if err != nil {
			e.refuse(l, a, s, err)
			return
		}
		if a.digest = digest; e.fromCache(l, a) {
			return
		}
	}
	e.count(a)
	a.batch.span = e.span(l).Child()
	ev, n := e.started(a, s), len(a.batch.items)
	ev.Items, ev.SpanID = &n, a.batch.span.ID
	if l.owner != nil {
		ev.ParentSpanID = a.batch.span.Parent
	}
	e.record(l, ev)
	if l.inherits && a.inherits {
		e.inheritItems(l, a)
	}
	switch {
	case a.kind.Name == workflow.SubType:
	case e.slots < e.Jobs:
		a.holdsSlot = true
		e.slots++
	default: // it was begun to take from the checkpoint, and goes on when it is its turn
		a.waitsForSlot = true
	}
	e.enqueueReady(l)
}

// readItems resolves the list of a batch.
func (e *execution) readItems(l *frame, a *nodeRun) error {
	source := a.node.Batch.Items
	value, err := e.binding(l, a).Value(a.node, "batch.items", source)
	if err != nil {
		return err
	}
	if parsed, ok := template.Embedded(value); ok {
		value = parsed
	}
	list := gjson.ParseBytes(value)
	if !list.IsArray() {
		shown := fault.Truncate(string(rawjson.Compact(value)), 100)
		f := fault.New(fault.Execution, "Batch items must be a list, and are %s: %s", rawjson.Kind(value), shown)
		if text := gjson.ParseBytes(source); text.Type == gjson.String {
			f.Message = fmt.Sprintf("Batch items must be a list, got %s. Template '%s' resolved to: %s", rawjson.Kind(value), text.Str, shown)
		}
		f.Path = "batch.items"
		return f.Suggest("Give a list, or the output of a node that is one, be it JSON text")
	}
	a.batch = &batch{read: map[[2]string]read{}}
	list.ForEach(func(_, item gjson.Result) bool {
		a.batch.items = append(a.batch.items, json.RawMessage(item.Raw))
		return true
	})
	a.batch.ends = make([]itemEnd, len(a.batch.items))
	return nil
}

// bindItem resolves the node's parameters for an item.
func (e *execution) bindItem(l *frame, a *nodeRun, i int) (*boundNode, error) {
	b := e.binding(l, a)
	b.Scope = a.batch.once(b.Scope)
	b.Locals[a.node.Batch.As] = a.batch.items[i]
	b.Locals[plan.IndexName] = integer(i)
	return e.bind(l, a, b)
}

// itemDigest is the digest of an item, which is worked out once.
func (e *execution) itemDigest(l *frame, a *nodeRun, i int) (string, error) {
	it := &a.batch.ends[i]
	if it.digest == "" {
		p, err := e.bindItem(l, a, i)
		if err != nil {
			return "", err
		}
		it.digest = p.digest
	}
	return it.digest, nil
}

// finishItem ends an item, or tries it again.
func (e *execution) finishItem(r *result) {
	l, a, i := r.l, r.a, r.step.Item
	it := &a.batch.ends[i]
	ms := milliseconds(r.began)
	it.took = time.Since(r.began)
	a.batch.busy--
	switch {
	case r.node.Fault == nil:
		it.end(r, e.record(l, &event.Event{
			Event: event.ItemCompleted, Node: a.node.ID, Item: &i, Attempt: r.step.Attempt, Outputs: r.kept, InputDigest: it.digest,
			Redacted: r.redacted, DurationMS: &ms, Warnings: e.warningTexts(r.degradations),
		}))
	case r.stopped:
		a.batch.cut = true
	default:
		f := *e.redacted(r.node.Fault)
		f.Node = l.path(a.node.ID)
		ev := &event.Event{
			Event: event.NodeFailed, Node: a.node.ID, Item: &i, Attempt: r.step.Attempt, Error: &f, Outputs: r.kept, Redacted: r.redacted, DurationMS: &ms,
		}
		if e.retry(r, ev) {
			a.batch.busy++
			e.record(l, ev)
			break
		}
		no := false
		ev.WillRetry, it.fault = &no, &f
		it.end(r, e.record(l, ev))
	}
	if a.batch.busy == 0 && (a.batch.cut || e.ctx.Err() != nil) {
		e.cancel(l, a)
	}
}

// end notes how an item ended, and where the journal says so.
func (it *itemEnd) end(r *result, at int64) {
	it.ended, it.at, it.bound, it.missingSecrets = true, at, nil, r.missingSecrets
	if r.redacted && !r.missingSecrets {
		it.whole = r.node.Outputs
	}
}

// fanIn puts together what the items gave, and ends the node.
func (e *execution) fanIn(l *frame, a *nodeRun, s plan.Step) {
	if a.digest == "" {
		if digest, err := e.batchDigest(l, a); err == nil { // else an item could not be prepared, and a later run does that anew
			a.digest = digest
		}
	}
	r := &result{task: &task{l: l, a: a, step: s, began: a.began}, node: &node.Result{Action: workflow.ActionDefault}}
	first, failed := a.failures()
	for _, it := range a.batch.ends {
		r.missingSecrets = r.missingSecrets || it.missingSecrets
	}
	switch all := len(a.batch.items); {
	case failed > 0 && a.ctx.Err() != nil:
		f := *e.timeoutFault(a.ctx)
		f.Message = fmt.Sprintf("Batch '%s' did not come to its end, %d of %d items did: %s", a.node.ID, a.succeeded(), all, f.Message)
		r.node = failure(&f)
	case plan.BatchFails(a.node.Batch, all, failed):
		f := *a.batch.ends[first].fault
		f.Message = fmt.Sprintf("Batch '%s' failed at item [%d]: %s", a.node.ID, first, f.Message)
		if a.node.Batch.ErrorHandling == plan.Continue {
			f.Message = fmt.Sprintf("Batch '%s' failed: all %d items did, the first with: %s", a.node.ID, failed, a.batch.ends[first].fault.Message)
		}
		r.node = failure(&f)
	case failed > 0:
		e.degrade(r.task, fmt.Sprintf("node %s: %d of %d items failed, the first, [%d], with: %s", l.path(a.node.ID), failed, all, first, a.batch.ends[first].fault.Message))
	}
	if e.journalErr == nil {
		r.err = e.results(a, r)
	}
	e.finish(r)
}
