package offer

import (
	"bytes"
	"encoding/json"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// The keywords of JSON Schema whose values are schemas, lists of schemas, and objects of schemas. Of the others, additionalProperties and
// the like are written as true and false by everyone.
var (
	schemaKeywords = []string{"items", "contains", "not", "if", "then", "else", "propertyNames", "contentSchema"}
	listKeywords   = []string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
	mapKeywords    = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)

// portable returns a schema with the schemas true and false inside it as objects that mean the same, since some clients refuse them.
func portable(schema json.RawMessage) json.RawMessage {
	if !bytes.Contains(schema, []byte("true")) && !bytes.Contains(schema, []byte("false")) {
		return schema
	}
	switch string(schema) {
	case "true":
		return json.RawMessage("{}")
	case "false":
		return json.RawMessage(`{"not":{}}`)
	}
	fields := map[string]json.RawMessage{}
	if schema[0] != '{' || json.Unmarshal(schema, &fields) != nil {
		return schema
	}
	for _, keyword := range schemaKeywords {
		if value := fields[keyword]; value != nil {
			fields[keyword] = portable(value)
		}
	}
	for _, keyword := range listKeywords {
		var list []json.RawMessage
		if value := fields[keyword]; len(value) > 0 && value[0] == '[' && json.Unmarshal(value, &list) == nil {
			for i := range list {
				list[i] = portable(list[i])
			}
			fields[keyword] = marshalled(list, value)
		}
	}
	for _, keyword := range mapKeywords {
		values := map[string]json.RawMessage{}
		if value := fields[keyword]; len(value) > 0 && value[0] == '{' && json.Unmarshal(value, &values) == nil {
			for name := range values {
				values[name] = portable(values[name])
			}
			fields[keyword] = marshalled(values, value)
		}
	}
	return marshalled(fields, schema)
}

// marshalled returns a value as JSON, or otherwise if that is not possible.
func marshalled(value any, otherwise json.RawMessage) json.RawMessage {
	raw, err := rawjson.Marshal(value)
	if err != nil {
		return otherwise
	}
	return raw
}
