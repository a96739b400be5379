// Package jsonschema is the JSON value that a model or an agent is asked for: the JSON Schema that says what it must be, and what
// is wrong with a value that does not fit it.
package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Schema is what an answer must fit.
type Schema struct {
	source  json.RawMessage
	checker *jsonschema.Resolved
}

// Parse reads the parameter output_schema: an object, or text that holds one. It gives nil when there is none. The fault is
// a usage_error at params.output_schema that says what is wrong and where. A schema that comes back to itself without having
// gone into a part of the value is refused, for no value can be checked by it.
func Parse(raw json.RawMessage) (*Schema, *fault.Fault) {
	source, _, f := sourceOf(raw)
	if f != nil || source == nil {
		return nil, f
	}
	return compile(source)
}

// ParseObject is Parse for an answer that is always an object, which the source of the schema then says.
func ParseObject(raw json.RawMessage) (*Schema, *fault.Fault) {
	source, fields, f := sourceOf(raw)
	if f != nil || source == nil {
		return nil, f
	}
	if !slices.ContainsFunc(describing, func(k string) bool { return fields[k] != nil }) {
		return nil, noSchema("it has none of type, properties, anyOf, $ref …")
	}
	if kinds := typesOf(fields["type"]); len(kinds) > 0 && !slices.Contains(kinds, "object") {
		return nil, noSchema("it describes " + strings.Join(kinds, " or ") + ", and an answer is always an object")
	}
	fields["type"] = json.RawMessage(`"object"`) // the APIs want it said, and of nothing else
	source, err := rawjson.Marshal(fields)
	if err != nil {
		return nil, noSchema(err.Error())
	}
	return compile(source)
}

// describing are the keywords of which a schema has one that says anything about objects.
var describing = []string{"type", "properties", "required", "additionalProperties", "patternProperties", "$ref", "allOf", "anyOf", "oneOf", "enum", "const", "if"}

// sourceOf is a schema with its keywords; nil when there is none.
func sourceOf(raw json.RawMessage) (json.RawMessage, map[string]json.RawMessage, *fault.Fault) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = []byte(text)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return nil, nil, noSchema("it must be a JSON object")
	}
	return raw, fields, nil
}

// compile makes a schema of its source.
func compile(source json.RawMessage) (*Schema, *fault.Fault) {
	source = rawjson.Compact(source)
	var document jsonschema.Schema
	if err := json.Unmarshal(source, &document); err != nil {
		return nil, noSchema(illFormed(err))
	}
	if f := checkTypes(source); f != nil {
		return nil, f
	}
	checker, err := document.Resolve(nil)
	if err != nil {
		return nil, noSchema(plain(err))
	}
	canonical, err := json.Marshal(&document) // in which each keyword is spelt as the checker reads it
	if err != nil {
		return nil, noSchema(plain(err))
	}
	if f := checkEnd(canonical); f != nil {
		return nil, f
	}
	return &Schema{source: source, checker: checker}, nil
}

func noSchema(why string) *fault.Fault {
	return refused(fault.New(fault.Usage, "output_schema is no JSON Schema of an answer: %s", why)).
		Suggest(`Write for example {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"], "additionalProperties": false}`)
}

// refused names the parameter that a fault is about.
func refused(f *fault.Fault) *fault.Fault {
	f.Path = "params.output_schema"
	return f
}

// typesOf are the types that a schema's type lists: one or several.
func typesOf(raw json.RawMessage) []string {
	var one string
	var several []string
	if json.Unmarshal(raw, &one) == nil && one != "" {
		return []string{one}
	}
	if json.Unmarshal(raw, &several) == nil {
		return several
	}
	return nil
}

var typeNames = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// checkTypes refuses names that are no types, which the library takes.
func checkTypes(source json.RawMessage) *fault.Fault {
	var f *fault.Fault
	Walk(decoded(source), func(path string, s map[string]any) {
		kinds, _ := s["type"].([]any)
		if one, ok := s["type"].(string); ok {
			kinds = []any{one}
		}
		for _, kind := range kinds {
			name, _ := kind.(string)
			if f == nil && !slices.Contains(typeNames, name) {
				f = noSchema("there is no type "+string(rawjson.Quote(name))+", which stands at "+path+"/type").
					Suggest("The types are %s", strings.Join(typeNames, ", "))
			}
		}
	})
	return f
}

// decoded is a schema as Go values; nil when it is none.
func decoded(raw json.RawMessage) map[string]any {
	var m map[string]any
	_ = json.Unmarshal(raw, &m)
	return m
}

// Source is the schema as JSON, without blanks.
func (s *Schema) Source() json.RawMessage { return s.source }

// Document is the schema as Go values, the caller's own.
func (s *Schema) Document() map[string]any { return decoded(s.source) }

// Object says whether the schema says of itself that every value that fits is an object.
func (s *Schema) Object() bool { return s.Document()["type"] == "object" }

// Check says what of a value does not fit, in the words of who wrote the schema: where, and how. A nil value is an answer that
// holds none.
func (s *Schema) Check(value json.RawMessage) error {
	var v any
	if value == nil {
		return errors.New("it is no JSON")
	}
	if err := json.Unmarshal(value, &v); err != nil {
		return errors.New("it is no JSON: " + err.Error())
	}
	if err := s.checker.Validate(v); err != nil {
		return errors.New(plain(err))
	}
	return nil
}
