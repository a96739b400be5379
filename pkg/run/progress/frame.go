package progress

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// Screen is what there is to show something on: how many columns and rows, and whether in color.
type Screen struct {
	Width, Height int
	Color         bool
}

// brief is how long a node runs before it gets a line: what is over sooner would only flicker.
const brief = 200 * time.Millisecond

// frame is the part that is redrawn in place: how far the run is, and a line for each node that runs, those that run
// longest first. It has at most one line less than the screen, and no line is wider.
func frame(r *history.Run, now time.Time, s Screen, c columns) []string {
	rows := s.Height - 1
	if rows < 1 || r.Started == nil {
		return nil
	}
	lines := []string{header(r, now, c).in(s.Width, s.Color)}
	shown, hidden := running(r, now, rows-1)
	for _, a := range shown {
		lines = append(lines, a.line(now, c).in(s.Width, s.Color))
	}
	if hidden > 0 && len(lines) < rows {
		more := line{{"  ", normal}, {fmt.Sprintf("… and %d more", hidden), dim}}
		lines = append(lines, more.in(s.Width, s.Color))
	}
	return lines
}

// columns are how wide the names are in all lines, and the counter and the bar in the header.
type columns struct{ name, counter, bar int }

// took is the width of the times' column.
const took = 7

// columnsOf gives columns that stay as they are all through a run.
func columnsOf(r *history.Run, width int) columns {
	widest := cells.Width(cells.Clean(name(r)))
	for _, n := range r.Nodes {
		widest = max(widest, cells.Width(cells.Clean(n.Path)))
	}
	c := columns{name: min(max(widest, 12), max(8, min(width*2/5, 32))), counter: 2*len(strconv.Itoa(len(r.Nodes))) + 1}
	const counts = 20 // is the room for how many failed or were reused
	c.bar = min(30, width-2-c.name-1-took-2-c.counter-2-counts)
	return c
}

func name(r *history.Run) string {
	if r.Started == nil || r.Started.Workflow == nil {
		return ""
	}
	return r.Started.Workflow.Name
}

// begin makes a line's first columns: a sign, a name, a time.
func (c columns) begin(sign span, text string, emphasis color, spent string) line {
	l := line{sign}
	l.blanks(1)
	l.column(emphasis, text, c.name, false)
	l.blanks(1)
	l.column(dim, spent, took, true)
	return l
}

// header is how far the run as a whole is.
func header(r *history.Run, now time.Time, c columns) line {
	counts := r.Counts()
	over, parts := 0, 0.0
	for _, n := range r.Nodes {
		if n.State.Ended() {
			over++
			parts++
		} else {
			parts += part(n)
		}
	}
	l := c.begin(span{" ", normal}, cells.Cut(cells.Clean(name(r)), c.name), bold, live(r.Elapsed(now)))
	l.blanks(2)
	l.column(normal, fmt.Sprintf("%d/%d", over, len(r.Nodes)), c.counter, true)
	if c.bar >= 8 && len(r.Nodes) > 0 {
		l.blanks(2)
		full := int(parts / float64(len(r.Nodes)) * float64(c.bar))
		l.add(green, strings.Repeat("━", full))
		l.add(dim, strings.Repeat("─", c.bar-full))
	}
	for _, more := range []struct {
		state history.State
		color color
	}{{history.Failed, red}, {history.Reused, dim}, {history.Waiting, yellow}} {
		if n := counts[more.state]; n > 0 {
			l.blanks(2)
			l.add(more.color, fmt.Sprintf("%d %s", n, more.state))
		}
	}
	return l
}

// part is how much of a node that runs is done.
func part(n *history.Node) float64 {
	switch {
	case n.State != history.Running:
		return 0
	case n.Total > 0:
		return min(1, float64(len(n.Items))/float64(n.Total))
	case n.Goal > 0:
		return min(1, max(0, n.Done/n.Goal))
	}
	return 0
}

// active is a node that runs, and how deep in sub-workflows it is.
type active struct {
	*history.Node
	name  string
	depth int
}

