package graph

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Mermaid writes the graph as a Mermaid flowchart. Routes are solid lines labelled with their actions, reads are dashed.
func (g *Graph) Mermaid(w io.Writer) error {
	out := bufio.NewWriter(w)
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) } // Flush returns the error
	p("flowchart TD\n")
	shapes := map[shape][2]string{step: {"[", "]"}, subWorkflow: {"[[", "]]"}, question: {"{{", "}}"}}
	for i := range g.nodes {
		n := &g.nodes[i]
		lines := n.lines()
		for i, line := range lines {
			lines[i] = mermaidText(line)
		}
		s := shapes[n.shape]
		p("    n%d%s\"%s\"%s\n", i, s[0], strings.Join(lines, "<br/>"), s[1])
	}
	for _, e := range g.edges {
		switch label := e.caption(); {
		case e.reads():
			p("    n%d -.-> n%d\n", e.from, e.to)
		case label != "":
			p("    n%d -->|\"%s\"| n%d\n", e.from, mermaidText(label), e.to)
		default:
			p("    n%d --> n%d\n", e.from, e.to)
		}
	}
	for _, s := range looks {
		var members []string
		for i := range g.nodes {
			if g.nodes[i].class() == s.state {
				members = append(members, fmt.Sprintf("n%d", i))
			}
		}
		if len(members) > 0 {
			p("    classDef %s fill:%s,stroke:%s,color:%s\n", s.state, s.light.fill, s.light.stroke, lightInk)
			p("    class %s %s\n", strings.Join(members, ","), s.state)
		}
	}
	return out.Flush()
}

// mermaidText escapes a text for Mermaid's quotes. Each character that could be special to Mermaid, or to the HTML that it
// generates, becomes a numeric entity.
func mermaidText(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == ' ' || r > unicode.MaxASCII || unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.,/()+", r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}
