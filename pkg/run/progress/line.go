package progress

import (
	"strings"

	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// color is the parameter of the terminal's SGR sequence for a color or style.
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

// styledText is a clean text of one color.
type styledText struct {
	text  string
	color color
}

// line is a line of the display.
type line []styledText

// add appends a text, cleaned.
func (l *line) add(c color, text string) { *l = append(*l, styledText{cells.Clean(text), c}) }

// blanks appends n blanks.
func (l *line) blanks(n int) { *l = append(*l, styledText{strings.Repeat(" ", max(0, n)), normal}) }

// column appends a text in a column of the given width, at its right edge if right is set. A longer text takes the room it
// needs.
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

// render returns the line in at most width columns, without blanks at its end.
func (l line) render(width int, colored bool) string {
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
