package offer

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// anyArguments is the schema of arguments that are not known.
const anyArguments = `{"type":"object","additionalProperties":true}`

const (
	// maxSchema is the most bytes of a schema in a list of tools.
	maxSchema = 64 << 10
	// maxDepth is how deep a value in a list of tools is nested. The parser of the Python client accepts about 200 levels.
	maxDepth = 100
	// maxProperty is the most bytes of an argument's name. The interfaces of models refuse longer ones.
	maxProperty = 64
)

// InputSchemas returns the schema that clients see of a listing's arguments, and the one by which the arguments are checked. They differ
// because a client may refuse the whole list for one schema in a form that it does not know.
//
// The shown one has the type object, and at its root neither alternatives nor references, nor arguments with names that the interfaces
// of models refuse: what only they say is allowed in it. It allows any object if it would be longer than 64 KiB or nested deeper than 100 levels. If the listing has no
// JSON Schema of an object, both allow any object.
func (l *Listing) InputSchemas() (shown, checked json.RawMessage) {
	compiled := jsonschema.CompileForeign(l.InputSchema)
	if compiled == nil {
		return json.RawMessage(anyArguments), json.RawMessage(anyArguments)
	}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(compiled.Source(), &fields) != nil || fields == nil || fields["type"] != nil && !compiled.IsObject() {
		return json.RawMessage(anyArguments), json.RawMessage(anyArguments)
	}
	fields["type"] = json.RawMessage(`"object"`)
	delete(fields, "$schema")
	for keyword, value := range fields { // a keyword without a value has no effect
		if string(value) == "null" {
			delete(fields, keyword)
		}
	}
	checked, err := rawjson.Marshal(fields)
	if err != nil {
		return json.RawMessage(anyArguments), json.RawMessage(anyArguments)
	}
	for _, keyword := range []string{"oneOf", "anyOf", "allOf", "not", "if", "then", "else", "$ref", "$dynamicRef"} {
		if fields[keyword] != nil {
			delete(fields, keyword)
			fields["additionalProperties"] = json.RawMessage("true")
			delete(fields, "unevaluatedProperties")
		}
	}
	if !showProperties(fields) {
		return json.RawMessage(anyArguments), checked
	}
	shown, err = rawjson.Marshal(fields)
	if err == nil {
		shown = portable(Plain(shown))
	}
	if err != nil || shown == nil || len(shown) > maxSchema {
		return json.RawMessage(anyArguments), checked
	}
	return shown, checked
}

// Plain returns a JSON value as the parsers of all clients can read it: without escapes of half a character. It returns nil for a value
// that is nested deeper than they accept.
func Plain(value json.RawMessage) json.RawMessage {
	depth, inText, escaped, surrogates := 0, false, false, false
	for _, c := range value {
		switch {
		case escaped:
			escaped = false
			surrogates = surrogates || c == 'u'
		case inText:
			escaped, inText = c == '\\', c != '"'
		case c == '"':
			inText = true
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return nil
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	if !surrogates {
		return value
	}
	var decoded any
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	if d.Decode(&decoded) != nil {
		return nil
	}
	plain, err := rawjson.Marshal(decoded)
	if err != nil {
		return nil
	}
	return plain
}

// showProperties gives the properties of a schema the forms that clients know. It reports whether that is possible.
func showProperties(fields map[string]json.RawMessage) bool {
	var required []string
	if json.Unmarshal(fields["required"], &required) != nil {
		delete(fields, "required")
	}
	if fields["properties"] == nil {
		return true
	}
	properties := map[string]json.RawMessage{}
	if json.Unmarshal(fields["properties"], &properties) != nil {
		return false
	}
	for name, property := range properties {
		if name == "" || len(name) > maxProperty || strings.ContainsFunc(name, isRefused) {
			delete(properties, name)
			withoutRequired(fields, name)
			fields["additionalProperties"] = json.RawMessage("true")
			continue
		}
		properties[name] = portable(property)
	}
	all, err := rawjson.Marshal(properties)
	fields["properties"] = all
	return err == nil
}

// withoutRequired removes a name from those that a schema requires.
func withoutRequired(fields map[string]json.RawMessage, name string) {
	var required []string
	if json.Unmarshal(fields["required"], &required) != nil {
		return
	}
	left := slices.DeleteFunc(required, func(other string) bool { return other == name })
	if fields["required"], _ = rawjson.Marshal(left); len(left) == 0 {
		delete(fields, "required")
	}
}

// isRefused reports whether the interfaces of models refuse a character in the name of an argument.
func isRefused(r rune) bool {
	return r != '_' && r != '.' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

// Outputs returns the schema of a listing's outputs: an object whose properties are the declared outputs with their descriptions. An
// output can have any type, and none is required, because clients refuse an answer that does not match. A workflow of a source has the
// output result. Outputs returns nil if the listing declares no outputs.
func (l *Listing) Outputs() json.RawMessage {
	if l.Source != "" {
		return json.RawMessage(`{"type":"object","properties":{"result":{"description":"what the workflow returned"}}}`)
	}
	type property struct {
		Description string `json:"description,omitempty"`
	}
	var declared struct {
		Properties map[string]property `json:"properties"`
	}
	if json.Unmarshal(l.OutputSchema, &declared) != nil || len(declared.Properties) == 0 {
		return nil
	}
	schema, err := rawjson.Marshal(struct {
		Type       string              `json:"type"`
		Properties map[string]property `json:"properties"`
	}{"object", declared.Properties})
	if err != nil || len(schema) > maxSchema {
		return nil
	}
	return schema
}
