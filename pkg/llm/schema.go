package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// schema is what an answer must fit.
type schema struct {
	raw   json.RawMessage
	check *jsonschema.Resolved
}

// describing are the keywords of which a schema has one that says anything about objects.
var describing = []string{"type", "properties", "required", "additionalProperties", "patternProperties", "$ref", "allOf", "anyOf", "oneOf", "enum", "const", "if"}

// parseSchema reads output_schema; it gives nil when there is none. A schema may also come as text that holds it.
func parseSchema(raw json.RawMessage) (*schema, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = []byte(text)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, noSchema("it must be a JSON object")
	}
	if !slices.ContainsFunc(describing, func(k string) bool { return fields[k] != nil }) {
		return nil, noSchema("it has none of type, properties, anyOf, $ref …")
	}
	if kinds := typesOf(fields["type"]); len(kinds) > 0 && !slices.Contains(kinds, "object") {
		return nil, noSchema("it describes " + strings.Join(kinds, " or ") + ", and an answer is always an object")
	}
	fields["type"] = json.RawMessage(`"object"`) // the APIs want it said, and of nothing else
	raw, err := rawjson.Marshal(fields)
	if err != nil {
		return nil, noSchema(err.Error())
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, noSchema(illFormed(err))
	}
	if err := checkTypes(raw); err != nil {
		return nil, err
	}
	check, err := s.Resolve(nil)
	if err != nil {
		return nil, noSchema(plain(err))
	}
	return &schema{raw: raw, check: check}, nil
}

func noSchema(why string) error {
	return fault.New(fault.Execution, "output_schema is no JSON Schema of an answer: %s", why).
		Suggest(`Write for example {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"], "additionalProperties": false}`)
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

// checkTypes refuses names that are no types, which the library takes.
func checkTypes(raw json.RawMessage) error {
	var wrong string
	walk(decoded(raw), func(s map[string]any) {
		kinds, _ := s["type"].([]any)
		if one, ok := s["type"].(string); ok {
			kinds = []any{one}
		}
		for _, kind := range kinds {
			name, _ := kind.(string)
			if !slices.Contains(typeNames, name) && wrong == "" {
				wrong = name
			}
		}
	})
	if wrong == "" {
		return nil
	}
	f := fault.From(noSchema("there is no type " + string(rawjson.Quote(wrong))))
	return f.Suggest("The types are %s", strings.Join(typeNames, ", "))
}

var typeNames = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// decoded is a schema as Go values; nil when it is none.
func decoded(raw json.RawMessage) map[string]any {
	var m map[string]any
	_ = json.Unmarshal(raw, &m)
	return m
}

// walk visits a schema and all within it, outer ones first.
func walk(s map[string]any, visit func(map[string]any)) {
	if s == nil {
		return
	}
	visit(s)
	each := func(v any) {
		if m, ok := v.(map[string]any); ok {
			walk(m, visit)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s)) {
		v := s[key]
		switch key {
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			if m, ok := v.(map[string]any); ok {
				for _, name := range slices.Sorted(maps.Keys(m)) {
					each(m[name])
				}
			}
		case "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems":
			each(v)
		case "anyOf", "oneOf", "allOf", "prefixItems":
			if l, ok := v.([]any); ok {
				for _, item := range l {
					each(item)
				}
			}
		}
	}
}

// strictKeywords are what OpenAI's structured outputs know when they are strict.
var strictKeywords = []string{
	"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs", "definitions",
	"description", "title", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"minItems", "maxItems",
}

// strict says whether OpenAI can hold a model to the schema: every object names all its properties as required and allows no
// others, and nothing else is asked than what is known there.
func (s *schema) strict() bool {
	ok := true
	walk(decoded(s.raw), func(m map[string]any) {
		for key := range m {
			ok = ok && slices.Contains(strictKeywords, key)
		}
		properties, isObject := m["properties"].(map[string]any)
		if !isObject && m["type"] != "object" {
			return
		}
		required, _ := m["required"].([]any)
		ok = ok && m["additionalProperties"] == false && len(required) == len(properties)
	})
	return ok
}

// plainTypes writes each list of types as a choice among schemas of one type each.
func plainTypes(m map[string]any) {
	walk(m, func(s map[string]any) {
		kinds, ok := s["type"].([]any)
		if !ok {
			return
		}
		delete(s, "type")
		var choice []any
		for _, kind := range kinds {
			one := map[string]any{"type": kind}
			if kind != "null" {
				maps.Copy(one, s)
			}
			choice = append(choice, one)
		}
		description, described := s["description"]
		clear(s)
		s["anyOf"] = choice
		if described {
			s["description"] = description
		}
	})
}

// value is the object that an answer holds, or what is wrong with the answer.
func (s *schema) value(answer string) (json.RawMessage, error) {
	text := unfenced(answer)
	if !strings.HasPrefix(text, "{") { // a model that is only told the schema may talk around its answer
		from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
		if from >= 0 && to > from {
			text = text[from : to+1]
		}
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, errors.New("it is no JSON: " + err.Error())
	}
	if err := s.check.Validate(v); err != nil {
		return nil, errors.New(plain(err))
	}
	return rawjson.Compact([]byte(text)), nil
}

// illFormed is why a schema does not decode.
func illFormed(err error) string {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		keyword := wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:]
		return "its " + keyword + " cannot be of type " + wrong.Value
	}
	return plain(err)
}

// plain is what the schema library says, in the words of who wrote the schema: where it is wrong, and how.
func plain(err error) string {
	text, place := strings.TrimPrefix(err.Error(), "jsonschema: "), ""
	for strings.HasPrefix(text, "validating ") {
		at, rest, ok := strings.Cut(strings.TrimPrefix(text, "validating "), ": ")
		if !ok {
			break
		}
		place, text = at, rest
	}
	text = strings.TrimPrefix(strings.TrimPrefix(text, "jsonschema.Schema: "), "<anonymous schema>: ")
	switch {
	case strings.HasPrefix(text, "type: "): // behind it stands the whole value
		if at := strings.LastIndex(text, " has type "); at >= 0 {
			text = "it" + text[at:]
		}
	case strings.HasPrefix(text, "anyOf: did not"), strings.HasPrefix(text, "oneOf: did not"):
		text = "it fits none of the choices of " + text[:len("anyOf")]
	}
	if place != "" && place != "root" {
		text = place + ": " + text
	}
	return fault.Short(text, maxShown)
}

// unfenced is a text without the code fence that stands around the whole of it, and without blanks around that.
func unfenced(text string) string {
	text = strings.TrimSpace(text)
	const fence = "```"
	inner, opened := strings.CutPrefix(text, fence)
	inner, closed := strings.CutSuffix(inner, fence)
	_, body, ok := strings.Cut(inner, "\n") // what stands behind the fence names the language
	if !opened || !closed || !ok || strings.Contains(body, fence) {
		return text
	}
	return strings.TrimSpace(body)
}
