package graph

import (
	"bufio"
	"io"
	"strings"

	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// Text writes one line for each node, after the nodes that it waits for: its state if the graph has those of a run, its id,
// its type and marks, and the nodes that it waits for, routes before reads.
//
//	fetch  http, retry 3
//	parse  shell          after fetch
//	log    shell          after fetch (error)
//	mail   http           after parse; reads fetch
func (g *Graph) Text(w io.Writer) error {
	rows := make([][]string, 0, len(g.nodes))
	for _, i := range g.order {
		n := &g.nodes[i]
		row := []string{n.id, n.about(), g.waits(n)}
		if g.ran {
			state := n.caption()
			if state == "" {
				state = "pending"
			}
			row = append([]string{state}, row...)
		} else if n.leftOut {
			row[2] = joined("; ", row[2], n.caption())
		}
		rows = append(rows, row)
	}
	return writeTable(w, rows)
}

// waits describes the nodes that a node waits for.
func (g *Graph) waits(n *node) string {
	var after, reads []string
	for _, in := range n.in {
		e := &g.edges[in]
		from := g.nodes[e.from].id
		switch {
		case e.reads():
			reads = append(reads, from)
		case e.label() != "":
			after = append(after, from+" ("+e.label()+")")
		default:
			after = append(after, from)
		}
	}
	return joined("; ", listed("after ", after), listed("reads ", reads))
}

// listed joins names after a word, or returns "" if names is empty.
func listed(what string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return what + strings.Join(names, ", ")
}

// joined joins the parts that are not empty.
func joined(sep string, parts ...string) string {
	var some []string
	for _, p := range parts {
		if p != "" {
			some = append(some, p)
		}
	}
	return strings.Join(some, sep)
}

// writeTable writes rows with the same number of columns, which are separated by two blanks.
func writeTable(w io.Writer, rows [][]string) error {
	const widest = 40 // one long text does not widen its column further
	var widths []int
	for _, row := range rows {
		for i, text := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], min(cells.Width(text), widest))
		}
	}
	out := bufio.NewWriter(w)
	for _, row := range rows {
		var line strings.Builder
		for i, text := range row {
			line.WriteString(text)
			line.WriteString(strings.Repeat(" ", max(0, widths[i]-cells.Width(text))+2))
		}
		_, _ = out.WriteString(strings.TrimRight(line.String(), " ") + "\n") // Flush returns the error
	}
	return out.Flush()
}
