package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// items are the items of a batch.
type items struct {
	Summary string
	// Failed holds the first failed items, if the table of all items is folded.
	Failed *table
	All    *table
	// Folded is set if the table of all items is long, Tools if it is so long that it can be searched.
	Folded, Tools bool
	// HasFailed is set if an item failed. Slow is the time above which an item counts as slow, or "" if none does.
	HasFailed bool
	Slow      string
}

const (
	fewItems  = 20  // items that are shown without folding
	maxFailed = 20  // failed items that are shown before the folded table
	someItems = 5   // items from which on the table can be searched
	maxItem   = 100 // characters of an item
)

// batchOf is a node's batch as its table needs it.
type batchOf struct {
	list []history.Item
	// values are the items themselves, if they are known.
	values []gjson.Result
	// slow is the time above which an item counts as slow; 0 if none does.
	slow time.Duration
}

// itemsOf returns the items of a node's batch that have ended; nil for a node without a batch.
func (r *writer) itemsOf(n *history.Node, def *workflow.Node) *items {
	if len(n.Items) == 0 && n.Total <= 0 {
		return nil
	}
	b := &batchOf{list: slices.SortedFunc(slices.Values(n.Items), func(a, b history.Item) int { return cmp.Compare(a.Index, b.Index) }), values: r.itemValues(n, def)}
	took := b.durations()
	b.slow = slowFrom(took)
	failures := n.Failures()
	out := &items{
		Summary: b.summary(n, took), Folded: len(b.list) > fewItems, Tools: len(b.list) >= someItems, HasFailed: failures > 0,
	}
	if b.slow > 0 {
		out.Slow = history.FormatDuration(b.slow)
	}
	if out.Folded && failures > 0 {
		out.Failed = b.table(fmt.Sprintf("The %s that failed", plural(failures, "item")), maxFailed, func(it *history.Item) bool { return it.Error != nil })
		if failures > maxFailed {
			out.Failed.Caption = fmt.Sprintf("The first %d of the %s that failed", maxFailed, plural(failures, "item"))
		}
	}
	room := min(r.itemsLeft, len(b.list))
	r.itemsLeft -= room
	caption := "All " + plural(len(b.list), "item")
	switch {
	case room < len(b.list):
		caption = fmt.Sprintf("The first %s of %s", thousands(room), plural(len(b.list), "item"))
	case n.Total > len(b.list):
		caption = plural(len(b.list), "item") + " that ended"
	}
	out.All = b.table(caption, room, func(*history.Item) bool { return true })
	out.Tools = out.Tools && len(out.All.Rows) > 0
	return out
}

// itemValues returns the list that a batch runs over, as far as the events contain it.
func (r *writer) itemValues(n *history.Node, def *workflow.Node) []gjson.Result {
	if def == nil || def.Batch == nil {
		return nil
	}
	list := def.Batch.Items
	if resolved, ok := r.recorded.Items(n, list); ok {
		list = resolved
	}
	parsed := gjson.ParseBytes(list)
	if parsed.Type == gjson.String { // text that is a JSON list, such as the output of a shell
		parsed = gjson.Parse(parsed.Str)
	}
	if !parsed.IsArray() || !json.Valid([]byte(parsed.Raw)) {
		return nil
	}
	return parsed.Array()
}

// durations returns how long the items took that ran in this run, the shortest first.
func (b *batchOf) durations() (took []time.Duration) {
	for _, it := range b.list {
		if it.FromRun == "" {
			took = append(took, it.Duration)
		}
	}
	slices.Sort(took)
	return took
}

// slowFrom returns the time above which an item counts as slow: twice the median, or the time of nine tenths of the items if that is longer.
// It is 0 if no item took longer. The times are sorted.
func slowFrom(took []time.Duration) time.Duration {
	if len(took) < someItems {
		return 0
	}
	if limit := max(2*took[len(took)/2], took[len(took)*9/10-1]); took[len(took)-1] > limit {
		return limit
	}
	return 0
}

// summary returns how many items there are of which kind, and how long they took.
func (b *batchOf) summary(n *history.Node, took []time.Duration) string {
	text := plural(len(b.list), "item")
	if n.Total > len(b.list) {
		text = thousands(len(b.list)) + " of " + plural(n.Total, "item")
	}
	if failed := n.Failures(); failed > 0 {
		text += fmt.Sprintf(", %s failed", thousands(failed))
	}
	if reused := len(b.list) - len(took); reused > 0 {
		text += fmt.Sprintf(", %s reused", thousands(reused))
	}
	if len(took) > 1 {
		text += fmt.Sprintf("; half took up to %s, the longest %s", history.FormatDuration(took[len(took)/2]), history.FormatDuration(took[len(took)-1]))
	}
	return text
}

// table returns a table of at most room items for which of returns true.
func (b *batchOf) table(caption string, room int, of func(*history.Item) bool) *table {
	t := &table{Caption: caption, Heads: []string{"Item", "Took", "Result"}}
	if b.values != nil {
		t.Heads = slices.Insert(t.Heads, 1, "Value")
	}
	for i := range b.list {
		if len(t.Rows) == room {
			break
		}
		if it := &b.list[i]; of(it) {
			t.Rows = append(t.Rows, b.row(it))
		}
	}
	return t
}

func (b *batchOf) row(it *history.Item) row {
	w := row{State: stateOf("completed"), Cells: []string{strconv.Itoa(it.Index), history.FormatDuration(it.Duration), ""}}
	w.Slow = b.slow > 0 && it.FromRun == "" && it.Duration > b.slow
	switch {
	case it.Error != nil:
		w.State, w.Cells[2] = stateOf("failed"), summaryOf(it.Error.Message)
	case it.FromRun != "":
		w.State, w.Cells[1], w.Cells[2] = stateOf("reused"), "", "Reused from run "+oneLine(it.FromRun)
	}
	w.Cells[2] = cmp.Or(w.Cells[2], w.State.Word)
	if b.values != nil {
		value := ""
		if it.Index >= 0 && it.Index < len(b.values) {
			v := b.values[it.Index]
			if value = v.Raw; v.Type == gjson.String {
				value = v.Str
			}
		}
		w.Cells = slices.Insert(w.Cells, 1, cut(oneLine(cut(value, 2*maxItem)), maxItem))
	}
	return w
}
