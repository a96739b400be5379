package workflow

import (
	"sort"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// text is a file's text with the offsets of its lines.
type text struct {
	s     string
	once  sync.Once
	lines []int
}

// place returns the line and the column, in bytes, of an offset, both from 1.
func (t *text) place(offset int) (line, column int) {
	t.once.Do(func() {
		t.lines = make([]int, 1, 1+strings.Count(t.s, "\n"))
		for i := range len(t.s) {
			if t.s[i] == '\n' {
				t.lines = append(t.lines, i+1)
			}
		}
	})
	line = sort.SearchInts(t.lines, offset+1)
	return line, offset - t.lines[line-1] + 1
}

// maxShown bounds the bytes of a line that are shown around a place.
const maxShown = 160

// show returns the line at an offset, shortened if it is long, and a line with a mark below the offset.
func (t *text) show(offset int) (line, mark string) {
	from := strings.LastIndexByte(t.s[:offset], '\n') + 1
	to := len(t.s)
	if i := strings.IndexByte(t.s[offset:], '\n'); i >= 0 {
		to = offset + i
	}
	before, after := t.s[from:offset], strings.TrimSuffix(t.s[offset:to], "\r")
	if len(before) > maxShown/2 {
		before = "…" + strings.ToValidUTF8(before[len(before)-maxShown/2:], "")
	}
	if len(after) > maxShown/2 {
		after = strings.ToValidUTF8(after[:maxShown/2], "") + "…"
	}
	for _, c := range before {
		if c == '\t' {
			mark += "\t"
		} else {
			mark += strings.Repeat(" ", cells.Width(cells.Safe(string(c))))
		}
	}
	return before + after, mark + "^"
}

// invalid finds the first byte that is not part of a UTF-8 character.
func (t *text) invalid() (offset int, found bool) {
	if utf8.ValidString(t.s) {
		return 0, false
	}
	for i := 0; i < len(t.s); {
		r, size := utf8.DecodeRuneInString(t.s[i:])
		if r == utf8.RuneError && size == 1 {
			return i, true
		}
		i += size
	}
	return 0, false
}
