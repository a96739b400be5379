package progress

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// liveArea is the live part of a display on a terminal. Between two writes the cursor is visible and below the live part, at
// the beginning of a row, so that other output appears there, also after the end of the program.
type liveArea struct {
	out io.Writer
	// frame is the live part, as it was drawn for a terminal of that width.
	frame []string
	width int
	drawn time.Time
	// below is the number of rows between the live part and the cursor, for lines that were typed.
	below int
}

// The sequences for drawing a frame. Terminals that support synchronized output show it at once. Lines are not wrapped.
const (
	beginFrame = "\x1b[?2026h\x1b[?7l\r"
	endFrame   = "\x1b[?7h\x1b[?2026l"
	up         = "\x1b[%dA"
	eraseLine  = "\x1b[K"
	eraseDown  = "\x1b[J"
)

// put writes lines in place of the live part, and a new live part below them, if that changes anything.
func (p *liveArea) put(width int, lines, frame []string) {
	if len(lines) == 0 && slices.Equal(frame, p.frame) && (width == p.width || len(frame) == 0) && p.below == 0 {
		return
	}
	var b strings.Builder
	b.WriteString(beginFrame)
	if rows := p.rows(width) + p.below; rows > 0 {
		fmt.Fprintf(&b, up, rows)
	}
	for _, text := range slices.Concat(lines, frame) {
		if b.WriteString(text); shownWidth(text) < width { // else the cursor is still on the last column, which would be erased
			b.WriteString(eraseLine)
		}
		b.WriteString("\r\n")
	}
	b.WriteString(eraseDown + endFrame)
	p.write(b.String())
	p.frame, p.width, p.drawn, p.below = frame, width, time.Now(), 0
}

// typed notes that lines were typed, which the terminal shows below the live part until that is drawn again.
func (p *liveArea) typed(lines int) {
	if len(p.frame) > 0 {
		p.below += lines
	}
}

// resizeLag is how long a program may learn of a new terminal size after the terminal has wrapped its lines, as in tmux.
const resizeLag = 300 * time.Millisecond

// rows returns how many rows the live part takes: a terminal that has become narrower has wrapped its lines. Lines drawn
// within resizeLag are not wrapped; too many rows would erase what is above.
func (p *liveArea) rows(width int) (n int) {
	if width >= p.width || time.Since(p.drawn) < resizeLag {
		return len(p.frame)
	}
	for _, text := range p.frame {
		n += max(1, (shownWidth(text)+width-1)/width)
	}
	return n
}

// forget leaves the live part on the terminal as it is.
func (p *liveArea) forget() { p.frame, p.below = nil, 0 }

func (p *liveArea) write(text string) {
	if text != "" {
		_, _ = io.WriteString(p.out, text) // there is no other place to report an error
	}
}

// shownWidth returns how many columns a text takes without its color sequences.
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
