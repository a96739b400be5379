package cli

import (
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// The mark is below the place, whatever is before it, and no line is wider than the terminal.
func TestExcerpt(t *testing.T) {
	for name, before := range map[string]string{
		"short": `{"id": `, "tabs": "\t\t\"id\": ", "wide": "日本語の長い名前の入力", "combining": "e\u0301a\u0308o\u0302", "hidden": "a\u202eb\x1b",
		"long": strings.Repeat("a long line ", 9), "long and wide": "\t" + strings.Repeat("漢字e\u0301", 20),
	} {
		mark := ""
		for _, c := range before {
			if c == '\t' {
				mark += "\t"
				continue
			}
			mark += strings.Repeat(" ", cells.Width(cells.Safe(string(c))))
		}
		for _, after := range []string{"", ` is wrong`, strings.Repeat(" and more", 20)} {
			f := (&fault.Fault{}).Detail("text", before+"X"+after).Detail("mark", mark+"^")
			for _, columns := range []int{30, 80, 400} {
				var b strings.Builder
				WriteExcerpt(&b, f, columns)
				lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
				if len(lines) != 2 {
					t.Fatalf("%s: %q", name, b.String())
				}
				x, caret := strings.Index(lines[0], "X"), strings.Index(lines[1], "^")
				if x < 0 || cells.Width(lines[0][:x]) != caret || cells.Width(lines[0]) > columns || caret >= columns {
					t.Errorf("%s on %d columns:\n%s\n%s", name, columns, lines[0], lines[1])
				}
			}
		}
	}
}
