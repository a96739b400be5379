package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
)

// state is the state of a run or a node as a colour, a sign and a word.
type state struct{ Class, Sign, Word string }

// The states of a run that event.Status does not have.
const (
	running     event.Status = "running"
	interrupted event.Status = "interrupted"
	refused     event.Status = "refused"
	queued      event.Status = "queued"
)

// states are the states of nodes, the most important ones first.
var states = []state{
	{"failed", "✗", "Failed"},
	{"handled", "✗", "Failed, handled"},
	{"cancelled", "⊘", "Cancelled"},
	{"waiting", "?", "Waiting"},
	{"running", "▸", "Running"},
	{"stopped", "▪", "Interrupted"},
	{"degraded", "!", "Degraded"},
	{"completed", "✓", "Completed"},
	{"reused", "↺", "Reused"},
	{"skipped", "–", "Skipped"},
	{"pending", "○", "Not started"},
}

// stateOf returns the state of a class.
func stateOf(class string) state {
	for _, s := range states {
		if s.Class == class {
			return s
		}
	}
	return states[len(states)-1]
}

// nodeState returns the state of a node. A node that was running when its run ended was interrupted with it.
func (r *writer) nodeState(n *history.Node) state {
	switch {
	case n.State == history.Failed && n.Handled:
		return stateOf("handled")
	case n.State == history.Running && r.status != running && r.status != "":
		return stateOf("stopped")
	case n.State == history.Completed && n.Failures() > 0:
		return stateOf("degraded")
	}
	return stateOf(string(n.State))
}

// runState returns the state of the run.
func (r *writer) runState() state {
	switch r.status {
	case event.Completed:
		return stateOf("completed")
	case event.Degraded:
		return stateOf("degraded")
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
	case queued:
		return state{"pending", "○", "Queued"}
	case "":
		return state{"pending", "○", "Not finished"}
	}
	words := cut(oneLine(strings.ReplaceAll(string(r.status), "_", " ")), 60) // a status of a later version
	if words == "" {
		return state{"pending", "○", "Not finished"}
	}
	first, size := utf8.DecodeRuneInString(words)
	return state{"stopped", "▪", string(unicode.ToUpper(first)) + words[size:]}
}

// statusNote explains the status if its word is not enough.
func (r *writer) statusNote() string {
	switch finishing := r.run.Outlasting(); {
	case len(finishing) > 0 && r.live():
		return "It has failed, and ends when the nodes that run have finished: " + oneLine(strings.Join(finishing, ", ")) + "."
	case r.ResumedBy != "":
		return "Run " + oneLine(r.ResumedBy) + " continues it."
	case r.acts && r.live() && r.status == running:
		return "" // the shell shows each change
	case r.run.Finished != nil && r.status == running:
		return ""
	}
	return statusNotes[r.status]
}

// statusNotes explain statuses whose word is not enough.
var statusNotes = map[event.Status]string{
	event.Degraded: "It came to its end, although something failed on the way.",
	event.Paused:   "It waits for a person’s answer.",
	event.Denied:   "A person’s answer stopped it.",
	refused:        "Nothing ran.",
	interrupted:    "It stopped without a last event, and can be resumed.",
	queued:         "It waits until another run ends, because the number of concurrent runs is limited.",
	running:        "This page shows its state when the page was written.",
	"":             "There is no last event: the run is still running, or was interrupted.",
}

// visible returns a text without invisible characters: those, and characters that control a terminal or the direction of
// text, become signs. Newlines and tabs stay.
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
			b.WriteRune('\u2400' + r) // the symbols of control characters
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
	case r == unicode.ReplacementChar, unicode.Is(unicode.Join_Control, r), unicode.Is(unicode.Co, r): // a font may show it
		return false
	}
	return !unicode.IsGraphic(r) || r == '\u2028' || r == '\u2029'
}

// oneLine returns a visible text without line breaks, cut if it is very long.
func oneLine(text string) string {
	return cut(strings.Join(strings.Fields(visible(cut(text, 5*minValue))), " "), 5*minValue)
}

// summaryOf returns the beginning of a text as one line.
func summaryOf(text string) string { return cut(oneLine(cut(text, 2*minValue)), minValue) }

// cut returns a text of at most most characters, with … in place of what is cut off.
func cut(text string, most int) string {
	n := 0
	for i := range text {
		if n++; n > most {
			return text[:i] + "…"
		}
	}
	return text
}

// joined returns a list as one line.
func joined(list []string) string {
	return oneLine(strings.Join(list[:min(len(list), minValue)], ", "))
}

// eachOnOneLine returns the first maxFields texts as one line each.
func eachOnOneLine(list []string) (out []string) {
	for _, text := range list[:min(len(list), maxFields)] {
		out = append(out, oneLine(text))
	}
	return out
}

// thousands formats a number for people: 12,000.
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
