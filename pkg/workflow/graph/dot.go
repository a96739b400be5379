package graph

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// Dot writes the graph in the language of Graphviz. Routes are solid lines labelled with their actions, reads are dashed.
func (g *Graph) Dot(w io.Writer) error {
	out := bufio.NewWriter(w)
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) } // Flush returns the error
	p("digraph workflow {\n")
	p("    label=%s; labelloc=t;\n", dotText(cells.Cut(g.title, maxText)))
	p("    node [shape=box, style=\"rounded,filled\", fillcolor=\"%s\"];\n", plain.light.fill)
	shapes := map[shape]string{step: "", subWorkflow: ", shape=box3d", question: ", shape=hexagon"}
	for i := range g.nodes {
		n := &g.nodes[i]
		p("    n%d [label=%s%s", i, dotText(n.lines()...), shapes[n.shape])
		if l := lookOf(n.class()); l.state != "" {
			p(", fillcolor=\"%s\", color=\"%s\"", l.light.fill, l.light.stroke)
		}
		p("];\n")
	}
	for _, e := range g.edges {
		switch label := e.caption(); {
		case e.reads():
			p("    n%d -> n%d [style=dashed];\n", e.from, e.to)
		case label != "":
			p("    n%d -> n%d [label=%s];\n", e.from, e.to, dotText(label))
		default:
			p("    n%d -> n%d;\n", e.from, e.to)
		}
	}
	p("}\n")
	return out.Flush()
}

// dotText quotes lines of text as a label.
func dotText(lines ...string) string {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, `&`, `&amp;`) // Graphviz decodes HTML entities
	for i, line := range lines {
		lines[i] = escape.Replace(line)
	}
	return `"` + strings.Join(lines, `\n`) + `"`
}
