package report

import (
	"strconv"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/event/history"
)

// timeline shows when each node ran.
type timeline struct {
	Ticks []tick
	Rows  []*timelineRow
	Note  string
	// Tall is set if there are so many rows that they are scrolled.
	Tall bool
	// Legend describes the kinds of bars that occur.
	Legend []legend
}

type tick struct{ X, Label string }

type legend struct{ Class, Text string }

// timelineRow is the row of a node.
type timelineRow struct {
	Path, Link  string
	Depth       int
	State       state
	Began, Took string
	Notes       string
	Bars        []bar
}

// bar is a period of time. X and Width are percentages of the whole.
type bar struct {
	X, Width string
	Class    string
	// Level is how full it is, of 4, for the items of a batch.
	Level int
}

// The classes of bars.
const (
	tried  = "tried"  // an attempt that failed
	asked  = "asked"  // the wait for a person's answer
	batch  = "batch"  // a node that runs for each item of a list
	ended  = "ended"  // items that ended
	broken = "broken" // items that failed
	mark   = "mark"   // a node that took no time
	open   = "open"   // a node that has not ended
)

var legends = []legend{{tried, "an attempt that failed"}, {asked, "waiting for a person"}, {ended, "items of a batch, when they ended"}, {broken, "items that failed"}, {open, "not ended"}, {mark, "took no time in this run"}}

// maxTimes is the most nodes inside another that have rows of their own.
const maxTimes = 20

// timeline returns the timeline; nil for a run in which no time passed.
func (r *writer) timeline() *timeline {
	whole := r.Now.Sub(r.from)
	if whole <= 0 || len(r.run.Nodes) == 0 {
		return nil
	}
	t := &timeline{Ticks: ticks(whole)}
	r.addRows(t, r.run.Nodes, 0)
	t.Tall = len(t.Rows) > 2*tall
	used := map[string]bool{}
	for _, s := range t.Rows {
		for _, b := range s.Bars {
			used[b.Class] = true
		}
	}
	for _, l := range legends {
		if used[l.Class] {
			t.Legend = append(t.Legend, l)
		}
	}
	return t
}

func (r *writer) addRows(t *timeline, nodes []*history.Node, depth int) {
	for i, n := range nodes {
		if len(t.Rows) >= r.rows {
			t.Note = "Not shown here: " + plural(len(nodes)-i, "node") + "."
			return
		}
		t.Rows = append(t.Rows, r.row(n, depth))
		if len(n.Inner) <= maxTimes {
			r.addRows(t, n.Inner, depth+1)
		}
	}
}

func (r *writer) row(n *history.Node, depth int) *timelineRow {
	s := &timelineRow{Path: oneLine(n.Path), Link: r.link(n.Path), Depth: min(depth, 5), State: r.nodeState(n)}
	if !n.Began.IsZero() {
		s.Began = r.after(n.Began)
	}
	s.Took = r.took(n)
	s.Notes = notes(n)
	s.Bars = r.bars(n)
	return s
}

// notes returns what the bars of a row show, as text.
func notes(n *history.Node) string {
	var parts []string
	if failures := failedAttempts(n); failures > 0 && len(n.Attempts) > 1 {
		parts = append(parts, plural(failures, "attempt")+" failed")
	}
	if n.Iteration > 0 {
		parts = append(parts, plural(n.Iteration, "iteration"))
	}
	if n.Total >= 0 || len(n.Items) > 0 {
		parts = append(parts, plural(max(n.Total, len(n.Items)), "item"))
		if failures := n.Failures(); failures > 0 {
			parts = append(parts, thousands(failures)+" failed")
		}
	}
	if waited := n.Answered.Sub(n.Asked); !n.Asked.IsZero() && waited >= time.Millisecond {
		parts = append(parts, "waited for "+history.FormatDuration(waited))
	}
	if len(n.Inner) > maxTimes {
		parts = append(parts, plural(len(n.Inner), "node")+" inside")
	}
	return strings.Join(parts, ", ")
}

func failedAttempts(n *history.Node) (count int) {
	for _, a := range n.Attempts {
		if a.Error != nil {
			count++
		}
	}
	return count
}

