package cells

import (
	"io"
	"math"
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
		shown := strings.TrimRight(t.begin(row)+row[len(row)-1], " ")
		if most > 0 {
			shown = Cut(shown, most)
		}
		text.WriteString(shown + "\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// WriteWhole writes the rows as Write does, but continues a last cell that is too long below itself.
func (t *Table) WriteWhole(w io.Writer, most int) error {
	var text strings.Builder
	for _, row := range t.rows {
		begin := t.begin(row)
		room := most - Width(begin)
		if most == 0 || room < minCell {
			room = math.MaxInt
		}
		for _, line := range wrap(row[len(row)-1], room) {
			text.WriteString(strings.TrimRight(begin+line, " ") + "\n")
			begin = strings.Repeat(" ", Width(begin))
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// minCell is the least number of columns in which WriteWhole continues a cell.
const minCell = 20

// begin returns a row without its last cell.
func (t *Table) begin(row []string) string {
	var line strings.Builder
	for i, cell := range row[:len(row)-1] {
		line.WriteString(cell + strings.Repeat(" ", t.widths[i]-Width(cell)+2))
	}
	return line.String()
}

// wrap returns the words of a text in lines of at most most columns. A longer word has a line of its own.
func wrap(text string, most int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case Width(line)+1+Width(word) > most:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
