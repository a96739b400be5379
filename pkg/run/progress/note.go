package progress

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// maxListed is the most nodes of a run for which a screen lists all that end. In a larger run it lists only those that did
// not succeed.
const maxListed = 40

// note is a line that stays: a node has ended, or something else worth keeping has happened.
type note struct {
	kind kind
	node string
	// took is empty for what took no time. text gives more details. noText is set for a failure or a question whose text another line
	// gives.
	took, text string
	noText     bool
	// waits has the nodes that finish after a failure, before the run ends.
	waits []string
}

// kind is what happened: a word for plain text, and a sign and a prefix of the text for a screen.
type kind struct {
	word, sign, prefix string
	color              color
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
	queued    = kind{word: "queued:"} // of the run, not of a node
	answered  = kind{"answered", "?", "answered: ", green}
)

// noteOf returns the note of an event that r has just applied; false if there is nothing to note.
func noteOf(r *history.Run, e *event.Event) (note, bool) {
	if e.Event == event.RunQueued {
		return note{kind: queued, node: "at most " + history.Plural(r.MaxRuns, "run") + " at the same time"}, true
	}
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
		details := sizes(n)
		if n.Because != "" {
			details = append(details, n.Because)
		}
		o.kind, o.text = completed, strings.Join(details, ", ")
	case event.NodeReused:
		o.kind, o.text = reused, "from "+n.FromRun
		if n.Cached {
			o.text += ", cached"
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
		o.kind, o.text, o.noText = asked, questionOf(n), !othersWait(r, n)
	case event.ApprovalResolved:
		o.kind, o.text = answered, fmt.Sprintf("%s, by %s", n.Answer, cmp.Or(n.By, n.FromRun))
	default:
		return o, false
	}
	return o, true
}

// othersWait reports whether other nodes than one wait for an answer. The first question is the reason why the run pauses, which is shown
// at the end, or is asked on the terminal.
func othersWait(r *history.Run, n *history.Node) bool {
	for other := range r.All() {
		if other != n && other.State == history.Waiting {
			return true
		}
	}
	return false
}

// fail sets the note of a failure: one that is retried, one that an error edge handles, or one that fails what is around it.
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
		o.noText = !ofItem(n.Path)
		o.waits = r.Outlasting()
		if event.Enclosing(n.Path) != "" { // the failure of the outer node gives the reason, except for an item
			return
		}
		// The first failure is the reason of the run's failure, which is shown at the end.
		for _, other := range r.Nodes {
			if other != n && other.State == history.Failed && !other.Handled {
				o.noText = false
				break
			}
		}
	}
}

// sizes returns the numbers of items, iterations, attempts and inner nodes of a node.
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
	if over := innerEnded(n); over > 0 {
		parts = append(parts, history.Plural(over, "node"))
	}
	return parts
}

// ofItem reports whether a node is inside an item of a batch.
func ofItem(path string) bool {
	for around := event.Enclosing(path); around != ""; path, around = around, event.Enclosing(around) {
		if path[len(around)] == '[' {
			return true
		}
	}
	return false
}

// keptOnScreen reports whether a screen shows the note. Nodes inside others are counted in the line of the outer node, and
// so are failed items. In a large run only nodes that did not succeed are shown.
func (o note) keptOnScreen(r *history.Run) bool {
	switch o.kind {
	case failed, handled, retried:
		return !ofItem(o.node)
	case queued: // the first line says it
		return false
	case asked: // the question is on the screen, or among the running nodes
		return false
	case answered: // what was typed is on the screen
		return r.Node(o.node).By != "terminal"
	case cancelled:
		if o.took == "" {
			return false // it never started
		}
	}
	return event.Enclosing(o.node) == "" && len(r.Nodes) <= maxListed
}

// line returns the note as a line of a screen.
func (o note) line(c columns) line {
	l := c.begin(styledText{o.kind.sign, o.kind.color}, o.node, normal, o.took)
	emphasis := dim
	if o.kind == failed || o.kind == handled || o.kind == retried {
		emphasis = normal
	}
	l.blanks(2)
	l.add(emphasis, strings.TrimSuffix(o.kind.prefix+o.text, ": "))
	if len(o.waits) > 0 {
		l.add(yellow, "; the run ends after "+strings.Join(o.waits, ", "))
	}
	return l
}

// plain returns the note as a line of plain text.
func (o note) plain() string {
	text := o.kind.word + " " + o.node
	if o.took != "" {
		text += " " + o.took
	}
	switch {
	case o.kind == reused:
		text += " " + o.text
	case o.text != "" && !o.noText:
		text += ": " + o.text
	}
	if len(o.waits) > 0 {
		text += "; the run ends after " + strings.Join(o.waits, ", ") + " (--on-failure stop would stop that)"
	}
	return cells.Clean(text)
}

// reusedLine returns one line for many reused nodes.
func reusedLine(r *history.Run, count int) line {
	l := line{{reused.sign, reused.color}, {" " + history.Plural(count, "node") + " reused", normal}}
	if r.Started != nil && r.Started.ResumedFrom != "" {
		l = append(l, styledText{" from " + cells.Clean(r.Started.ResumedFrom), dim})
	}
	return l
}
