package template

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Unresolved is an expression without a value. Path is the JSON path of its text, and Reason says why its last term does
// not resolve.
type Unresolved struct {
	Expr   Expr
	Path   string
	Reason string
}

// MaxJoined is the most bytes of a value that is put together from several: by templates inside a text, an object or a list.
const MaxJoined = 64 << 20

const tooLong = "with it, the value would have more than 64 MiB; only a template that stands alone, as in stdin or in the content of write-file, may stand for more"

// Resolve returns a JSON value with every template in its texts replaced.
//
// A text that consists of one template becomes the template's value, with its type. Inside other text a value is inserted
// as AsText returns it. Where a template in an object or list leads to a part of a value, such as an output of a node, and
// that part is text which holds a JSON object or list, the template becomes that object or list. A root name, such as an
// input, and a literal keep their type. A template that does not resolve is left as written and reported.
func Resolve(raw json.RawMessage, scope Scope) (json.RawMessage, []Unresolved) {
	var out []byte
	var unresolved []Unresolved
	done := 0
	for at, text := range texts(raw) {
		value, missed := resolveText(text.value, len(at) > 0, scope)
		if len(at) > 0 && len(value) > MaxJoined-len(out) {
			if expr := firstExpr(text.value); expr != nil {
				value, missed = nil, []Unresolved{{Expr: *expr, Reason: tooLong}}
			}
		}
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

// resolveText returns the JSON value that replaces a text, or nil to leave the text as written. inside reports whether the
// text is in an object or list.
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
	if inside && from.Ref != nil && len(from.Ref.Path) > 0 && from.Functions == nil {
		if parsed, ok := Embedded(value); ok {
			return parsed, nil
		}
	}
	return value, nil
}

// Text returns the parts as one text, with each template replaced by its value as AsText returns it. A template that does
// not resolve is left as written and reported.
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
		if len(got) > MaxJoined-b.Len() {
			unresolved = append(unresolved, Unresolved{Expr: *p.Expr, Reason: tooLong})
			b.WriteString(p.Source)
			continue
		}
		b.WriteString(AsText(got))
	}
	return b.String(), unresolved
}

// firstExpr returns the first template of a text, or nil if there is none.
func firstExpr(text string) *Expr {
	parts := Parse(text)
	if i := slices.IndexFunc(parts, func(p Part) bool { return p.Expr != nil }); i >= 0 {
		return parts[i].Expr
	}
	return nil
}

// AsText returns a JSON value as it appears inside a text: a string without quotes, null as nothing, an object or list as
// compact JSON, a number or boolean as spelled.
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
