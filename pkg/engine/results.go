package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// failures says which item failed first in the order of the list, -1 when none did, and how many did.
func (a *active) failures() (first, failed int) {
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
func (a *active) succeeded() (n int) {
	for _, it := range a.batch.ends {
		if it.outputs != nil && it.fault == nil {
			n++
		}
	}
	return n
}

// results are the outputs of a batch, as a value of the stream. Each result is what the item put out, and the item.
func (e *execution) results(a *active) (json.RawMessage, error) {
	var results, errors bytes.Buffer
	var most, least, total time.Duration
	count, failed := 0, 0
	for i, it := range a.batch.ends {
		if it.outputs == nil { // it never started
			continue
		}
		item := event.Escape(a.batch.items[i])
		outputs, err := e.opened(it.outputs)
		if err != nil {
			return nil, err
		}
		if it.fault != nil {
			failed++
			if !gjson.GetBytes(outputs, "error").Exists() {
				outputs = with(outputs, "error", rawjson.Quote(it.fault.Message))
			}
			separate(&errors)
			_, _ = fmt.Fprintf(&errors, `{"index":%d,"item":%s,"error":%s}`, i, item, rawjson.Quote(it.fault.Message))
		}
		separate(&results)
		results.Write(with(outputs, "item", item))
		if count++; count == 1 {
			least = it.took
		}
		most, least, total = max(most, it.took), min(least, it.took), total+it.took
	}
	b := a.node.Batch
	out := []byte(`{"results":[` + results.String() + `],"count":` + strconv.Itoa(count) +
		`,"success_count":` + strconv.Itoa(count-failed) + `,"error_count":` + strconv.Itoa(failed) + `,"errors":`)
	if failed == 0 {
		out = append(out, "null"...)
	} else {
		out = append(append(append(out, '['), errors.Bytes()...), ']')
	}
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
	return fmt.Appendf(out, `,"batch_metadata":{"parallel":%t,"max_concurrent":%s,"max_retries":%d,"retry_wait":%s,"execution_mode":%q,`+
		`"timing":{"total_items_ms":%s,"avg_item_ms":%s,"min_item_ms":%s,"max_item_ms":%s}}}`,
		b.Parallel, concurrent, b.MaxRetries, wait, mode, ms(total), ms(average), ms(least), ms(most)), nil
}

func ms(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', -1, 64)
}

func separate(b *bytes.Buffer) {
	if b.Len() > 0 {
		b.WriteByte(',')
	}
}
