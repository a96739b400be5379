package llm

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// splitTypes replaces each list of types in a schema by anyOf with one schema for each type.
func splitTypes(m map[string]any) {
	jsonschema.Walk(m, func(_ string, s map[string]any) {
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

// What the messages API supports of JSON Schema: platform.claude.com/docs/en/build-with-claude/structured-outputs.
var (
	supportedKeywords = []string{
		"$ref", "$defs", "type", "anyOf", "oneOf", "allOf", "description", "title", "enum", "const", "properties", "additionalProperties",
		"required", "items", "minItems", "format", "pattern",
	}
	supportedFormats = []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
	// describedKeywords become a part of the description instead, for the model to read. All others are left out.
	describedKeywords = []string{
		"$schema", "$id", "$anchor", "$dynamicRef", "$comment", "not", "if", "then", "else", "dependentSchemas", "prefixItems", "contains",
		"patternProperties", "propertyNames", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength",
		"maxItems", "uniqueItems", "maxContains", "minContains", "maxProperties", "minProperties", "dependentRequired", "contentEncoding",
		"contentMediaType", "contentSchema", "default", "deprecated", "readOnly", "writeOnly", "examples",
	}
	// flags are keywords that are false by default.
	flags = []string{"uniqueItems", "deprecated", "readOnly", "writeOnly"}
)

// subset returns a schema in the subset of JSON Schema that the messages API supports, or nil if nothing is left of it. It changes the
// schema that it gets.
func subset(schema any) any {
	s, ok := schema.(object)
	if !ok {
		return schema // true or false
	}
	if ref, ok := s["$ref"].(string); ok { // the API allows nothing beside it
		return object{"$ref": ref}
	}
	described := object{}
	for keyword, value := range s {
		list, isList := value.([]any)
		switch {
		case keyword == "const": // null and "" are values too
		case value == nil, keyword != "default" && (value == "" || isList && len(list) == 0 || value == false && slices.Contains(flags, keyword)):
			delete(s, keyword) // it says nothing
		case slices.Contains(describedKeywords, keyword), isList && keyword == "items": // a list of items is an older prefixItems
			delete(s, keyword)
			described[keyword] = value
		case !slices.Contains(supportedKeywords, keyword):
			delete(s, keyword)
		}
	}
	subsetWithin(s)
	if _, constant := s["const"]; !constant && s["type"] == nil && s["enum"] == nil && s["anyOf"] == nil && s["allOf"] == nil {
		return nil
	}
	switch properties, values := s["properties"], s["additionalProperties"]; {
	case s["type"] != "object":
	case properties != nil:
		s["additionalProperties"] = false
	case values == nil:
		s["properties"], s["additionalProperties"] = object{}, false
	}
	if format, ok := s["format"].(string); ok && s["type"] == "string" && !slices.Contains(supportedFormats, format) {
		described["format"] = format
		delete(s, "format")
	}
	if least, ok := s["minItems"].(float64); ok && least > 1 {
		described["minItems"] = least
		delete(s, "minItems")
	}
	describe(s, described)
	return s
}

// subsetWithin replaces the schemas directly in a schema. One of which nothing is left allows everything, and as a choice it is left out.
func subsetWithin(s object) {
	inner := func(schema any) any {
		if schema = subset(schema); schema == nil {
			return true
		}
		return schema
	}
	for _, keyword := range []string{"$defs", "properties"} {
		named, _ := s[keyword].(object)
		for name := range named {
			named[name] = inner(named[name])
		}
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		if schema, ok := s[keyword]; ok {
			s[keyword] = inner(schema)
		}
	}
	all, _ := s["allOf"].([]any)
	for i := range all {
		all[i] = inner(all[i])
	}
	choices, ok := s["anyOf"].([]any)
	if !ok {
		choices, _ = s["oneOf"].([]any)
	}
	delete(s, "oneOf")
	delete(s, "anyOf")
	for i := range choices {
		choices[i] = subset(choices[i])
	}
	if choices = slices.DeleteFunc(choices, func(c any) bool { return c == nil }); len(choices) > 0 {
		s["anyOf"] = choices
	}
}

// describe adds keywords to the description of a schema.
func describe(s, keywords object) {
	var parts []string
	for _, keyword := range slices.Sorted(maps.Keys(keywords)) {
		text, ok := keywords[keyword].(string)
		if !ok {
			raw, _ := rawjson.Marshal(keywords[keyword]) // it was JSON before
			text = string(raw)
		}
		parts = append(parts, keyword+": "+text)
	}
	if len(parts) == 0 {
		return
	}
	text := "{" + strings.Join(parts, ", ") + "}"
	if before, _ := s["description"].(string); before != "" {
		text = before + "\n\n" + text
	}
	s["description"] = text
}

// valueIn returns the object in an answer, or an error that says what is wrong with the answer.
func valueIn(answer string, s *jsonschema.Schema) (json.RawMessage, error) {
	text := unfenced(answer)
	if !strings.HasPrefix(text, "{") { // with the schema in the prompt, a model may add text around the object
		from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
		if from >= 0 && to > from {
			text = text[from : to+1]
		}
	}
	if err := s.Check([]byte(text)); err != nil {
		return nil, err
	}
	return rawjson.Compact([]byte(text)), nil
}

// unfenced returns a text without white space and a code fence around the whole of it.
func unfenced(text string) string {
	text = strings.TrimSpace(text)
	const fence = "```"
	inner, opened := strings.CutPrefix(text, fence)
	inner, closed := strings.CutSuffix(inner, fence)
	_, body, ok := strings.Cut(inner, "\n") // the rest of the first line names the language
	if !opened || !closed || !ok || strings.Contains(body, fence) {
		return text
	}
	return strings.TrimSpace(body)
}
