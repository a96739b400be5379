package workflow

import (
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// fenceOf is the fence with which a line opens a code block, or "".
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		after := strings.TrimLeft(line, c)
		if n := len(line) - len(after); n >= 3 && (c == "~" || !strings.Contains(after, c)) {
			return line[:n]
		}
	}
	return ""
}

// headingLevel counts the # of a heading; 0 is none.
func headingLevel(line string) int {
	after := strings.TrimLeft(line, "#")
	if n := len(line) - len(after); n >= 1 && n <= 6 && (after == "" || isSpace(after[0])) {
		return n
	}
	return 0
}

// isRule says whether a line is one drawn across the page.
func isRule(line string) bool {
	mark := line[:1]
	return strings.Count(line, mark) >= 3 && strings.Contains("-*_", mark) && strings.Trim(line, mark+" \t") == ""
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

// isID says whether a word can name a step, an input or an output.
func isID(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (i == 0 || c != '-' && c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

// asID makes such a name of a heading, or "".
func asID(s string) string {
	id := strings.Join(strings.FieldsFunc(strings.ToLower(s), func(c rune) bool {
		return c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9')
	}), "-")
	id = strings.TrimLeft(id, "0123456789-_")
	if len(id) > 40 {
		return ""
	}
	return id
}

// sectionOf finds the section of a heading. Of one that is unknown, meant says what to do when it was meant to be one.
func sectionOf(words string) (s section, known bool, meant string) {
	lower := strings.ToLower(words)
	switch lower {
	case "inputs":
		return inputsSection, true, ""
	case "steps":
		return stepsSection, true, ""
	case "outputs":
		return outputsSection, true, ""
	case "nodes", "tasks", "workflow":
		return 0, false, "The steps stand below ## Steps"
	case "parameters", "params", "arguments", "variables":
		return 0, false, "The values that a run is given stand below ## Inputs"
	case "results", "result", "returns":
		return 0, false, "The values that a run gives back stand below ## Outputs"
	case "edges", "routes", "flow":
		return 0, false, "The steps follow each other as they stand; a step that goes elsewhere says so: - next: id"
	case "cache":
		return 0, false, `Each step says for itself what is kept: "- cache: true", or with a time "- cache: {ttl: 1h}"`
	}
	if near, ok := fault.Nearest(lower, []string{"inputs", "steps", "outputs"}); ok {
		return 0, false, "Did you mean ## " + strings.ToUpper(near[:1]) + near[1:] + "?"
	}
	return 0, false, ""
}

// hasValue says whether the value of a parameter is all in its first line, as far as that can be told.
func hasValue(line string) bool {
	_, value, found := strings.Cut(line, ":")
	if value = strings.TrimLeft(value, " \t"); !found {
		return true
	}
	return value != "" && strings.IndexByte("|>[{\"'#", value[0]) < 0
}

// openText is text after | or >: the lines that are indented more than the line that opened it, as far as the first of
// them.
type openText struct{ outside, indent int }

// opened is the text that a line opens which begins in a column; it takes nothing when the line opens none.
func opened(line string, column int) *openText {
	words := strings.Fields(line)
	for i, w := range words {
		if i > 0 && (w[0] == '|' || w[0] == '>') && strings.Trim(w[1:], "+-0123456789") == "" && (i+1 == len(words) || words[i+1][0] == '#') {
			if before := words[i-1]; before == "-" || before[len(before)-1] == ':' {
				return &openText{column, -1}
			}
		}
	}
	return nil
}

// takes says whether a line belongs to the text that begins in a column.
func (t *openText) takes(column int) bool {
	if t == nil || column <= t.outside || column < t.indent {
		return false
	}
	if t.indent < 0 {
		t.indent = column
	}
	return true
}

// a puts the article before a noun.
func a(noun string) string {
	if strings.IndexByte("aeiou", noun[0]) >= 0 {
		return "an " + noun
	}
	return "a " + noun
}
