package progress

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// many is from how many nodes on a screen is told only what did not go well: the rest would drive it away.
const many = 40

// note is what is told for good: that a node has ended, or something else worth keeping.
type note struct {
	kind kind
	node string
	// took is empty for what took no time. text says more; of a failure it is the error's message, which plain does not
	// repeat where told is set, for another line says it.
	took, text string
	told       bool
}

// kind is what happened, in a sign for a screen and in a word for plain text. On a screen a word says it where signs do
// not speak for themselves.
type kind struct {
	word, sign, said string
	color            color
}

var (
	completed = kind{"ok", "✓", "", green}
	reused    = kind{"reused", "↻", "reused ", dim}
	failed    = kind{"FAILED", "✗", "", red}
	handled   = kind{"failed", "✗", "handled: ", yellow}
	retried   = kind{"retry", "!", "", yellow}
	skipped   = kind{"skipped", "–", "skipped: ", dim}
	cancelled = kind{"cancelled", "–", "cancelled: ", dim}
	asked     = kind{word: "asks"}
	answered  = kind{"answered", "?", "answered: ", green}
)

// noteOf is what an event, which r has just taken, is worth telling for good; false when nothing.
func noteOf(r *history.Run, e *event.Event) (note, bool) {
	n := r.Node(e.Node)
	if n == nil || e.Item != nil {
		return note{}, false
	}
	o := note{node: n.Path}
	if took := n.Elapsed(e.Time); took > 0 && n.State.Ended() {
		o.took = history.FormatDuration(took)
	}
	switch e.Event {
	case event.NodeCompleted:
		o.kind, o.text = completed, strings.Join(sizes(n), ", ")
	case event.NodeReused:
		o.kind, o.text = reused, "from "+n.FromRun
		if n.Cached {
			o.text += ", by the cache"
		}
	case event.NodeSkipped:
		o.kind, o.text = skipped, n.Reason
	case event.NodeCancelled:
		if o.kind = cancelled; n.Reason != cancelled.word {
			o.text = n.Reason
		}
	case event.NodeFailed:
		o.fail(r, n, e)
	case event.ApprovalRequested:
		o.kind, o.text = asked, asking(n)
	case event.ApprovalResolved:
		o.kind, o.text = answered, fmt.Sprintf("%s, by %s", n.Answer, cmp.Or(n.By, n.FromRun))
	default:
		return o, false
	}
	return o, true
}

// fail tells of a failure: one that is tried again, one that an edge takes, one that fails what is around it.
func (o *note) fail(r *history.Run, n *history.Node, e *event.Event) {
	if e.Error != nil {
		o.text = e.Error.Message
	}
	switch {
	case !e.IsFailure():
		o.kind, o.took = retried, ""
		o.text = fmt.Sprintf("attempt %d failed: %s", e.Attempt, o.text)
	case n.Handled:
		o.kind = handled
	default:
		o.kind = failed
		o.told = !ofItem(n.Path)
		if event.Enclosing(n.Path) != "" { // the failure of the node around it says why, that of an item says nothing
			return
		}
		// The first is why the run fails, which is said at the end.
		for _, other := range r.Nodes {
			if other != n && other.State == history.Failed && !other.Handled {
				o.told = false
				break
			}
		}
	}
}

// sizes are how much was done in a node that is made of several parts.
func sizes(n *history.Node) (parts []string) {
	if n.Total >= 0 {
		parts = append(parts, history.Plural(n.Total, "item"))
		if failed := n.Failures(); failed > 0 {
			parts = append(parts, fmt.Sprintf("%d failed", failed))
		}
	}
	if n.Iteration > 0 {
		parts = append(parts, history.Plural(n.Iteration, "iteration"))
	}
	if tries := len(n.Attempts); tries > 0 && n.Attempts[tries-1].Number > 1 {
		parts = append(parts, fmt.Sprintf("attempt %d", n.Attempts[tries-1].Number))
	}
	if over := innerOver(n); over > 0 {
		parts = append(parts, history.Plural(over, "node"))
	}
	return parts
}

// ofItem says whether a node is inside an item of a batch.
func ofItem(path string) bool {
	for around := event.Enclosing(path); around != ""; path, around = around, event.Enclosing(around) {
		if path[len(around)] == '[' {
			return true
		}
	}
	return false
}

// kept says whether a screen keeps the note: nodes inside others are counted in the line of the node around them, and
// so are items that fail; of many nodes only those that did not go well are told.
func (o note) kept(r *history.Run) bool {
	switch o.kind {
	case failed, handled, retried:
		return !ofItem(o.node)
	case asked: // it is asked on the screen, or stands among the nodes that run
		return false
	case answered: // what was typed stands there
		return r.Node(o.node).By != "terminal"
	case cancelled:
		if o.took == "" {
			return false // it never began
		}
	}
	return event.Enclosing(o.node) == "" && len(r.Nodes) <= many
}

// line is the note on a screen.
func (o note) line(c columns) line {
	l := c.begin(span{o.kind.sign, o.kind.color}, o.node, normal, o.took)
	emphasis := dim
	if o.kind == failed || o.kind == handled || o.kind == retried {
		emphasis = normal
	}
	l.blanks(2)
	l.add(emphasis, strings.TrimSuffix(o.kind.said+o.text, ": "))
	return l
}

// plain is the note as a line of plain text.
func (o note) plain() string {
	text := o.kind.word + " " + o.node
	if o.took != "" {
		text += " " + o.took
	}
	switch {
	case o.kind == reused:
		text += " " + o.text
	case o.text != "" && !o.told:
		text += ": " + o.text
	}
	return cells.Clean(text)
}

// together tells of many nodes that were reused.
func together(r *history.Run, count int) line {
	l := line{{reused.sign, reused.color}, {" " + history.Plural(count, "node") + " reused", normal}}
	if r.Started != nil && r.Started.ResumedFrom != "" {
		l = append(l, span{" from " + cells.Clean(r.Started.ResumedFrom), dim})
	}
	return l
}
