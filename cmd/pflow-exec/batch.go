package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// The most items of a batch that a person is shown: those that failed, and the results of others.
const (
	maxFailedItems = 20
	maxResults     = 10
)

// The most columns of an item, and the most bytes of its result.
const (
	maxItem   = 30
	maxResult = 200
)

// countsOf returns the counts of a node's batch for people, such as "4 of 12, 1 failed". It returns "" for a node without a batch. A node
// that was reused has the counts in its outputs only.
func countsOf(n *reader.NodeDetails) string {
	c := n.Items
	switch {
	case c != nil:
	case isBatch(n.Outputs):
		ended := int(gjson.GetBytes(n.Outputs, "count").Int())
		c = &reader.ItemCounts{Total: ended, Ended: ended, Failed: int(gjson.GetBytes(n.Outputs, "error_count").Int())}
	default:
		return ""
	}
	text := strconv.Itoa(c.Total)
	if c.Ended < c.Total {
		text = fmt.Sprintf("%d of %d", c.Ended, c.Total)
	}
	if c.Failed > 0 {
		text += fmt.Sprintf(", %d failed", c.Failed)
	}
	return text
}

// isSummarized reports whether an output of a batch is in what countsOf and writeBatch write.
func isSummarized(name string) bool {
	return slices.Contains([]string{"results", "count", "success_count", "error_count", "errors"}, name)
}

// isBatch reports whether the outputs are those of a batch. Limited outputs may have references in place of the lists.
func isBatch(outputs json.RawMessage) bool {
	return gjson.GetBytes(outputs, "results").IsArray() && gjson.GetBytes(outputs, "errors").IsArray() && gjson.GetBytes(outputs, "batch_metadata").IsObject()
}

// writeBatch writes the first failed items of a batch and the first results, each on a line of at most that many columns unless
// that is 0.
func writeBatch(w io.Writer, outputs json.RawMessage, columns int) {
	writeItems(w, "failed", gjson.GetBytes(outputs, "errors"), maxFailedItems, columns, func(it gjson.Result) (gjson.Result, string) {
		return it.Get("index"), it.Get("error").Str
	})
	writeItems(w, "results", gjson.GetBytes(outputs, "results"), maxResults, columns, func(it gjson.Result) (gjson.Result, string) {
		return it.Get("original_index"), textOf(json.RawMessage(it.Raw))
	})
}

// writeItems writes the first most items of a list below a label. of returns the number of an item in the batch, and what is shown of it.
func writeItems(w io.Writer, label string, list gjson.Result, most, columns int, of func(it gjson.Result) (gjson.Result, string)) {
	var table cells.Table
	n := 0
	list.ForEach(func(_, it gjson.Result) bool {
		if n++; n <= most {
			index, text := of(it)
			item := template.AsText(json.RawMessage(it.Get("item").Raw))
			table.Row("["+index.Raw+"]", cells.Cut(cells.Clean(fault.Truncate(item, maxResult)), maxItem), fault.Truncate(text, maxResult))
		}
		return true
	})
	if n == 0 {
		return
	}
	var lines strings.Builder
	_ = table.Write(&lines, max(0, columns-2))
	if n > most {
		_, _ = fmt.Fprintf(&lines, "… and %d more\n", n-most)
	}
	_, _ = fmt.Fprintf(w, "%s:\n", label)
	for line := range strings.Lines(lines.String()) {
		_, _ = fmt.Fprintf(w, "  %s", line)
	}
}
