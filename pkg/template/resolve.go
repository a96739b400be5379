package template

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Scope gives the value of a root name as valid JSON; false when there is none.
type Scope func(root string) (json.RawMessage, bool)

// Unresolved is a reference that leads nowhere: where it stands, and the longest beginning of it that exists.
type Unresolved struct {
	Ref    Ref
	Path   string
	Reason string
}

// Resolve gives a JSON value with every reference in its texts replaced. A text that is one reference becomes the value
// itself with its type; inside other text a value is put as text: a string as it is, null as nothing, an object or list
// as compact JSON. A whole-text reference inside an object or list to a part of a value, such as a node's output, that is
// text and holds a JSON object or list becomes that object or list; a root name, such as an input, gives what it is. What cannot be resolved stays as it was written and is reported.
func Resolve(raw json.RawMessage, scope Scope) (json.RawMessage, []Unresolved) {
	if !mayHoldTemplate(raw) {
		return raw, nil
	}
	r := resolver{scope: scope}
	r.value(gjson.ParseBytes(raw), "", 0)
	return r.out, r.unresolved
}

type resolver struct {
	scope      Scope
	out        []byte
	unresolved []Unresolved
}

func (r *resolver) value(v gjson.Result, path string, depth int) {
	switch {
	case v.Type == gjson.String:
		r.text(v, path, depth)
	case v.IsObject(), v.IsArray():
		r.container(v, path, depth)
	default:
		r.out = append(r.out, v.Raw...)
	}
}

func (r *resolver) container(v gjson.Result, path string, depth int) {
	object, i := v.IsObject(), 0
	r.out = append(r.out, v.Raw[0])
	v.ForEach(func(k, item gjson.Result) bool {
		if i > 0 {
			r.out = append(r.out, ',')
		}
		at := path
		if object {
			r.out = append(append(r.out, k.Raw...), ':')
			at = rawjson.JoinPath(path, k.Str)
		}
		r.value(item, at, depth+1)
		i++
		return true
	})
	r.out = append(r.out, v.Raw[len(v.Raw)-1])
}

func (r *resolver) text(v gjson.Result, path string, depth int) {
	if ref, ok := Whole(v.Str); ok {
		got, reason := Lookup(ref, r.scope)
		if reason != "" {
			r.unresolved = append(r.unresolved, Unresolved{ref, path, reason})
			r.out = append(r.out, v.Raw...)
			return
		}
		if depth > 0 && len(ref.Path) > 0 {
			if parsed, ok := Embedded(got); ok {
				got = parsed
			}
		}
		r.out = append(r.out, got...)
		return
	}
	if !strings.Contains(v.Str, "${") {
		r.out = append(r.out, v.Raw...)
		return
	}
	text, unresolved := Text(Parse(v.Str), r.scope)
	for _, u := range unresolved {
		u.Path = path
		r.unresolved = append(r.unresolved, u)
	}
	r.out = append(r.out, rawjson.Quote(text)...)
}

// Text puts the values of references into the text around them.
func Text(parts []Part, scope Scope) (string, []Unresolved) {
	var b strings.Builder
	var unresolved []Unresolved
	for _, p := range parts {
		if p.Ref == nil {
			b.WriteString(p.Text)
			continue
		}
		got, reason := Lookup(*p.Ref, scope)
		if reason != "" {
			unresolved = append(unresolved, Unresolved{Ref: *p.Ref, Reason: reason})
			b.WriteString(p.Source)
			continue
		}
		b.WriteString(AsText(got))
	}
	return b.String(), unresolved
}

// AsText is a JSON value as it stands inside a text.
func AsText(raw json.RawMessage) string {
	switch v := gjson.ParseBytes(raw); {
	case v.Type == gjson.String:
		return v.Str
	case v.Type == gjson.Null:
		return ""
	case v.Type == gjson.JSON:
		var buf bytes.Buffer
		if json.Compact(&buf, raw) == nil {
			return buf.String()
		}
		return string(raw)
	default:
		return v.Raw
	}
}

// Lookup follows a reference. When it leads nowhere the reason says how far it went; an empty reason is success.
// Text that holds a JSON object or list is looked into where the reference goes on.
func Lookup(ref Ref, scope Scope) (value json.RawMessage, reason string) {
	value, ok := scope(ref.Root)
	if !ok {
		return nil, "there is no value of " + ref.Root + ", which did not run"
	}
	value = bytes.TrimSpace(value)
	for i, step := range ref.Path {
		so := Ref{Root: ref.Root, Path: ref.Path[:i]}
		if parsed, ok := Embedded(value); ok {
			value = parsed
		}
		next, found := into(value, step)
		if !found {
			return nil, missed(so, value, step)
		}
		value = next
	}
	return value, ""
}

func into(value json.RawMessage, step Step) (json.RawMessage, bool) {
	v := gjson.ParseBytes(value)
	if step.IsIndex {
		if !v.IsArray() {
			return nil, false
		}
		i, at := 0, gjson.Result{}
		v.ForEach(func(_, item gjson.Result) bool {
			at = item
			i++
			return i <= step.Index
		})
		if i <= step.Index {
			return nil, false
		}
		return json.RawMessage(at.Raw), true
	}
	if !v.IsObject() {
		return nil, false
	}
	if step.Key != "" {
		got := v.Get(gjson.Escape(step.Key))
		return json.RawMessage(got.Raw), got.Exists()
	}
	var got gjson.Result
	v.ForEach(func(k, item gjson.Result) bool {
		if k.Str == "" {
			got = item
		}
		return k.Str != ""
	})
	return json.RawMessage(got.Raw), got.Exists()
}

// missed says in words why a step could not be taken.
func missed(so Ref, value json.RawMessage, step Step) string {
	v := gjson.ParseBytes(value)
	switch {
	case v.IsObject() && !step.IsIndex:
		var keys []string
		v.ForEach(func(k, _ gjson.Result) bool {
			keys = append(keys, k.Str)
			return len(keys) < 20
		})
		if len(keys) == 0 {
			return so.String() + " is an object without keys"
		}
		return so.String() + " has no key " + step.Key + ", only " + strings.Join(keys, ", ")
	case v.IsArray() && step.IsIndex:
		return so.String() + " is a list of " + v.Get("#").Raw + " items"
	case v.Type == gjson.String:
		return so.String() + " is text that is no JSON object or list"
	default:
		return so.String() + " is " + rawjson.Kind(value)
	}
}

// embeddedLimit is the most text that is tried as JSON.
const embeddedLimit = 10 << 20

// Embedded gives the JSON object or list that a JSON string holds. Other JSON, and text that is none, is left alone.
func Embedded(raw json.RawMessage) (json.RawMessage, bool) {
	if len(raw) < 4 || raw[0] != '"' || len(raw) > embeddedLimit {
		return nil, false
	}
	text := strings.TrimSpace(gjson.ParseBytes(raw).Str)
	if text == "" || text[0] != '{' && text[0] != '[' || !json.Valid([]byte(text)) {
		return nil, false
	}
	return json.RawMessage(text), true
}
