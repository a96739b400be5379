package jsonschema

import "slices"

// strictKeywords are the keywords that OpenAI's strict structured outputs know.
var strictKeywords = []string{
	"$schema", "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs", "definitions",
	"description", "title", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"minItems", "maxItems",
}

// Strict reports whether OpenAI can hold a model to the schema: every object requires all its properties and allows no others,
// and all keywords are known there (platform.openai.com/docs/guides/structured-outputs).
func (s *Schema) Strict() bool {
	ok := true
	Walk(s.Document(), func(_ string, m map[string]any) {
		for keyword := range m {
			ok = ok && slices.Contains(strictKeywords, keyword)
		}
		properties, isObject := m["properties"].(map[string]any)
		if !isObject && m["type"] != "object" {
			return
		}
		required, _ := m["required"].([]any)
		ok = ok && m["additionalProperties"] == false
		for name := range properties {
			ok = ok && slices.Contains(required, any(name))
		}
	})
	return ok
}
