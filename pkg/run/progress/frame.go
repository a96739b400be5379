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

// Screen is the size of a screen in columns and rows, and whether it shows colors.
type Screen struct {
	Width, Height int
	Color         bool
}

// minShown is how long a node runs before it gets a line: lines of shorter nodes would flicker.
const minShown = 200 * time.Millisecond

// frame returns the part that is redrawn in place: the progress of the run, and a line for each running node, the longest
// running first. It has at most one line less than the screen, and no line is wider than the screen.
func frame(r *history.Run, now time.Time, s Screen, c columns) []string {
	rows := s.Height - 1
	if rows < 1 || r.Started == nil {
		return nil
	}
	lines := []string{header(r, now, c).render(s.Width, s.Color)}
	shown, hidden := running(r, now, rows-1)
	for _, a := range shown {
		lines = append(lines, a.line(now, c).render(s.Width, s.Color))
	}
	if hidden > 0 && len(lines) < rows {
		more := line{{"  ", normal}, {fmt.Sprintf("… and %d more", hidden), dim}}
		lines = append(lines, more.render(s.Width, s.Color))
	}
	return lines
}

// columns are the widths of the names in all lines, and of the counter and the bar in the header.
type columns struct{ name, counter, bar int }

// durationWidth is the width of the column of durations.
const durationWidth = 7

// columnsOf returns columns that can stay the same during the whole run.
func columnsOf(r *history.Run, width int) columns {
	widest := cells.Width(cells.Clean(workflowName(r)))
	for _, n := range r.Nodes {
		widest = max(widest, cells.Width(cells.Clean(n.Path)))
	}
	c := columns{name: min(max(widest, 12), max(8, min(width*2/5, 32))), counter: 2*len(strconv.Itoa(len(r.Nodes))) + 1}
	const counts = 20 // the room for the numbers of failed and reused nodes
	c.bar = min(30, width-2-c.name-1-durationWidth-2-c.counter-2-counts)
	return c
}

func workflowName(r *history.Run) string {
	if r.Started == nil || r.Started.Workflow == nil {
		return ""
	}
	return r.Started.Workflow.Name
}

// begin returns a line with its first columns: a sign, a name, a duration.
func (c columns) begin(sign styledText, text string, emphasis color, spent string) line {
	l := line{sign}
	l.blanks(1)
	l.column(emphasis, text, c.name, false)
	l.blanks(1)
	l.column(dim, spent, durationWidth, true)
	return l
}

// header returns the line of the run as a whole.
func header(r *history.Run, now time.Time, c columns) line {
	counts := r.Counts()
	over, parts := 0, 0.0
	for _, n := range r.Nodes {
		if n.State.Ended() {
			over++
			parts++
		} else {
			parts += doneShare(n)
		}
	}
	l := c.begin(styledText{" ", normal}, cells.Cut(cells.Clean(workflowName(r)), c.name), bold, wholeSeconds(r.Elapsed(now)))
	l.blanks(2)
	l.column(normal, fmt.Sprintf("%d/%d", over, len(r.Nodes)), c.counter, true)
	if c.bar >= 8 && len(r.Nodes) > 0 {
		l.blanks(2)
		full := int(parts / float64(len(r.Nodes)) * float64(c.bar))
		l.add(green, strings.Repeat("━", full))
		l.add(dim, strings.Repeat("─", c.bar-full))
	}
	if r.Queued {
		l.blanks(2)
		l.add(yellow, "queued")
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

// doneShare returns how much of a running node is done, from 0 to 1.
func doneShare(n *history.Node) float64 {
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

// activeNode is a running node, with its depth in sub-workflows.
type activeNode struct {
	*history.Node
	name  string
	depth int
}

// running returns the running nodes, each followed by those inside it, and how many more there are than fit in rows. Nodes
// inside others are left out first.
func running(r *history.Run, now time.Time, rows int) (shown []activeNode, hidden int) {
	var all []activeNode
	var visit func(nodes []*history.Node, around string, depth int)
	visit = func(nodes []*history.Node, around string, depth int) {
		var level []activeNode
		for _, n := range nodes {
			if n.State != history.Running && n.State != history.Waiting || n.State == history.Running && n.Elapsed(now) < minShown {
				continue
			}
			level = append(level, activeNode{n, strings.TrimPrefix(strings.TrimPrefix(n.Path, around), "/"), depth})
		}
		slices.SortStableFunc(level, func(a, b activeNode) int { return a.Began.Compare(b.Began) })
		for _, a := range level {
			all = append(all, a)
			visit(a.Inner, a.Path, depth+1)
		}
	}
	visit(r.Nodes, "", 0)
	if len(all) <= rows {
		return all, 0
	}
	rows = max(0, rows-1) // one line says how many are not shown
	ranks := slices.Clone(all)
	slices.SortStableFunc(ranks, func(a, b activeNode) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), a.Began.Compare(b.Began))
	})
	chosen := make(map[*history.Node]bool, rows)
	for _, a := range ranks[:rows] {
		chosen[a.Node] = true
	}
	return slices.DeleteFunc(all, func(a activeNode) bool { return !chosen[a.Node] }), len(all) - rows
}

// line returns the line of a running node.
func (a activeNode) line(now time.Time, c columns) line {
	mark := styledText{"▸", cyan}
	if a.State == history.Waiting {
		mark = styledText{"?", yellow}
	}
	indent := min(2*a.depth, max(0, c.name-8))
	var l line
	l.blanks(indent)
	c.name -= indent
	l = append(l, c.begin(mark, cells.Cut(cells.Clean(a.name), c.name), normal, wholeSeconds(a.runningFor(now)))...)
	l.blanks(2)
	l.add(dim, strings.Join(a.doing(now), ", "))
	return l
}

// runningFor returns how long the node has been running, from the answer to its question if it had one.
func (a activeNode) runningFor(now time.Time) time.Duration {
	if a.State == history.Running && a.Answered.After(a.Began) {
		return max(0, now.Sub(a.Answered))
	}
	return a.Elapsed(now)
}

// doing returns what a running node does.
func (a activeNode) doing(now time.Time) (parts []string) {
	if a.State == history.Waiting {
		return []string{"asks: " + questionOf(a.Node)}
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
			parts = append(parts, fmt.Sprintf("attempt %d failed, the next in %s", last.Number, wholeSeconds(last.RetryAt.Sub(now)+time.Second-1)))
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
	if over := innerEnded(a.Node); over > 0 {
		parts = append(parts, history.Plural(over, "node")+" done")
	}
	message := a.Message
	switch {
	case a.Goal > 0:
		message += " " + number(a.Done) + "/" + number(a.Goal)
	case a.Done > 0:
		message += " " + number(a.Done)
	}
	if message != "" {
		parts = append(parts, strings.TrimSpace(message))
	}
	return parts
}

// questionOf returns a node's question with its choices.
func questionOf(n *history.Node) string {
	return n.Question + " [" + strings.Join(n.Choices, "/") + "]"
}

// innerEnded returns how many nodes inside a node have ended.
func innerEnded(n *history.Node) (count int) {
	for _, in := range n.Inner {
		if in.State.Ended() {
			count++
		}
	}
	return count
}

// number formats a number in at most four digits, or as an integer.
func number(f float64) string {
	if f == float64(int64(f)) {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

// wholeSeconds formats a running time in whole seconds, so that it changes at most once per second.
func wholeSeconds(d time.Duration) string { return history.FormatDuration(d.Truncate(time.Second)) }
