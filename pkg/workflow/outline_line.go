package workflow

import (
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// fenceOf returns the fence with which a line opens a code block, or "".
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		after := strings.TrimLeft(line, c)
		if n := len(line) - len(after); n >= 3 && (c == "~" || !strings.Contains(after, c)) {
			return line[:n]
		}
	}
	return ""
}

// headingLevel returns the number of # of a heading, or 0 if the line is not a heading.
func headingLevel(line string) int {
	after := strings.TrimLeft(line, "#")
	if n := len(line) - len(after); n >= 1 && n <= 6 && (after == "" || isSpace(after[0])) {
		return n
	}
	return 0
}

// isRule reports whether a line is a thematic break, such as ---.
func isRule(line string) bool {
	mark := line[:1]
	return strings.Count(line, mark) >= 3 && strings.Contains("-*_", mark) && strings.Trim(line, mark+" \t") == ""
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

// isID reports whether a word can name a step, an input or an output.
func isID(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (i == 0 || c != '-' && c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

// asID converts a heading to an id. It returns "" if that is not possible.
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

// sectionOf returns the section of a heading. If it is unknown, suggestion says what to write if a section was meant.
func sectionOf(words string) (s section, known bool, suggestion string) {
	lower := strings.ToLower(words)
	switch lower {
	case "inputs":
		return inputsSection, true, ""
	case "steps":
		return stepsSection, true, ""
	case "outputs":
		return outputsSection, true, ""
	case "nodes", "tasks", "workflow":
		return 0, false, "Write the steps below ## Steps"
	case "parameters", "params", "arguments", "variables":
		return 0, false, "Write the inputs of a run below ## Inputs"
	case "results", "result", "returns":
		return 0, false, "Write the results of a run below ## Outputs"
	case "edges", "routes", "flow":
		return 0, false, "Steps follow each other in the order of the file; write - next: id in a step that leads elsewhere"
	case "cache":
		return 0, false, `Set the cache in each step: "- cache: true", or with a time "- cache: {ttl: 1h}"`
	}
	if near, ok := fault.Nearest(lower, []string{"inputs", "steps", "outputs"}); ok {
		return 0, false, "Did you mean ## " + strings.ToUpper(near[:1]) + near[1:] + "?"
	}
	return 0, false, ""
}

// hasValue reports whether the value of a parameter seems to be complete in its first line.
func hasValue(line string) bool {
	_, value, found := strings.Cut(line, ":")
	if value = strings.TrimLeft(value, " \t"); !found {
		return true
	}
	return value != "" && strings.IndexByte("|>[{\"'#", value[0]) < 0
}

// openText is text after | or >: lines that are indented more than the line that opens it, and at least as much as the first of
// them.
type openText struct{ outside, indent int }

// opened returns the text that a line opens. It returns nil if the line ends without | or >.
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

// takes reports whether a line that starts in the given column belongs to the text.
func (t *openText) takes(column int) bool {
	if t == nil || column <= t.outside || column < t.indent {
		return false
	}
	if t.indent < 0 {
		t.indent = column
	}
	return true
}

// a returns a noun with its article.
func a(noun string) string {
	if strings.IndexByte("aeiou", noun[0]) >= 0 {
		return "an " + noun
	}
	return "a " + noun
}
