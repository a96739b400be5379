package jsonschema

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"
)

// TakesMore reports whether the arguments of a tool may have names that its input schema does not have under properties: because the
// schema says so, names none, names others elsewhere, as behind a reference, or is not usable (see CompileForeign). JSON Schema allows
// further names unless additionalProperties forbids them; but of a tool that lists its arguments any other name is taken for a typing error.
func TakesMore(source json.RawMessage, usable bool) bool {
	schema := gjson.ParseBytes(source)
	more, properties := schema.Get("additionalProperties"), schema.Get("properties")
	switch {
	case !usable, !schema.IsObject(), schema.Get("patternProperties").Exists():
		return true
	case more.Exists():
		return more.Type != gjson.False
	}
	return !properties.IsObject() || len(properties.Map()) == 0 || namesElsewhere(schema)
}

// namesElsewhere reports whether a schema has others for the same value that can name members of it.
func namesElsewhere(schema gjson.Result) (found bool) {
	schema.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "$ref", "$dynamicRef", "$recursiveRef":
			found = true
		case "allOf", "anyOf", "oneOf":
			found = slices.ContainsFunc(value.Array(), namesAny)
		case "if", "then", "else":
			found = namesAny(value)
		case "dependentSchemas", "dependencies":
			value.ForEach(func(_, dependent gjson.Result) bool {
				found = namesAny(dependent)
				return !found
			})
		}
		return !found
	})
	return found
}

func namesAny(schema gjson.Result) bool {
	return schema.IsObject() && (schema.Get("properties").Exists() || schema.Get("patternProperties").Exists() || namesElsewhere(schema))
}
