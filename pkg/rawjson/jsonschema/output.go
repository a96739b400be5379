package jsonschema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// ParseOutput reads the parameter output_schema of a node: an object, or text that holds one. It returns nil if raw is empty
// or null. The fault is a usage_error at params.output_schema.
func ParseOutput(raw json.RawMessage) (*Schema, *fault.Fault) { return parseOutput(raw, false) }

// ParseObjectOutput is ParseOutput for an output that is always an object. The APIs of models require the schema to say so:
// the source of the returned schema has "type": "object".
func ParseObjectOutput(raw json.RawMessage) (*Schema, *fault.Fault) { return parseOutput(raw, true) }

func parseOutput(raw json.RawMessage, object bool) (s *Schema, f *fault.Fault) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = []byte(text)
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		f = invalid("it must be a JSON object")
	} else if object {
		raw, f = ofObject(raw, fields)
	}
	if f == nil {
		s, f = Compile(raw)
	}
	if f != nil {
		f.Message, f.Path = "output_schema cannot be used: "+f.Message, "params.output_schema"
		if len(f.Suggestions) == 0 {
			f.Suggest(`Write for example {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"], "additionalProperties": false}`)
		}
	}
	return s, f
}

// describing are the keywords by which a schema can describe an object.
var describing = []string{"type", "properties", "required", "additionalProperties", "patternProperties", "$ref", "allOf", "anyOf", "oneOf", "enum", "const", "if"}

// ofObject returns a schema with the type object, and refuses one that describes something else.
func ofObject(source json.RawMessage, fields map[string]json.RawMessage) (json.RawMessage, *fault.Fault) {
	if !slices.ContainsFunc(describing, func(k string) bool { return fields[k] != nil }) {
		return nil, invalid("it has no type, properties, anyOf, $ref or another keyword that describes an object")
	}
	if kinds := typesOf(decoded(source)); len(kinds) > 0 && !slices.Contains(kinds, "object") {
		return nil, invalid("/type: an answer is always an object, not %s", strings.Join(kinds, " or "))
	}
	fields["type"] = json.RawMessage(`"object"`)
	source, err := rawjson.Marshal(fields)
	if err != nil {
		return nil, invalid("%v", err)
	}
	return source, nil
}
