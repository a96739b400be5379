package engine

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// result returns how a batch ended, without its outputs.
func (b *batches) result(t *task) *result {
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
func (b *batches) outputs(r *result) (err error) {
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
func (b *batches) assemble(nr *nodeRun, to *batchLists, whole bool) (json.RawMessage, error) {
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
func (b *batches) addItem(of *batch, i int, to *batchLists, whole bool) error {
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
func (b *batches) itemOutputs(it *itemState) (json.RawMessage, error) {
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
