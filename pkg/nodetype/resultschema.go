package nodetype

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// Part is the schema of a part of a tool's outputs.
type Part struct {
	whole, schema gjson.Result
}

// Part returns the schema of an output. It returns false if nothing is known of it.
func (m *MCP) Part(output string) (Part, bool) {
	if m == nil || m.OutputSchema == nil {
		return Part{}, false
	}
	whole := Part{gjson.ParseBytes(m.OutputSchema), gjson.ParseBytes(m.OutputSchema)}
	value, isWrapped := WrappedValue(m.OutputSchema)
	switch {
	case output == "error":
		return Part{}, false
	case output == wrapper && isWrapped:
		return whole.resolved(value)
	case output == wrapper:
		return whole, true
	case isWrapped: // its value is the result alone
		return Part{}, false
	}
	return whole.Key(output)
}

// Key returns the schema of a member of an object. It returns false if nothing is known of it.
func (p Part) Key(name string) (Part, bool) {
	return p.resolved(member(p.schema.Get("properties"), name))
}

// Item returns the schema of an item of a list. It returns false if nothing is known of it.
func (p Part) Item(index int) (Part, bool) {
	if first := p.schema.Get(fmt.Sprint("prefixItems.", index)); index >= 0 && first.Exists() {
		return p.resolved(first)
	}
	if p.schema.Get("prefixItems").Exists() && index < 0 {
		return Part{}, false
	}
	return p.resolved(p.schema.Get("items"))
}

func (p Part) resolved(schema gjson.Result) (Part, bool) {
	schema = resolve(p.whole, schema)
	return Part{p.whole, schema}, schema.IsObject()
}

// Type returns the type of the part in the words of node types, or any unless the schema has exactly one type.
func (p Part) Type() string { return SchemaType(p.schema) }

// Keys returns the names of an object's members. closed is true if it has no others. listed is true if the schema names members
// and says nothing of others, so that another name is probably wrong.
func (p Part) Keys() (names []string, closed, listed bool) {
	p.schema.Get("properties").ForEach(func(name, _ gjson.Result) bool {
		names = append(names, name.Str)
		return true
	})
	for _, more := range []string{"patternProperties", "allOf", "anyOf", "oneOf", "$ref", "if"} {
		if p.schema.Get(gjson.Escape(more)).Exists() {
			return names, false, false
		}
	}
	others := p.schema.Get("additionalProperties")
	return names, others.Type == gjson.False, len(names) > 0 && !others.Exists() && !p.schema.Get("unevaluatedProperties").Exists()
}

// SchemaType returns the word of node types for the type of a JSON Schema, or any unless the schema has exactly one type.
func SchemaType(schema gjson.Result) string {
	words := map[string]string{
		"string": "str", "number": "float", "integer": "int", "boolean": "bool", "array": "list", "object": "dict",
	}
	if word, ok := words[schema.Get("type").Str]; ok {
		return word
	}
	return "any"
}

// wrapper is the key of a wrapped value.
const wrapper = "result"

// WrappedValue returns the schema of the value that a tool's output schema wraps, and whether it wraps one: structured content is
// always an object, so the Python SDKs wrap any other value in {"result":VALUE}. An object is not wrapped, unless the schema has
// the mark of FastMCP: an author may have called the only field of a result "result".
func WrappedValue(outputSchema json.RawMessage) (value gjson.Result, ok bool) {
	schema := gjson.ParseBytes(outputSchema)
	properties := 0
	schema.Get("properties").ForEach(func(key, property gjson.Result) bool {
		if properties++; key.Str == wrapper {
			value = property
		}
		return true
	})
	value = resolve(schema, value)
	if properties != 1 || !value.Exists() {
		return value, false
	}
	return value, schema.Get("x-fastmcp-wrap-result").Bool() || value.Get("type").Str != "object"
}

// resolve follows a schema's reference into the definitions of the whole schema.
func resolve(whole, schema gjson.Result) gjson.Result {
	for range 10 { // they may lead in a circle
		name, ok := strings.CutPrefix(schema.Get("$ref").Str, "#/")
		group, name, within := strings.Cut(name, "/")
		if !ok || !within || strings.Contains(name, "/") {
			break
		}
		schema = member(member(whole, group), name)
	}
	return schema
}

// member returns a member of an object by its name, which is not a path.
func member(object gjson.Result, name string) (found gjson.Result) {
	object.ForEach(func(key, value gjson.Result) bool {
		if key.Str == name {
			found = value
		}
		return key.Str != name
	})
	return found
}
