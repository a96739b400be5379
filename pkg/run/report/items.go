package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/pflow-suite/pflow/pkg/event/history"
)

// items are the items of a batch.
type items struct {
	Summary string
	// Failed holds the first failed items, if the table of all items is folded.
	Failed *table
	All    *table
	// Folded is set if the table of all items is long.
	Folded bool
}

const (
	fewItems  = 20 // items that are shown without folding
	maxFailed = 20 // failed items that are shown before the folded table
)

// itemsOf returns the items of a node's batch that have ended; nil for a node without a batch.
func (r *writer) itemsOf(n *history.Node) *items {
	if len(n.Items) == 0 && n.Total <= 0 {
		return nil
	}
	list := slices.SortedFunc(slices.Values(n.Items), func(a, b history.Item) int { return cmp.Compare(a.Index, b.Index) })
	out := &items{Summary: r.itemSummary(n, list), Folded: len(list) > fewItems}
	failures := n.Failures()
	if out.Folded && failures > 0 {
		out.Failed = r.itemTable(fmt.Sprintf("The %s that failed", plural(failures, "item")), list, maxFailed, func(it *history.Item) bool { return it.Error != nil })
		if failures > maxFailed {
			out.Failed.Caption = fmt.Sprintf("The first %d of the %s that failed", maxFailed, plural(failures, "item"))
		}
	}
	room := min(r.itemsLeft, len(list))
	r.itemsLeft -= room
	caption := "All " + plural(len(list), "item")
	switch {
	case room < len(list):
		caption = fmt.Sprintf("The first %s of %s", thousands(room), plural(len(list), "item"))
	case n.Total > len(list):
		caption = plural(len(list), "item") + " that ended"
	}
	out.All = r.itemTable(caption, list, room, func(*history.Item) bool { return true })
	return out
}

// itemSummary returns how many items there are of which kind, and how long they took.
func (r *writer) itemSummary(n *history.Node, list []history.Item) string {
	text := plural(len(list), "item")
	if n.Total > len(list) {
		text = thousands(len(list)) + " of " + plural(n.Total, "item")
	}
	if failed := n.Failures(); failed > 0 {
		text += fmt.Sprintf(", %s failed", thousands(failed))
	}
	reused := 0
	var took []time.Duration
	for _, it := range list {
		if it.FromRun != "" {
			reused++
		} else {
			took = append(took, it.Duration)
		}
	}
	if reused > 0 {
		text += fmt.Sprintf(", %s reused", thousands(reused))
	}
	if len(took) > 1 {
		slices.Sort(took)
		text += fmt.Sprintf("; half took up to %s, the longest %s", history.FormatDuration(took[len(took)/2]), history.FormatDuration(took[len(took)-1]))
	}
	return text
}

// itemTable returns a table of at most room items for which of returns true.
func (r *writer) itemTable(caption string, list []history.Item, room int, of func(*history.Item) bool) *table {
	t := &table{Caption: caption, Heads: []string{"Item", "Took", "Result"}}
	for i := range list {
		it := &list[i]
		if len(t.Rows) == room {
			break
		}
		if !of(it) {
			continue
		}
		w := row{State: stateOf("completed"), Cells: []string{strconv.Itoa(it.Index), history.FormatDuration(it.Duration), ""}}
		switch {
		case it.Error != nil:
			w.State, w.Cells[2] = stateOf("failed"), summaryOf(it.Error.Message)
		case it.FromRun != "":
			w.State, w.Cells[1], w.Cells[2] = stateOf("reused"), "", "Reused from run "+oneLine(it.FromRun)
		}
		w.Cells[2] = cmp.Or(w.Cells[2], w.State.Word)
		t.Rows = append(t.Rows, w)
	}
	return t
}
