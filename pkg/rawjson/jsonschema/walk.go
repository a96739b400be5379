package jsonschema

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Walk visits a schema and the schemas within it, outer ones first, each with its path: a JSON Pointer, empty for the root. The
// values that a visit deletes from a schema are not visited.
func Walk(document map[string]any, visit func(path string, s map[string]any)) {
	if document != nil {
		walk("", document, visit)
	}
}

func walk(path string, s map[string]any, visit func(string, map[string]any)) {
	visit(path, s)
	for _, keyword := range slices.Sorted(maps.Keys(s)) {
		for _, in := range within(path, keyword, s[keyword]) {
			walk(in.path, in.schema, visit)
		}
	}
}

// part is a schema directly in another.
type part struct {
	path   string
	schema map[string]any
}

// within returns the schemas in the value of a keyword.
func within(path, keyword string, value any) []part {
	var parts []part
	path += "/" + keyword
	add := func(path string, v any) {
		if s, ok := v.(map[string]any); ok {
			parts = append(parts, part{path, s})
		}
	}
	switch keyword {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
		named, _ := value.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(named)) {
			add(path+"/"+escaped.Replace(name), named[name])
		}
	case "items", "prefixItems", "additionalItems", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames",
		"unevaluatedProperties", "unevaluatedItems", "contentSchema", "anyOf", "oneOf", "allOf":
		list, _ := value.([]any)
		for i, item := range list {
			add(path+"/"+strconv.Itoa(i), item)
		}
		add(path, value)
	}
	return parts
}

// escaped writes a name as a segment of a JSON Pointer (RFC 6901, section 3).
var escaped = strings.NewReplacer("~", "~0", "/", "~1")
