package graph

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strings"
)

// SVG writes a complete picture for a file or a page. It loads and runs nothing, follows the reader's colour scheme, and
// describes itself in words.
func (g *Graph) SVG(w io.Writer) error {
	var words strings.Builder
	if err := g.Text(&words); err != nil {
		return err
	}
	head := fmt.Sprintf("<title>%s</title>\n<desc>%s</desc>\n<style>\n%s</style>\n", html.EscapeString(g.title), html.EscapeString(words.String()), Styles())
	_, err := g.draw(w, `role="img"`, head, func(string) string { return "" })
	return err
}

// Inline writes the picture for a page that includes Styles and describes the run in words elsewhere. Each box is a link to
// the address that link returns for its node's id, unless that is empty. Inline returns the picture's width in pixels.
func (g *Graph) Inline(w io.Writer, link func(id string) string) (width int, err error) {
	return g.draw(w, fmt.Sprintf(`role="group" aria-label="%s"`, html.EscapeString(g.title)), "", link)
}

// draw writes the picture with the given attributes and head.
func (g *Graph) draw(w io.Writer, attributes, head string, link func(id string) string) (width int, err error) {
	l := g.arrange()
	out := bufio.NewWriter(w)
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) } // Flush returns the error
	p(`<svg xmlns="http://www.w3.org/2000/svg" class="pflow-graph" %s width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">`+"\n%s", attributes, l.width, l.height, l.width, l.height, head)
	p(`<rect class="paper" width="100%%" height="100%%"/>` + "\n")
	for i := range g.edges {
		e := &g.edges[i]
		class := "route"
		if e.reads() {
			class = "reading"
		}
		to := &l.vertices[e.to]
		p(`<path class="%s" d="%s"/><path class="head" d="M%.0f %.0fl-4-8h8z"/>`+"\n", class, l.line(e, l.paths[i]), to.x, to.top)
	}
	for _, i := range g.order {
		box := g.nodes[i].box(&l.vertices[i])
		if to := link(g.nodes[i].run.Path); to != "" {
			box = fmt.Sprintf(`<a href="%s">%s</a>`, html.EscapeString(to), box)
		}
		p("%s\n", box)
	}
	for i := range g.edges {
		if e := &g.edges[i]; e.caption() != "" {
			x, y := l.middle(e, l.paths[i])
			p(`<text class="action" x="%.0f" y="%.0f">%s</text>`+"\n", x, y, html.EscapeString(e.caption()))
		}
	}
	p("</svg>\n")
	return int(l.width), out.Flush()
}

// box returns a node's box with its lines of text.
func (n *node) box(v *vertex) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	left, radius := v.x-v.width/2, 5.0
	if n.shape == question {
		radius = v.height / 2
	}
	p(`<g class="%s"><title>%s</title>`, strings.TrimSpace("node "+string(n.class())), html.EscapeString(joined(": ", n.id, n.purpose)))
	p(`<rect x="%.0f" y="%.0f" width="%.0f" height="%.0f" rx="%.0f"/>`, left, v.top, v.width, v.height, radius)
	if n.shape == subWorkflow {
		p(`<rect x="%.0f" y="%.0f" width="%.0f" height="%.0f" rx="%.0f"/>`, left+3, v.top+3, v.width-6, v.height-6, radius-2)
	}
	for i, line := range n.lines() {
		class := ""
		if i == 0 {
			class = ` class="id"`
		}
		p(`<text%s x="%.0f" y="%.0f">%s</text>`, class, v.x, v.top+padding+lineHeight*(float64(i)+0.75), html.EscapeString(line))
	}
	p("</g>")
	return b.String()
}

// line returns the SVG path of an edge: from the bottom of one box, through its bends, to the top of the other.
func (l *layout) line(e *edge, path []int) string {
	from, to := &l.vertices[e.from], &l.vertices[e.to]
	x, y := from.x, from.top+from.height
	d := fmt.Sprintf("M%.0f %.0f", x, y)
	if path == nil {
		side := arc(from, to)
		return d + fmt.Sprintf("C%.0f %.0f %.0f %.0f %.0f %.0f", x+side, y+rowGap, to.x+side, to.top-rowGap, to.x, to.top)
	}
	for _, i := range path {
		v := &l.vertices[i]
		half := (y + v.top) / 2
		d += fmt.Sprintf("C%.0f %.0f %.0f %.0f %.0f %.0f", x, half, v.x, half, v.x, v.top)
		if v.bend {
			d += fmt.Sprintf("V%.0f", v.top+v.height)
		}
		x, y = v.x, v.top+v.height
	}
	return d
}

// middle returns the place of an edge's label.
func (l *layout) middle(e *edge, path []int) (x, y float64) {
	from, to := &l.vertices[e.from], &l.vertices[e.to]
	side := 0.0
	if path == nil {
		side = arc(from, to) * 3 / 4 // the widest point of the curve
	} else {
		to = &l.vertices[path[0]]
	}
	return (from.x+to.x)/2 + side, (from.top+from.height+to.top)/2 + lineHeight/4
}

// arc returns how far an edge without a path swings to the side.
func arc(from, to *vertex) float64 { return (from.width+to.width)/2 + gap }

// Styles returns the CSS rules of the picture. They apply to its class only, so that they do not affect the rest of a page. The
// colours follow the reader's colour scheme.
func Styles() string {
	var b strings.Builder
	b.WriteString(shapes)
	writeColors(&b, func(light, _ string) string { return light })
	b.WriteString("@media (prefers-color-scheme:dark){\n")
	writeColors(&b, func(_, dark string) string { return dark })
	b.WriteString("}\n")
	return b.String()
}

// PageStyles returns the rules of Styles for a page that chooses the colour scheme itself, by the property color-scheme.
func PageStyles() string {
	var b strings.Builder
	b.WriteString(shapes)
	writeColors(&b, lightDark)
	return b.String()
}

// lightDark returns a CSS colour that depends on the property color-scheme.
func lightDark(light, dark string) string { return "light-dark(" + light + "," + dark + ")" }

const shapes = `.pflow-graph text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;text-anchor:middle}
.pflow-graph .id{font-weight:bold}
.pflow-graph rect{stroke-width:1.3}
.pflow-graph .paper{stroke:none}
.pflow-graph .route,.pflow-graph .reading{fill:none;stroke-width:1.3}
.pflow-graph .reading{stroke-dasharray:5 4}
.pflow-graph .action{font-size:11px;paint-order:stroke;stroke-width:4px}
`

// writeColors writes the rules with colours. Color returns the colour for the light and the dark one of a pair.
func writeColors(b *strings.Builder, color func(light, dark string) string) {
	ink, paper, line := color(lightInk, darkInk), color(lightPaper, darkPaper), color(plain.light.stroke, plain.dark.stroke)
	fmt.Fprintf(b, ".pflow-graph text{fill:%s}\n.pflow-graph .paper{fill:%s}\n.pflow-graph .action{stroke:%s}\n", ink, paper, paper)
	fmt.Fprintf(b, ".pflow-graph .head{fill:%s}\n.pflow-graph .route,.pflow-graph .reading{stroke:%s}\n", line, line)
	for _, l := range append([]look{plain}, looks...) {
		name := ""
		if l.state != "" {
			name = "." + string(l.state)
		}
		fmt.Fprintf(b, ".pflow-graph .node%s rect{fill:%s;stroke:%s}\n", name, color(l.light.fill, l.dark.fill), color(l.light.stroke, l.dark.stroke))
	}
}
