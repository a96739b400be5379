package graph

import (
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// maxText bounds the columns of a text.
const maxText = 40

// lines returns the text of a node's box: its id, its type and marks, its purpose, and its state.
func (n *node) lines() []string {
	lines := []string{cells.Cut(n.id, maxText), cells.Cut(n.about(), maxText)}
	for _, text := range []string{n.purpose, n.caption()} {
		if text != "" {
			lines = append(lines, cells.Cut(text, maxText))
		}
	}
	return lines
}

// caption returns the edge's label, cut to fit.
func (e *edge) caption() string { return cells.Cut(e.label(), maxText) }

// colors holds the colours of a box.
type colors struct{ fill, stroke string }

// look is the appearance of a state in the light and the dark scheme.
type look struct {
	state       history.State
	light, dark colors
}

// degraded is the class of a node that completed although items of its batch failed.
const degraded history.State = "degraded"

// plain is the look of a node without a state, and looks has those of the states.
var plain = look{"", colors{"#ffffff", "#59636e"}, colors{"#151b23", "#9198a1"}}

var looks = []look{
	{history.Running, colors{"#fff8c5", "#9a6700"}, colors{"#272115", "#d29922"}},
	{history.Waiting, colors{"#fbefff", "#8250df"}, colors{"#1f1730", "#ab7df8"}},
	{degraded, colors{"#fff8c5", "#9a6700"}, colors{"#272115", "#d29922"}},
	{history.Completed, colors{"#dafbe1", "#1a7f37"}, colors{"#12261e", "#3fb950"}},
	{history.Reused, colors{"#ddf4ff", "#0969da"}, colors{"#121d2f", "#4493f8"}},
	{history.Failed, colors{"#ffebe9", "#d1242f"}, colors{"#25171c", "#f85149"}},
	{history.Skipped, colors{"#eff2f5", "#818b98"}, colors{"#212830", "#656c76"}},
	{history.Cancelled, colors{"#fff1e5", "#bc4c00"}, colors{"#221a19", "#db6d28"}},
}

// The colours of text and of the background.
const (
	lightInk, lightPaper = "#1f2328", "#ffffff"
	darkInk, darkPaper   = "#f0f6fc", "#0d1117"
)

// Colors returns the colours of the box of a node in the given state as CSS, which depends on the property color-scheme. They are
// for pages that show more of a run than the picture.
func Colors(s history.State) (fill, stroke string) {
	l := lookOf(s)
	return lightDark(l.light.fill, l.dark.fill), lightDark(l.light.stroke, l.dark.stroke)
}

// lookOf returns the look of a state.
func lookOf(s history.State) look {
	for _, l := range looks {
		if l.state == s {
			return l
		}
	}
	return plain
}
