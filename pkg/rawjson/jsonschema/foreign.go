package jsonschema

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	google "github.com/google/jsonschema-go/jsonschema"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

const (
	// maxForeign is the most bytes of a schema that CompileForeign compiles. It compiles a megabyte in half a second.
	maxForeign = 256 << 10
	// maxForeignDepth is how deep the objects and lists of such a schema may be nested. The library's time grows with the cube of the
	// depth: with 4,000 schemas in each other it takes more than a minute.
	maxForeignDepth = 200
)

// CompileForeign compiles a schema that the user of a check has not written, such as that of the tool of an MCP server, for the
// check of objects. It returns nil if the schema cannot be used: then nothing can be checked. That includes a schema that allows no
// object, which says nothing about the arguments of a tool, because they are one. A dialect that is not supported is read as draft
// 2020-12, which most schemas of other dialects fit.
func CompileForeign(source json.RawMessage) *Schema {
	if len(source) > maxForeign || rawjson.Depth(source) > maxForeignDepth {
		return nil
	}
	s := compileForeign(source)
	if s == nil || !s.allowsObjects() {
		return nil
	}
	return s
}

// allowsObjects reports whether the keywords of a schema leave a way for a value to be an object.
func (s *Schema) allowsObjects() bool {
	d := s.document
	typed := d.Type != "" || d.Types != nil
	empty := func(choices []*google.Schema) bool { return choices != nil && len(choices) == 0 } // the standards forbid it
	return (!typed || d.Type == "object" || slices.Contains(d.Types, "object")) && !empty(d.AnyOf) && !empty(d.OneOf)
}

func compileForeign(source json.RawMessage) *Schema {
	s, f := Compile(source)
	if f == nil {
		return s
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(source, &fields) != nil || fields["$schema"] == nil {
		return nil
	}
	maps.DeleteFunc(fields, func(name string, _ json.RawMessage) bool { return name == "$schema" })
	plain, err := rawjson.Marshal(fields)
	if err != nil {
		return nil
	}
	if s, f = Compile(plain); f != nil {
		return nil
	}
	return s
}

// CheckMember checks the value of one member of an object by the schema of its name in the keyword properties. It returns nil
// if the value fits, and for a name that is not there.
func (s *Schema) CheckMember(name string, value json.RawMessage) *Violation {
	if known, _ := s.parts[""]["properties"].(map[string]any); known[name] == nil {
		return nil
	}
	place := rawjson.JoinPath("", name)
	v, err := Decode(value)
	if err != nil {
		return &Violation{Path: place, Must: "be JSON (" + err.Error() + ")"}
	}
	s, v = s.exact(v)
	e := newExplainer(s)
	at := "/properties/" + escaped.Replace(name)
	if _, keyword := e.fails(at, v); keyword == "" {
		return nil
	}
	return e.explain(place, at, v)
}

// DependsOn reports whether the value could fit if the strings with the given mark in them were other values.
func (v *Violation) DependsOn(mark string) bool {
	if text, ok := v.part.(string); ok {
		return strings.Contains(text, mark)
	}
	switch v.keyword {
	case "type", "required", "additionalProperties", "dependentRequired", "minProperties", "maxProperties", "minItems", "maxItems":
		return false // they ask only for the kind of the value and for its names
	}
	return holds(v.part, mark)
}

// holds reports whether a string in the value contains a mark.
func holds(value any, mark string) bool {
	switch value := value.(type) {
	case string:
		return strings.Contains(value, mark)
	case []any:
		return slices.ContainsFunc(value, func(item any) bool { return holds(item, mark) })
	case map[string]any:
		for _, item := range value {
			if holds(item, mark) {
				return true
			}
		}
	}
	return false
}
