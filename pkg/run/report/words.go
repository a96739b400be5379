package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
)

// state is how a run or a node stands, in a colour, a sign and a word.
type state struct{ Class, Sign, Word string }

// The states of a run besides those of event.Status.
const (
	running     event.Status = "running"
	interrupted event.Status = "interrupted"
	refused     event.Status = "refused"
)

// states are those of nodes, in the order in which people want to hear of them.
var states = []state{
	{"failed", "✗", "Failed"},
	{"handled", "✗", "Failed, handled"},
	{"cancelled", "⊘", "Cancelled"},
	{"waiting", "?", "Waiting"},
	{"running", "▸", "Running"},
	{"stopped", "▪", "Interrupted"},
	{"completed", "✓", "Completed"},
	{"reused", "↺", "Reused"},
	{"skipped", "–", "Skipped"},
	{"pending", "○", "Not begun"},
}

// stateOf finds a state by its class.
func stateOf(class string) state {
	for _, s := range states {
		if s.Class == class {
			return s
		}
	}
	return states[len(states)-1]
}

// nodeState is how a node stands. What runs in a run that is over was stopped with it.
func (r *writer) nodeState(n *history.Node) state {
	switch {
	case n.State == history.Failed && n.Handled:
		return stateOf("handled")
	case n.State == history.Running && r.status != running && r.status != "":
		return stateOf("stopped")
	}
	return stateOf(string(n.State))
}

// runState is how the run stands.
func (r *writer) runState() state {
	switch r.status {
	case event.Completed:
		return stateOf("completed")
	case event.Degraded:
		return state{"degraded", "!", "Degraded"}
	case event.Failed:
		return stateOf("failed")
	case event.Cancelled:
		return stateOf("cancelled")
	case event.TimedOut:
		return state{"failed", "✗", "Timed out"}
	case event.Paused:
		return state{"waiting", "?", "Paused"}
	case event.Denied:
		return state{"cancelled", "⊘", "Denied"}
	case refused:
		return state{"failed", "✗", "Refused"}
	case running:
		return stateOf("running")
	case interrupted:
		return stateOf("stopped")
	}
	return state{"pending", "○", "Not finished"}
}

// statusNotes say what a status means where its word alone does not.
var statusNotes = map[event.Status]string{
	event.Degraded: "It went through, although something failed on the way.",
	event.Paused:   "It waits for a person’s answer.",
	event.Denied:   "A person’s answer forbade to go on.",
	refused:        "Nothing ran.",
	interrupted:    "It stopped without a last word, and can be resumed.",
	running:        "This page shows how far it was when the page was made.",
	"":             "There is no last event: the run goes on, or was interrupted.",
}

// visible is a text in which nothing is hidden: characters that steer a terminal or the direction of text, and those that
// cannot be seen, stand as signs. Lines and tabs stay.
func visible(text string) string {
	text = strings.ToValidUTF8(text, string(unicode.ReplacementChar))
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r < 0x20:
			b.WriteRune('\u2400' + r) // the pictures of control characters
		case r == 0x7f:
			b.WriteRune('\u2421')
		default:
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		}
	}
	return b.String()
}

func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r >= 0x20 && r < 0x7f:
		return false
	case r == unicode.ReplacementChar, unicode.Is(unicode.Join_Control, r), unicode.Is(unicode.Co, r): // a font may have a sign for it
		return false
	}
	return !unicode.IsGraphic(r) || r == '\u2028' || r == '\u2029'
}

// oneLine is a visible text without line breaks, cut where it is very long.
func oneLine(text string) string {
	return cut(strings.Join(strings.Fields(visible(cut(text, 5*minValue))), " "), 5*minValue)
}

// brief is the beginning of a text in one line.
func brief(text string) string { return cut(oneLine(cut(text, 2*minValue)), minValue) }

// cut is a text of at most so many characters, with … in the place of the rest.
func cut(text string, most int) string {
	n := 0
	for i := range text {
		if n++; n > most {
			return text[:i] + "…"
		}
	}
	return text
}

// listed is a list in one line.
func listed(list []string) string {
	return oneLine(strings.Join(list[:min(len(list), minValue)], ", "))
}

// lines are texts in one line each, as many as are read.
func lines(list []string) (out []string) {
	for _, text := range list[:min(len(list), maxFields)] {
		out = append(out, oneLine(text))
	}
	return out
}

// thousands is a number as people read it: 12,000.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}
