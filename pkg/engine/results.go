package engine

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// failures says which item failed first in the order of the list, -1 when none did, and how many did.
func (a *nodeRun) failures() (first, failed int) {
	first = -1
	for i, it := range a.batch.ends {
		if it.fault != nil {
			if failed++; first < 0 {
				first = i
			}
		}
	}
	return first, failed
}

// succeeded is how many items did what they were to do.
func (a *nodeRun) succeeded() (n int) {
	for _, it := range a.batch.ends {
		if it.ended && it.fault == nil {
			n++
		}
	}
	return n
}

// results gives a batch its outputs. What is written is put together from the journal, an item at a time; only where that
// lacks secrets is the whole made in memory as well, for the templates of this run.
func (e *execution) results(a *nodeRun, r *result) (err error) {
	written := &lists{results: event.Spool{New: e.Journal.NewBlob}, errors: event.Spool{New: e.Journal.NewBlob}}
	defer written.drop()
	if r.kept, err = e.putTogether(a, written, false); err != nil {
		return err
	}
	r.node.Outputs = r.kept
	if r.redacted = written.redacted || r.missingSecrets; written.redacted && !r.missingSecrets {
		if r.node.Outputs, err = e.putTogether(a, &lists{}, true); err != nil {
			return err
		}
	}
	r.kept, err = event.Spill(r.kept, e.Journal.PutBlob)
	return err
}

// lists are those among the outputs of a batch, as they are written.
type lists struct {
	results, errors event.Spool
	// redacted says that secrets were taken out.
	redacted bool
}

func (s *lists) drop() {
	s.results.Discard()
	s.errors.Discard()
}

// putTogether makes the outputs of a batch; whole ones have their secrets.
func (e *execution) putTogether(a *nodeRun, to *lists, whole bool) (json.RawMessage, error) {
	for i := range a.batch.ends {
		if it := &a.batch.ends[i]; it.ended { // else it never started
			if err := e.addItem(a, i, it, to, whole); err != nil {
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
	return a.batchOutputs(results, errors), nil
}

// addItem adds an item that has ended.
func (e *execution) addItem(a *nodeRun, i int, it *itemEnd, to *lists, whole bool) error {
	item, outputs, redacted := event.Escape(a.batch.items[i]), it.whole, false
	if !whole {
		item, redacted = e.Redactor.JSON(item)
	}
	to.redacted = to.redacted || redacted || it.whole != nil
	if !whole || outputs == nil {
		var err error
		if outputs, err = e.itemOutputs(it); err != nil {
			return err
		}
	}
	if it.fault == nil {
		return to.results.Add(with(outputs, "item", item))
	}
	message := rawjson.Quote(it.fault.Message)
	if !gjson.GetBytes(outputs, "error").Exists() {
		outputs = with(outputs, "error", message)
	}
	if err := to.results.Add(with(outputs, "item", item)); err != nil {
		return err
	}
	return to.errors.Add(fmt.Appendf(nil, `{"index":%d,"item":%s,"error":%s}`, i, item, message))
}

// itemOutputs reads what an item put out from the journal.
func (e *execution) itemOutputs(it *itemEnd) (json.RawMessage, error) {
	line, err := e.Journal.Line(it.at)
	if err != nil {
		return nil, err
	}
	outputs := gjson.GetBytes(line, "outputs").Raw
	if outputs == "" {
		return json.RawMessage("{}"), nil
	}
	return e.opened(json.RawMessage(outputs))
}

// batchOutputs are the outputs of a batch with its two lists.
func (a *nodeRun) batchOutputs(results, errors json.RawMessage) json.RawMessage {
	var most, least, total time.Duration
	count := 0
	for _, it := range a.batch.ends {
		if !it.ended {
			continue
		}
		if count++; count == 1 {
			least = it.took
		}
		most, least, total = max(most, it.took), min(least, it.took), total+it.took
	}
	_, failed := a.failures()
	if failed == 0 {
		errors = json.RawMessage("null")
	}
	b := a.node.Batch
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
	return fmt.Appendf(nil, `{"results":%s,"count":%d,"success_count":%d,"error_count":%d,"errors":%s,`+
		`"batch_metadata":{"parallel":%t,"max_concurrent":%s,"max_retries":%d,"retry_wait":%s,"execution_mode":%q,`+
		`"timing":{"total_items_ms":%s,"avg_item_ms":%s,"min_item_ms":%s,"max_item_ms":%s}}}`,
		results, count, count-failed, failed, errors,
		b.Parallel, concurrent, b.MaxRetries, wait, mode, ms(total), ms(average), ms(least), ms(most))
}

func ms(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', -1, 64)
}
