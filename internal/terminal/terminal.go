// Package terminal is a terminal as tests see it: what a program writes, and what then stands on the screen.
package terminal

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// Terminal is a screen with all that has left it at its top. It knows what the suite's programs send; anything else is a
// fault. The zero value has no size.
type Terminal struct {
	Width, Height int
	// Faults are sequences that it does not know, and lines that were broken or cut for they are too long.
	Faults []string
	// Hidden says that the cursor cannot be seen.
	Hidden bool

	lines   []string // all of them, the last Height ones are the screen
	x, y    int      // the cursor, y counted from the first of all lines
	cutting bool     // what is too long is cut, not broken
	rest    string   // the beginning of a sequence that is not yet whole
}

// Write takes what a program writes.
func (t *Terminal) Write(b []byte) (int, error) {
	text := t.rest + string(b)
	t.rest = ""
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && !utf8.FullRuneInString(text):
			t.rest = text
			return len(b), nil
		case r == '\x1b':
			end := strings.IndexFunc(text, func(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' })
			if end < 0 {
				t.rest = text
				return len(b), nil
			}
			t.obey(text[:end+1])
			size = end + 1
		case r == '\r':
			t.x = 0
		case r == '\n':
			t.y++
		case r < ' ':
			t.Faults = append(t.Faults, fmt.Sprintf("control character %q", r))
		default:
			t.print(string(r))
		}
		text = text[size:]
	}
	return len(b), nil
}

// print puts a character where the cursor is.
func (t *Terminal) print(char string) {
	width := cells.Width(char)
	if t.x+width > t.Width {
		t.Faults = append(t.Faults, fmt.Sprintf("line of more than %d columns: %s", t.Width, t.line()))
		if t.cutting {
			return
		}
		t.x, t.y = 0, t.y+1
	}
	line := t.line()
	line += strings.Repeat(" ", max(0, t.x-cells.Width(line)))
	before, after := first(line, t.x), strings.TrimPrefix(line, first(line, t.x+width))
	t.lines[t.y] = before + char + after
	t.x += width
}

// first is the part of a text in its first columns.
func first(text string, columns int) string {
	for i, r := range text {
		if columns -= cells.Width(string(r)); columns < 0 {
			return text[:i]
		}
	}
	return text
}

// line is the line that the cursor is in.
func (t *Terminal) line() string {
	for len(t.lines) <= t.y {
		t.lines = append(t.lines, "")
	}
	return t.lines[t.y]
}

// top is the first line on the screen.
func (t *Terminal) top() int { return max(0, len(t.lines)-t.Height) }

// obey does what a sequence says.
func (t *Terminal) obey(sequence string) {
	t.line()
	switch command := sequence[len(sequence)-1]; {
	case command == 'm' || strings.HasPrefix(sequence, "\x1b[?2026"):
	case sequence == "\x1b[?7l" || sequence == "\x1b[?7h":
		t.cutting = command == 'l'
	case sequence == "\x1b[?25l" || sequence == "\x1b[?25h":
		t.Hidden = command == 'l'
	case sequence == "\x1b[K":
		t.lines[t.y] = first(t.lines[t.y], t.x)
	case sequence == "\x1b[J":
		t.lines[t.y] = first(t.lines[t.y], t.x)
		clear(t.lines[t.y+1:])
	case command == 'A':
		var rows int
		_, _ = fmt.Sscanf(sequence, "\x1b[%dA", &rows)
		if t.y -= rows; t.y < t.top() {
			t.Faults, t.y = append(t.Faults, "the cursor goes above the screen"), t.top()
		}
	default:
		t.Faults = append(t.Faults, fmt.Sprintf("sequence %q", sequence))
	}
}

// Lines are all lines that were ever shown, as they stand now, without the empty ones at the end.
func (t *Terminal) Lines() []string {
	text := strings.TrimRight(strings.Join(t.lines, "\n"), "\n ")
	return strings.Split(text, "\n")
}

// Home says whether the cursor is at the beginning of an empty row below everything.
func (t *Terminal) Home() bool {
	t.line()
	return t.x == 0 && strings.TrimSpace(strings.Join(t.lines[t.y:], "")) == ""
}
