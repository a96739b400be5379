package node

import (
	"fmt"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// maxQuoted is the most bytes of a line of code in a message.
const maxQuoted = 160

// locate adds to a fault its place in the code and in the workflow file.
func (c *codeProgram) locate(f *fault.Fault, r *report) {
	offset, text := 0, ""
	if line, at, n := lineOf(c.Code.Code, r.Line); n > 0 {
		text = strings.TrimSpace(line)
		column := len(line) - len(strings.TrimLeft(line, " \t\f"))
		if r.Column != nil && *r.Column >= 0 && *r.Column <= len(line) {
			column = *r.Column
		}
		offset = at + column
		f.Message += fmt.Sprintf("\n  at line %d", n)
		if text != "" {
			f.Message += ": " + fault.Truncate(text, maxQuoted)
		}
		f.Detail("code_line", n)
	}
	if c.task.Place == nil {
		return
	}
	f.File, f.Line, f.Column = c.task.Place("code", offset)
	if f.Line > 0 {
		f.Message += fmt.Sprintf("\n  in %s, line %d", f.File, f.Line)
	}
}

// lineOf returns a line of a text, its offset and its number. Lines are counted from 1, as interpreters do. A line after the
// end, where an interpreter reports that something is not closed, stands for the last line with text. There is no line 0: n
// is 0 then.
func lineOf(text string, wanted int) (line string, at, n int) {
	if wanted < 1 {
		return "", 0, 0
	}
	text = strings.TrimRight(text, " \t\r\n")
	for n = 1; ; n++ {
		end, next := len(text), len(text)
		if k := strings.IndexAny(text[at:], "\r\n"); k >= 0 {
			end, next = at+k, at+k+1
			if strings.HasPrefix(text[end:], "\r\n") {
				next++
			}
		}
		if n == wanted || next == len(text) {
			return text[at:end], at, n
		}
		at = next
	}
}

// lastAssignment returns the last line that assigns a value to result, or 0.
func lastAssignment(code string) (line int) {
	for i, text := range strings.Split(code, "\n") {
		if _, rest, ok := strings.Cut(text, "result"); ok && strings.HasPrefix(strings.TrimLeft(rest, " "), "=") {
			line = i + 1
		}
	}
	return line
}