// running are the nodes that run, each followed by those inside it, and how many more there are than fit. Nodes inside
// others give way to those around them.
func running(r *history.Run, now time.Time, rows int) (shown []active, hidden int) {
	var all []active
	var visit func(nodes []*history.Node, around string, depth int)
	visit = func(nodes []*history.Node, around string, depth int) {
		var level []active
		for _, n := range nodes {
			if n.State != history.Running && n.State != history.Waiting || n.State == history.Running && n.Elapsed(now) < brief {
				continue
			}
			level = append(level, active{n, strings.TrimPrefix(strings.TrimPrefix(n.Path, around), "/"), depth})
		}
		slices.SortStableFunc(level, func(a, b active) int { return a.Began.Compare(b.Began) })
		for _, a := range level {
			all = append(all, a)
			visit(a.Inner, a.Path, depth+1)
		}
	}
	visit(r.Nodes, "", 0)
	if len(all) <= rows {
		return all, 0
	}
	rows = max(0, rows-1) // one says how many are not shown
	ranks := slices.Clone(all)
	slices.SortStableFunc(ranks, func(a, b active) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), a.Began.Compare(b.Began))
	})
	chosen := make(map[*history.Node]bool, rows)
	for _, a := range ranks[:rows] {
		chosen[a.Node] = true
	}
	return slices.DeleteFunc(all, func(a active) bool { return !chosen[a.Node] }), len(all) - rows
}

// line is the line of a node that runs.
func (a active) line(now time.Time, c columns) line {
	mark := span{"▸", cyan}
	if a.State == history.Waiting {
		mark = span{"?", yellow}
	}
	indent := min(2*a.depth, max(0, c.name-8))
	var l line
	l.blanks(indent)
	c.name -= indent
	l = append(l, c.begin(mark, cells.Cut(cells.Clean(a.name), c.name), normal, live(a.since(now)))...)
	l.blanks(2)
	l.add(dim, strings.Join(a.doing(now), ", "))
	return l
}

// since is how long the node runs, after its question was answered where it had one.
func (a active) since(now time.Time) time.Duration {
	if a.State == history.Running && a.Answered.After(a.Began) {
		return max(0, now.Sub(a.Answered))
	}
	return a.Elapsed(now)
}

// doing is what a node that runs is at.
func (a active) doing(now time.Time) (parts []string) {
	if a.State == history.Waiting {
		return []string{"asks: " + asking(a.Node)}
	}
	if a.Type != "" {
		parts = append(parts, a.Type)
	}
	if a.Iteration > 0 {
		parts = append(parts, fmt.Sprintf("iteration %d", a.Iteration))
	}
	if tries := len(a.Attempts); tries > 0 {
		switch last := a.Attempts[tries-1]; {
		case last.Error != nil && last.RetryAt.After(now):
			parts = append(parts, fmt.Sprintf("attempt %d failed, the next in %s", last.Number, live(last.RetryAt.Sub(now)+time.Second-1)))
		case last.Number > 1:
			parts = append(parts, fmt.Sprintf("attempt %d", last.Number))
		}
	}
	if a.Total >= 0 {
		parts = append(parts, fmt.Sprintf("%d/%d", len(a.Items), a.Total))
		if failed := a.Failures(); failed > 0 {
			parts = append(parts, fmt.Sprintf("%d failed", failed))
		}
	}
	if over := innerOver(a.Node); over > 0 {
		parts = append(parts, history.Plural(over, "node")+" done")
	}
	told := a.Message
	switch {
	case a.Goal > 0:
		told += " " + number(a.Done) + "/" + number(a.Goal)
	case a.Done > 0:
		told += " " + number(a.Done)
	}
	if told != "" {
		parts = append(parts, strings.TrimSpace(told))
	}
	return parts
}

// asking is a question with the answers there are.
func asking(n *history.Node) string {
	return n.Question + " [" + strings.Join(n.Choices, "/") + "]"
}

// innerOver is how many nodes inside a node have ended.
func innerOver(n *history.Node) (count int) {
	for _, in := range n.Inner {
		if in.State.Ended() {
			count++
		}
	}
	return count
}

// number is a number without digits that say nothing.
func number(f float64) string {
	if f == float64(int64(f)) {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

// live is a time that goes on: in whole seconds, so that nothing moves faster than an eye follows.
func live(d time.Duration) string { return history.FormatDuration(d.Truncate(time.Second)) }
