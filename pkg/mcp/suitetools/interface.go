package suitetools

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// maxInterfaces is the most bytes that the interfaces of an answer take in its text.
const maxInterfaces = 1000

// interfaces returns a line for each node type that comes with its interface, in the order of the list, as long as they take at most
// maxInterfaces bytes. A client may show its model the text alone, so the text has what is needed to write a node. The
// structured content has the descriptions.
func interfaces(nodes []gjson.Result) (lines []string) {
	size := 0
	for _, node := range nodes {
		if len(node.Get("inputs").Array()) == 0 {
			continue
		}
		line := callForm(node)
		if size += len(line) + 1; size > maxInterfaces {
			break
		}
		lines = append(lines, line)
	}
	return lines
}

// callForm returns the names and types of what a node type takes and gives, on one line: "?" follows the name of what need not be given.
func callForm(node gjson.Result) string {
	var inputs []string
	for _, input := range node.Get("inputs").Array() {
		name := input.Get("name").Str
		if !input.Get("required").Bool() {
			name += "?"
		}
		inputs = append(inputs, strings.TrimSpace(name+" "+input.Get("type").Str))
	}
	text := fmt.Sprintf("%s(%s)", node.Get("type").Str, strings.Join(inputs, ", "))
	var outputs []string
	for _, output := range node.Get("outputs.#.name").Array() {
		outputs = append(outputs, output.Str)
	}
	if len(outputs) > 0 {
		text += " -> " + strings.Join(outputs, ", ")
	}
	return text
}
