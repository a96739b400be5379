package template

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Unresolved is an expression that leads nowhere: where it stands, and why the last of its terms does not.
type Unresolved struct {
	Expr   Expr
	Path   string
	Reason string
}

// Resolve gives a JSON value with every template in its texts replaced. A text that is one template becomes the value
// itself with its type; inside other text a value is put as text: a string as it is, null as nothing, an object or list
// as compact JSON. A whole-text template inside an object or list that leads to a part of a value, such as a node's
// output, that is text and holds a JSON object or list becomes that object or list; a root name, such as an input, and a
// literal give what they are. What cannot be resolved stays as it was written and is reported.
func Resolve(raw json.RawMessage, scope Scope) (json.RawMessage, []Unresolved) {
	var out []byte
	var unresolved []Unresolved
	done := 0
	for at, text := range texts(raw) {
		value, missed := resolveText(text.value, len(at) > 0, scope)
		for _, u := range missed {
			u.Path = at.String()
			unresolved = append(unresolved, u)
		}
		if value != nil {
			out = append(append(out, raw[done:text.start]...), value...)
			done = text.end
		}
	}
	if done == 0 {
		return raw, unresolved
	}
	return append(out, raw[done:]...), unresolved
}

// resolveText gives the JSON value that a text stands for; nil leaves it as it was written.
func resolveText(text string, inside bool, scope Scope) (json.RawMessage, []Unresolved) {
	parts := Parse(text)
	if len(parts) > 1 || parts[0].Expr == nil {
		put, unresolved := Text(parts, scope)
		return rawjson.Quote(put), unresolved
	}
	expr := *parts[0].Expr
	value, from, reason := expr.value(scope)
	if reason != "" {
		return nil, []Unresolved{{Expr: expr, Reason: reason}}
	}
	if inside && from.Ref != nil && len(from.Ref.Path) > 0 {
		if parsed, ok := Embedded(value); ok {
			return parsed, nil
		}
	}
	return value, nil
}

// Text puts the values of templates into the text around them.
func Text(parts []Part, scope Scope) (string, []Unresolved) {
	var b strings.Builder
	var unresolved []Unresolved
	for _, p := range parts {
		if p.Expr == nil {
			b.WriteString(p.Text)
			continue
		}
		got, reason := p.Expr.Value(scope)
		if reason != "" {
			unresolved = append(unresolved, Unresolved{Expr: *p.Expr, Reason: reason})
			b.WriteString(p.Source)
			continue
		}
		b.WriteString(AsText(got))
	}
	return b.String(), unresolved
}

// AsText is a JSON value as it stands inside a text.
func AsText(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || raw[0] == 'n':
		return ""
	case raw[0] == '"':
		return unquote(raw)
	case raw[0] == '{', raw[0] == '[':
		return string(rawjson.Compact(raw))
	default:
		return string(raw)
	}
}
