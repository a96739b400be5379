package suitetools

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

const (
	// maxInterfaces is the most bytes that the interfaces of an answer take in its text.
	maxInterfaces = 3000
	// maxParameter is the most bytes of the description of a parameter in a text.
	maxParameter = 200
)

// interfaces returns a line for each node type that comes with its interface, in the order of the list, as long as they take at most
// maxInterfaces bytes. A client may show its model the text alone, so the text has what is needed to write a node. A single one has
// the descriptions of its parameters too.
func interfaces(nodes []gjson.Result) (lines []string) {
	size := 0
	for _, node := range nodes {
		inputs := node.Get("inputs").Array()
		if len(inputs) == 0 {
			continue
		}
		line := callForm(node)
		if len(nodes) == 1 {
			line = fault.Truncate(line+parameterTexts(inputs), maxInterfaces)
		}
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

// parameterTexts returns a line for each parameter that has a description.
func parameterTexts(inputs []gjson.Result) string {
	var text strings.Builder
	for _, input := range inputs {
		if of := input.Get("description").Str; of != "" {
			fmt.Fprintf(&text, "\n  %s: %s", input.Get("name").Str, fault.Truncate(of, maxParameter))
		}
	}
	return text.String()
}
