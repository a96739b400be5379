package template

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Functions lists the functions that a template can apply to a value. Each takes text.
func Functions() []string { return []string{"lines", "json", "trim"} }

// FunctionType returns the type of what a function returns, in the words of node types.
func FunctionType(name string) string {
	switch name {
	case "lines":
		return "list"
	case "trim":
		return "str"
	}
	return "any"
}

// UnknownFunction returns the first name in a malformed template that is in the place of a function but does not name one.
func UnknownFunction(source string) (name string, ok bool) {
	for rest, first := strings.TrimPrefix(source, "${"), true; ; first = false {
		_, n := parseTerm(rest, first)
		if n == 0 {
			return "", false
		}
		rest = strings.TrimLeft(rest[n:], space)
		if after, more := strings.CutPrefix(rest, "|"); more {
			after = strings.TrimLeft(after, space)
			name = after[:wordLength(after, true)]
			return name, name != "" && !slices.Contains(Functions(), name)
		}
		if rest, ok = strings.CutPrefix(rest, "??"); !ok {
			return "", false
		}
		rest = strings.TrimLeft(rest, space)
	}
}

// apply applies the term's functions to the value of its reference. The reason is not empty if one of them cannot be applied.
func (t Term) apply(value json.RawMessage) (result json.RawMessage, reason string) {
	for i, name := range t.Functions {
		value = bytes.TrimSpace(value)
		so := Expr{[]Term{{Ref: t.Ref, Functions: t.Functions[:i]}}}
		if len(value) == 0 || value[0] != '"' {
			return nil, name + " takes text, but " + so.String() + " is " + rawjson.Kind(value)
		}
		switch name {
		case "lines":
			value = lines(unquote(value))
		case "trim":
			value = rawjson.Quote(strings.TrimSpace(unquote(value)))
		case "json":
			text := bytes.TrimSpace(unescape(value))
			if !json.Valid(text) {
				return nil, so.String() + " is text that is not JSON: " + shown(string(text))
			}
			value = slices.Clip(json.RawMessage(text)) // part of the value, of which nothing must be overwritten
		}
	}
	return value, ""
}

// lines returns the lines of a text as a JSON list. A newline ends a line, so that empty text has none, and a carriage return
// before it is not part of the line.
func lines(text string) json.RawMessage {
	out := make([]byte, 0, len(text)+len(text)/8+2)
	out = append(out, '[')
	for line := range strings.Lines(text) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		line = strings.TrimSuffix(line, "\n")
		out = rawjson.AppendQuoted(out, strings.TrimSuffix(line, "\r"))
	}
	return append(out, ']')
}
