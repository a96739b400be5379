package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// writeValue writes a text with its name: on one line, or indented below the name if it has several. It writes nothing if there is
// no text.
func writeValue(w io.Writer, indent, name, text string) {
	text = strings.TrimRight(text, "\r\n")
	switch {
	case text == "":
	case strings.Contains(text, "\n"):
		_, _ = fmt.Fprintf(w, "%s%s:\n%s  %s\n", indent, name, indent, strings.ReplaceAll(text, "\n", "\n  "+indent))
	default:
		_, _ = fmt.Fprintf(w, "%s%s: %s\n", indent, name, text)
	}
}

// writeBrief writes the members of an object below a label, each on one line, which is cut at that many columns unless that is 0.
func writeBrief(w io.Writer, label string, object json.RawMessage, columns int) {
	gjson.ParseBytes(object).ForEach(func(name, value gjson.Result) bool {
		if label != "" {
			_, _ = fmt.Fprintf(w, "%s:\n", label)
			label = ""
		}
		line := cells.Clean(name.Str + ": " + template.AsText(json.RawMessage(value.Raw)))
		if columns > 0 {
			line = cells.Cut(line, max(1, columns-2))
		}
		_, _ = fmt.Fprintf(w, "  %s\n", line)
		return true
	})
}

// textOf returns what a person wants to see first of the outputs of a node: the first output, or if that has no value the first
// text. Node types declare their main output first.
func textOf(outputs json.RawMessage) string {
	if rawjson.Kind(outputs) != "an object" {
		return template.AsText(outputs)
	}
	text, first := "", true
	gjson.ParseBytes(outputs).ForEach(func(_, value gjson.Result) bool {
		if value.Type == gjson.String || first && value.Type != gjson.Null {
			text = template.AsText(json.RawMessage(value.Raw))
			return false
		}
		first = false
		return true
	})
	return text
}
