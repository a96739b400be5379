package node

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// CodeLines are the places of the lines of a code node in the workflow's file, for a machine that does not have the file.
type CodeLines struct {
	File string `json:"file"`
	// Lines has the line and the column of the beginning of each line.
	Lines [][2]int `json:"lines"`
}

// maxCodeLines is the most lines whose places are sent.
const maxCodeLines = 5000

// codeLines returns the places of the lines of the call's code, or nil for another type.
func (p *Call) codeLines(t *Task) *CodeLines {
	if p.kind.Name != "code" || t.Place == nil {
		return nil
	}
	var c CodeLines
	for _, at := range lineStarts(gjson.GetBytes(p.Params, "code").Str) {
		file, line, column := t.Place("code", at)
		if c.Lines = append(c.Lines, [2]int{line, column}); len(c.Lines) == 1 {
			c.File = file
		}
	}
	return &c
}

// lineStarts returns the offsets of the first lines of a text.
func lineStarts(text string) []int {
	starts := []int{0}
	for i := 0; len(starts) < maxCodeLines; {
		k := strings.IndexByte(text[i:], '\n')
		if k < 0 {
			break
		}
		i += k + 1
		starts = append(starts, i)
	}
	return starts
}

// place returns the function that locates the code of a request, or nil.
func (c *CodeLines) place(kind nodetype.Type, code string) func(param string, offset int) (file string, line, column int) {
	if c == nil || len(c.Lines) == 0 || kind.Name != "code" {
		return nil
	}
	starts := lineStarts(code)
	return func(_ string, offset int) (string, int, int) {
		i, exact := slices.BinarySearch(starts, offset)
		if !exact {
			i--
		}
		i = min(max(i, 0), len(c.Lines)-1, len(starts)-1)
		return c.File, c.Lines[i][0], c.Lines[i][1] + max(offset-starts[i], 0)
	}
}
