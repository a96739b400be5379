package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

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

// fan reads and binds the items of batches, puts their results together, and decides whether loops go on.
type fan struct {
	values   *values
	store    *store
	warnings *warnings
}

// readItems resolves the items of a node's batch.
func (b *fan) readItems(nr *nodeRun) error {
	source := nr.node.Batch.Items
	value, err := b.values.binding(nr).Value(nr.node, "batch.items", source)
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
func (b *fan) bindItem(nr *nodeRun, i int) (*boundNode, error) {
	binding := b.values.binding(nr)
	binding.Scope = nr.batch.once(binding.Scope)
	binding.Locals[nr.node.Batch.As] = nr.batch.items[i]
	binding.Locals[plan.IndexName] = integer(i)
	return b.values.bind(nr, binding)
}

// itemDigest returns the digest of an item, computing it once.
func (b *fan) itemDigest(nr *nodeRun, i int) (string, error) {
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
func (b *fan) digest(nr *nodeRun) (string, error) { return b.values.batch(nr, b.itemDigest) }

// result returns how a batch ended, without its outputs.
func (b *fan) result(t *task) *result {
	nr := t.run
	r := &result{task: t, node: &node.Result{Action: workflow.ActionDefault}}
	for _, it := range nr.batch.states {
		r.missingSecrets = r.missingSecrets || it.missingSecrets
	}
	first, failed := nr.batch.failures()
	switch all := len(nr.batch.items); {
	case failed > 0 && nr.timedOut():
		f := *timeoutFault(nr.ctx)
		f.Message = fmt.Sprintf("Batch '%s' ended early, after %d of %d items: %s", nr.id(), nr.batch.succeeded(), all, f.Message)
		r.node = failure(&f)
	case plan.BatchFails(nr.node.Batch, all, failed):
		f := *nr.batch.states[first].fault
		f.Message = fmt.Sprintf("Batch '%s' failed at item [%d]: %s", nr.id(), first, f.Message)
		if nr.node.Batch.ErrorHandling == plan.Continue {
			f.Message = fmt.Sprintf("Batch '%s' failed: all %d items failed, the first with: %s", nr.id(), failed, nr.batch.states[first].fault.Message)
		}
		r.node = failure(&f)
	case failed > 0:
		b.warnings.degradeByFailure(t, fmt.Sprintf("node %s: %d of %d items failed, the first, [%d], with: %s", nr.path(), failed, all, first, nr.batch.states[first].fault.Message))
	}
	return r
}

// outputs puts the outputs of a batch together. What is written comes from the journal, an item at a time. Only if that
// misses secrets, the whole is made in memory as well, for the templates of this run.
func (b *fan) outputs(r *result) (err error) {
	newBlob := b.store.journal.NewBlob
	written := &batchLists{results: event.Spool{New: newBlob}, errors: event.Spool{New: newBlob}}
	defer written.discard()
	if r.kept, err = b.assemble(r.run, written, false); err != nil {
		return err
	}
	r.node.Outputs = r.kept
	if r.redacted = written.redacted || r.missingSecrets; written.redacted && !r.missingSecrets {
		if r.node.Outputs, err = b.assemble(r.run, &batchLists{}, true); err != nil {
			return err
		}
	}
	r.kept, err = event.Spill(r.kept, b.store.journal.PutBlob)
	return err
}

// batchLists are the lists in the outputs of a batch, while they are written.
type batchLists struct {
	results, errors event.Spool
	// redacted reports whether secrets were taken out.
	redacted bool
}

func (l *batchLists) discard() {
	l.results.Discard()
	l.errors.Discard()
}

// assemble returns the outputs of a batch: as they are written, or whole with their secrets.
func (b *fan) assemble(nr *nodeRun, to *batchLists, whole bool) (json.RawMessage, error) {
	for i := range nr.batch.states {
		if nr.batch.states[i].ended { // the others never began
			if err := b.addItem(nr.batch, i, to, whole); err != nil {
				return nil, err
			}
		}
	}
	results, err := to.results.Value()
	if err != nil {
		return nil, err
	}
	errors, err := to.errors.Value()
	if err != nil {
		return nil, err
	}
	return nr.batchOutputs(results, errors), nil
}

// addItem adds an item that has ended to the list that it belongs to.
func (b *fan) addItem(of *batch, i int, to *batchLists, whole bool) error {
	it := &of.states[i]
	item, outputs, redacted := event.Escape(of.items[i]), it.whole, false
	if !whole {
		item, redacted = b.store.redactor.JSON(item)
	}
	to.redacted = to.redacted || redacted
	if it.fault != nil {
		return to.errors.Add(fmt.Appendf(nil, `{"index":%d,"item":%s,"error":%s}`, i, item, rawjson.Quote(it.fault.Message)))
	}
	to.redacted = to.redacted || it.whole != nil
	if !whole || outputs == nil {
		var err error
		if outputs, err = b.itemOutputs(it); err != nil {
			return err
		}
	}
	return to.results.Add(with(with(outputs, "item", item), "original_index", integer(i)))
}

// itemOutputs reads the outputs of an item from the journal.
func (b *fan) itemOutputs(it *itemState) (json.RawMessage, error) {
	line, err := b.store.journal.Line(it.at)
	if err != nil {
		return nil, err
	}
	outputs := gjson.GetBytes(line, "outputs").Raw
	if outputs == "" {
		return json.RawMessage("{}"), nil
	}
	return b.store.inline(json.RawMessage(outputs))
}

// batchOutputs returns the outputs of a node's batch that has the given lists of results and of errors.
func (nr *nodeRun) batchOutputs(results, errors json.RawMessage) json.RawMessage {
	var most, least, total time.Duration
	count := 0
	for _, it := range nr.batch.states {
		if !it.ended {
			continue
		}
		if count++; count == 1 {
			least = it.took
		}
		most, least, total = max(most, it.took), min(least, it.took), total+it.took
	}
	_, failed := nr.batch.failures()
	b := nr.node.Batch
	mode, concurrent, wait := "sequential", "null", "null"
	if b.Parallel {
		mode, concurrent = "parallel", strconv.Itoa(b.MaxConcurrent)
	}
	if b.RetryWait > 0 {
		wait = strconv.FormatFloat(time.Duration(b.RetryWait).Seconds(), 'f', -1, 64)
	}
	average := time.Duration(0)
	if count > 0 {
		average = total / time.Duration(count)
	}
	ms := func(d time.Duration) string { return strconv.FormatFloat(milliseconds(d), 'f', -1, 64) }
	return fmt.Appendf(nil, `{"results":%s,"count":%d,"success_count":%d,"error_count":%d,"errors":%s,`+
		`"batch_metadata":{"parallel":%t,"max_concurrent":%s,"max_retries":%d,"retry_wait":%s,"execution_mode":%q,`+
		`"timing":{"total_items_ms":%s,"avg_item_ms":%s,"min_item_ms":%s,"max_item_ms":%s}}}`,
		results, count, count-failed, failed, errors,
		b.Parallel, concurrent, b.MaxRetries, wait, mode, ms(total), ms(average), ms(least), ms(most))
}

// Why a loop stopped, in its outputs.
const (
	stoppedByCondition = "condition"
	stoppedByLimit     = "max_iterations"
)

// iteration is what follows an iteration of a loop: another one that is given the values of carry, or, if stopped is not
// empty, none.
type iteration struct {
	carry   map[string]json.RawMessage
	stopped string
	// wait is how long to wait before the next iteration.
	wait time.Duration
}

// nextIteration decides whether the loop of a node goes on, from the node's outputs.
func (b *fan) nextIteration(nr *nodeRun) (next iteration, err error) {
	loop := nr.node.Loop
	binding := b.values.binding(nr)
	binding.Locals = nr.bound.Locals()
	condition, path := loop.While, "loop.while"
	if loop.Until != "" {
		condition, path = loop.Until, "loop.until"
	}
	value, err := binding.Value(nr.node, path, rawjson.Quote(condition))
	if err != nil {
		return next, err
	}
	switch holds := template.Truth(value); {
	case plan.Again(loop, nr.iteration, nr.most, holds):
	case plan.Again(loop, 0, nr.most, holds): // it would go on without the limit
		next.stopped = stoppedByLimit
		return next, nil
	default:
		next.stopped = stoppedByCondition
		return next, nil
	}
	next.carry = map[string]json.RawMessage{}
	for _, name := range slices.Sorted(maps.Keys(loop.Carry)) {
		if next.carry[name], err = binding.Value(nr.node, rawjson.JoinPath("loop.carry", name), loop.Carry[name]); err != nil {
			return next, err
		}
	}
	next.wait, err = b.iterationWait(nr, binding)
	return next, err
}

// iterationWait returns how long to wait before the iteration that follows the current one.
func (b *fan) iterationWait(nr *nodeRun, binding *node.Binding) (time.Duration, error) {
	loop := nr.node.Loop
	if loop.Wait == nil {
		return 0, nil
	}
	values := map[string]json.RawMessage{}
	for _, f := range plan.LoopFields(loop) {
		value, err := binding.Value(nr.node, "loop."+f.Name, f.Raw)
		if err != nil {
			return 0, err
		}
		values[f.Name] = value
	}
	wait, ok := nodetype.DurationOf(values["wait"])
	if !ok {
		return 0, loopFault("wait", values["wait"], "a duration, such as 5s")
	}
	policy := &workflow.Retry{Wait: workflow.Duration(wait), MaxWait: max(workflow.DefaultMaxWait, workflow.Duration(wait))}
	if raw := values["backoff"]; raw != nil {
		if policy.Backoff = template.AsText(raw); policy.Backoff != "fixed" && policy.Backoff != "exponential" {
			return 0, loopFault("backoff", raw, "fixed or exponential")
		}
	}
	if raw := values["max_wait"]; raw != nil {
		if !nodetype.IsLimit(raw) {
			return 0, loopFault("max_wait", raw, "a duration of more than 0")
		}
		most, _ := nodetype.DurationOf(raw)
		policy.MaxWait = workflow.Duration(most)
	}
	return plan.Delay(policy, nr.iteration), nil
}

// withoutStop returns the outputs of a loop's last iteration as the iteration itself had them.
func withoutStop(outputs json.RawMessage) json.RawMessage {
	if !gjson.GetBytes(outputs, "loop_stopped").Exists() {
		return outputs
	}
	out := json.RawMessage("{}")
	gjson.ParseBytes(outputs).ForEach(func(key, v gjson.Result) bool {
		if key.Str != "loop_stopped" {
			out = with(out, key.Str, json.RawMessage(v.Raw))
		}
		return true
	})
	return out
}

// advance makes the next iteration the current one.
func (nr *nodeRun) advance(next iteration) {
	nr.carry = next.carry
	nr.iteration++
	nr.question, nr.reply = nil, nil
}
