package progress

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// place is where the live part stands on a terminal. The cursor is always below it, at the beginning of a row, so that
// whatever is written by others, or ends the program, finds it there; it is never hidden.
type place struct {
	out io.Writer
	// frame is the live part, drawn for a terminal of that width.
	frame []string
	width int
	drawn time.Time
}

// The sequences that a frame is drawn with. What is drawn appears at once where a terminal can do that, and no line is
// broken.
const (
	begin     = "\x1b[?2026h\x1b[?7l\r"
	finish    = "\x1b[?7h\x1b[?2026l"
	up        = "\x1b[%dA"
	eraseLine = "\x1b[K"
	eraseDown = "\x1b[J"
)

// put writes lines where the live part stands, and a new live part below, if anything looks otherwise then.
func (p *place) put(width int, lines, frame []string) {
	if len(lines) == 0 && slices.Equal(frame, p.frame) && (width == p.width || len(frame) == 0) {
		return
	}
	var b strings.Builder
	b.WriteString(begin)
	if rows := p.rows(width); rows > 0 {
		fmt.Fprintf(&b, up, rows)
	}
	for _, text := range slices.Concat(lines, frame) {
		b.WriteString(text + eraseLine + "\r\n")
	}
	b.WriteString(eraseDown + finish)
	p.write(b.String())
	p.frame, p.width, p.drawn = frame, width, time.Now()
}

// lag is by how much a terminal's size may be known later than its lines are broken, as with tmux.
const lag = 300 * time.Millisecond

// rows is how many rows the live part takes: a terminal that has become narrower has broken its lines. Those that were
// drawn meanwhile are whole; to take them for broken would erase what stands above.
func (p *place) rows(width int) (n int) {
	if width >= p.width || time.Since(p.drawn) < lag {
		return len(p.frame)
	}
	for _, text := range p.frame {
		n += max(1, (shownWidth(text)+width-1)/width)
	}
	return n
}

// forget takes the live part as it stands for something of others.
func (p *place) forget() { p.frame = nil }

func (p *place) write(text string) {
	if text != "" {
		_, _ = io.WriteString(p.out, text) // nobody can be told that nobody can be told
	}
}

// shownWidth is how many columns a text takes, without the sequences of colors in it.
func shownWidth(text string) (n int) {
	for {
		before, after, found := strings.Cut(text, "\x1b[")
		n += cells.Width(before)
		if !found {
			return n
		}
		_, text, _ = strings.Cut(after, "m")
	}
}
