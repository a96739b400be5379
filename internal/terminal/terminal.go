// Package terminal is a terminal for tests. It computes from the bytes that a program writes what the screen shows.
package terminal

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// Terminal is a screen with the lines that have scrolled off its top. It knows the sequences that the suite's programs use; any
// other sequence is a fault. Width and Height must be set.
type Terminal struct {
	Width, Height int
	// Faults has the unknown sequences, and the lines that were broken or cut because they were too long.
	Faults []string
	// Hidden is true if the cursor is hidden.
	Hidden bool

	lines   []string // all lines; the last Height ones are on the screen
	x, y    int      // the cursor; y counts from the first of all lines
	cutting bool     // long lines are cut, not broken
	rest    string   // the beginning of an incomplete sequence
}

// Write processes what a program writes. It never fails.
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

// print writes a character at the cursor.
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

// first returns the part of a text in its first columns.
func first(text string, columns int) string {
	for i, r := range text {
		if columns -= cells.Width(string(r)); columns < 0 {
			return text[:i]
		}
	}
	return text
}

// line returns the line of the cursor.
func (t *Terminal) line() string {
	for len(t.lines) <= t.y {
		t.lines = append(t.lines, "")
	}
	return t.lines[t.y]
}

// top returns the index of the first line on the screen.
func (t *Terminal) top() int { return max(0, len(t.lines)-t.Height) }

// obey executes a control sequence.
func (t *Terminal) obey(sequence string) {
	t.line()
	switch command := sequence[len(sequence)-1]; {
	case command == 'm' || strings.HasPrefix(sequence, "\x1b[?2026"):
	case sequence == "\x1b[?7l" || sequence == "\x1b[?7h":
		t.cutting = command == 'l'
	case sequence == "\x1b[?25l" || sequence == "\x1b[?25h":
		t.Hidden = command == 'l'
	case sequence == "\x1b[K":
		t.lines[t.y] = first(t.lines[t.y], min(t.x, t.Width-1)) // after the last column the cursor stays on it
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

// Lines returns all lines, also those that have left the screen, without the empty ones at the end.
func (t *Terminal) Lines() []string {
	text := strings.TrimRight(strings.Join(t.lines, "\n"), "\n ")
	return strings.Split(text, "\n")
}

// Home reports whether the cursor is at the beginning of an empty line below all others.
func (t *Terminal) Home() bool {
	t.line()
	return t.x == 0 && strings.TrimSpace(strings.Join(t.lines[t.y:], "")) == ""
}