// bars returns the bars of a node.
func (r *writer) bars(n *history.Node) (bars []bar) {
	if n.State == history.Reused || n.Began.IsZero() {
		if n.State == "" || n.Ended.IsZero() {
			return nil
		}
		return []bar{r.bar(n.Ended, n.Ended, mark)}
	}
	class := r.nodeState(n).Class
	if !n.Asked.IsZero() && !n.Asked.Before(n.Began) {
		until := n.Answered
		if until.IsZero() {
			until = r.end(n)
		}
		bars = append(bars, r.bar(n.Asked, until, asked))
	}
	tries := n.Attempts
	if n.Total >= 0 && len(tries) > 0 { // one bar for all its items
		class, tries = batch, []history.Attempt{{Began: tries[0].Began, Ended: n.Ended}}
	}
	for i, a := range tries[max(0, len(tries)-maxAttempts):] {
		until, is := a.Ended, class
		switch {
		case a.Error != nil && i < len(tries)-1:
			is = tried
		case a.FromRun != "":
			is = mark
		case a.Ended.IsZero():
			until, is = r.end(n), open
		case i < len(tries)-1:
			is = "completed" // an iteration
		}
		bars = append(bars, r.bar(a.Began, until, is))
	}
	if len(tries) == 0 && n.Asked.IsZero() {
		bars = append(bars, r.bar(n.Began, r.end(n), class))
	}
	return append(bars, r.density(n)...)
}

// end returns when the node ended, or now.
func (r *writer) end(n *history.Node) time.Time {
	if n.State.Ended() && !n.Ended.IsZero() {
		return n.Ended
	}
	return r.Now
}

// position returns a time as a percentage of the run's.
func (r *writer) position(t time.Time) float64 {
	return min(max(float64(t.Sub(r.from))/float64(r.Now.Sub(r.from))*100, 0), 100)
}

// minWidth is the least width of a visible bar.
const minWidth = 0.25

func (r *writer) bar(from, until time.Time, class string) bar {
	x := min(r.position(from), 99.5)
	return bar{X: percent(x), Width: percent(max(r.position(until)-x, minWidth)), Class: class}
}

func percent(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

// slots is the number of periods in which the items of a batch are counted.
const slots = 150

// density returns bars that show when the items of a batch ended: the more items, the fuller the bar. Periods with failed
// items have another bar.
func (r *writer) density(n *history.Node) (bars []bar) {
	var all, failed [slots + 1]int
	for _, it := range n.Items {
		if it.FromRun != "" {
			continue
		}
		i := int(r.position(it.Ended) / 100 * slots)
		all[i]++
		if it.Error != nil {
			failed[i]++
		}
	}
	most := 0
	for _, k := range all {
		most = max(most, k)
	}
	for i := 0; i < len(all); {
		level, from, bad := fillLevel(all[i], most), i, failed[i] > 0
		for i < len(all) && fillLevel(all[i], most) == level && failed[i] > 0 == bad {
			i++
		}
		piece := bar{X: percent(float64(from) * 100 / slots), Width: percent(float64(i-from) * 100 / slots), Level: level}
		if level > 0 {
			piece.Class = ended
			bars = append(bars, piece)
		}
		if bad {
			piece.Class = broken
			bars = append(bars, piece)
		}
	}
	return bars
}

// fillLevel returns a count as a level from 0 to 4.
func fillLevel(k, most int) int {
	if k == 0 {
		return 0
	}
	return 1 + (4*k-1)/most
}

// ticks divides the time into three to seven periods of a round length.
func ticks(whole time.Duration) (out []tick) {
	step := tickStep(whole)
	for i := range whole/step + 1 {
		t := i * step
		out = append(out, tick{X: percent(float64(t) / float64(whole) * 100), Label: history.FormatDuration(t)})
	}
	if len(out) > 1 && float64(whole/step*step)/float64(whole) > 0.94 {
		out[len(out)-1].Label = "" // it would extend past the edge
	}
	return out
}

// tickStep returns the shortest round time that divides the whole into at most six periods.
func tickStep(whole time.Duration) time.Duration {
	for unit := time.Microsecond; unit < time.Minute; unit *= 10 {
		for _, k := range []time.Duration{1, 2, 5} {
			if step := k * unit; step >= whole/6 && step <= 20*time.Second {
				return step
			}
		}
	}
	for _, minutes := range []time.Duration{1, 2, 5, 10, 15, 30, 60, 2 * 60, 4 * 60, 6 * 60, 12 * 60, 24 * 60} {
		if step := minutes * time.Minute; step >= whole/6 {
			return step
		}
	}
	return whole/6 + time.Nanosecond
}
