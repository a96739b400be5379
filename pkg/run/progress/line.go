package progress

import (
	"strings"

	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// color is how a terminal is told to show a text, by its numbers for that.
type color string

const (
	normal color = ""
	bold   color = "1"
	dim    color = "2"
	red    color = "31"
	green  color = "32"
	yellow color = "33"
	cyan   color = "36"
)

// span is a text of one color, clean.
type span struct {
	text  string
	color color
}

// line is one line that is shown.
type line []span

// add puts a text at the end of the line. What is not safe to show in it is replaced.
func (l *line) add(c color, text string) { *l = append(*l, span{cells.Clean(text), c}) }

// blanks adds so many blanks.
func (l *line) blanks(n int) { *l = append(*l, span{strings.Repeat(" ", max(0, n)), normal}) }

// column adds a text in a column of that width, at its right edge for numbers; one that is longer takes what it needs.
func (l *line) column(c color, text string, width int, right bool) {
	free := width - cells.Width(cells.Clean(text))
	if right {
		l.blanks(free)
	}
	l.add(c, text)
	if !right {
		l.blanks(free)
	}
}

// in is the line in at most so many columns, without blanks at its end.
func (l line) in(width int, colored bool) string {
	var whole strings.Builder
	for _, s := range l {
		whole.WriteString(s.text)
	}
	text := strings.TrimRight(whole.String(), " ")
	cut := cells.Cut(text, width)
	if !colored {
		return cut
	}
	kept, more := strings.CutSuffix(cut, "…")
	if more = more && cut != text; !more {
		kept = cut
	}
	var out strings.Builder
	for _, s := range l {
		part := s.text[:min(len(s.text), len(kept))]
		kept = kept[len(part):]
		switch {
		case s.color == normal || strings.TrimSpace(part) == "":
			out.WriteString(part)
		default:
			out.WriteString("\x1b[" + string(s.color) + "m" + part + "\x1b[0m")
		}
	}
	if more {
		out.WriteString("…")
	}
	return out.String()
}
