package cells

import (
	"io"
	"strings"
)

// Table is text in aligned columns, two blanks apart. Columns are as wide as their widest cell on a terminal.
type Table struct {
	rows   [][]string
	widths []int
}

// Row adds a row. Each cell is cleaned, so that it stays on its line.
func (t *Table) Row(row ...string) {
	for i, cell := range row {
		row[i] = Clean(cell)
		if i == len(t.widths) {
			t.widths = append(t.widths, 0)
		}
		t.widths[i] = max(t.widths[i], Width(row[i]))
	}
	t.rows = append(t.rows, row)
}

// Write writes the rows, a line each. Lines of more than most columns are cut and end in …, unless most is 0.
func (t *Table) Write(w io.Writer, most int) error {
	var text strings.Builder
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", t.widths[i]-Width(cell)+2))
			}
		}
		shown := strings.TrimRight(line.String(), " ")
		if most > 0 {
			shown = Cut(shown, most)
		}
		text.WriteString(shown + "\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}
