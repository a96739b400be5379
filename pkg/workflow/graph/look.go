package graph

import (
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// maxText is how many columns of a text are drawn.
const maxText = 40

// lines is what stands in a node's box: its id, what it is, what it is for, and how far it is.
func (n *node) lines() []string {
	lines := []string{cells.Cut(n.id, maxText), cells.Cut(n.about(), maxText)}
	for _, text := range []string{n.purpose, n.caption()} {
		if text != "" {
			lines = append(lines, cells.Cut(text, maxText))
		}
	}
	return lines
}

// caption is the edge's label as it is drawn.
func (e *edge) caption() string { return cells.Cut(e.label(), maxText) }

// colors are those of a box.
type colors struct{ fill, stroke string }

// look is how a state is shown, on light and on dark paper.
type look struct {
	state       history.State
	light, dark colors
}

// plain is the look of a node of which nothing is known, looks those of the states.
var plain = look{"", colors{"#ffffff", "#59636e"}, colors{"#151b23", "#9198a1"}}

var looks = []look{
	{history.Running, colors{"#fff8c5", "#9a6700"}, colors{"#272115", "#d29922"}},
	{history.Waiting, colors{"#fbefff", "#8250df"}, colors{"#1f1730", "#ab7df8"}},
	{history.Completed, colors{"#dafbe1", "#1a7f37"}, colors{"#12261e", "#3fb950"}},
	{history.Reused, colors{"#ddf4ff", "#0969da"}, colors{"#121d2f", "#4493f8"}},
	{history.Failed, colors{"#ffebe9", "#d1242f"}, colors{"#25171c", "#f85149"}},
	{history.Skipped, colors{"#eff2f5", "#818b98"}, colors{"#212830", "#656c76"}},
	{history.Cancelled, colors{"#fff1e5", "#bc4c00"}, colors{"#221a19", "#db6d28"}},
}

// The colours of text, and of what everything stands on.
const (
	lightInk, lightPaper = "#1f2328", "#ffffff"
	darkInk, darkPaper   = "#f0f6fc", "#0d1117"
)

func (l look) colors(dark bool) colors {
	if dark {
		return l.dark
	}
	return l.light
}

// Colors are those of the box of a node in some state, for whoever shows more of a run beside the picture.
func Colors(s history.State, dark bool) (fill, stroke string) {
	c := lookOf(s).colors(dark)
	return c.fill, c.stroke
}

// lookOf is how a node in some state is shown.
func lookOf(s history.State) look {
	for _, l := range looks {
		if l.state == s {
			return l
		}
	}
	return plain
}
