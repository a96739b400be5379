package mcpclient

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// NodeType returns the node type of a tool. Its parameters are the properties of the tool's input schema, in the schema's
// order. Its outputs are `result`, `error` and the top-level properties of the output schema. The type's name is made of
// the cleaned names of the server and the tool; their own names are kept for calls.
func NodeType(server string, t Tool) nodetype.Type {
	typ := nodetype.Type{
		Name: ToolNames(server, []string{t.Name}, nil)[t.Name], Description: strings.TrimSpace(t.Description),
		Actions: []string{"default", "error"}, ExtraOutputs: true,
		Outputs: []nodetype.Output{
			{Name: "result", Type: "any", Description: "the whole result of the tool"},
			{Name: "error", Type: "str", Description: "why it failed, or null"},
		},
		MCP: &nodetype.MCP{
			Server: server, Tool: t.Name, Title: t.Title, OriginalSchema: t.InputSchema, OutputSchema: t.OutputSchema, Annotations: t.Annotations,
			More: t.More,
		},
	}
	if typ.Description == "" {
		typ.Description = t.Title
	}
	if typ.Description == "" {
		typ.Description = "MCP tool " + t.Name + " of " + server
	}
	required := map[string]bool{}
	schema := gjson.ParseBytes(t.InputSchema)
	for _, name := range schema.Get("required").Array() {
		required[name.Str] = true
	}
	schema.Get("properties").ForEach(func(name, property gjson.Result) bool {
		typ.Params = append(typ.Params, nodetype.Param{
			Name: name.Str, Type: schemaType(property), Description: property.Get("description").Str, Required: required[name.Str],
			Default: rawValue(property, "default"), Enum: rawValue(property, "enum"),
		})
		return true
	})
	if value, ok := wrapped(t.OutputSchema); ok {
		typ.Outputs[0].Type = schemaType(resolve(gjson.ParseBytes(t.OutputSchema), value))
		return typ
	}
	if t.OutputSchema != nil { // then the result is structured content, which is an object
		typ.Outputs[0].Type = "dict"
	}
	gjson.GetBytes(t.OutputSchema, "properties").ForEach(func(name, property gjson.Result) bool {
		if _, taken := typ.Output(name.Str); !taken {
			typ.Outputs = append(typ.Outputs, nodetype.Output{Name: name.Str, Type: schemaType(property), Description: property.Get("description").Str})
		}
		return true
	})
	return typ
}

// schemaType returns the registry's name for the type of a JSON Schema, or any unless the schema has exactly one type.
func schemaType(schema gjson.Result) string {
	names := map[string]string{
		"string": "str", "number": "float", "integer": "int", "boolean": "bool", "array": "list", "object": "dict",
	}
	if word, ok := names[schema.Get("type").Str]; ok {
		return word
	}
	return "any"
}

func rawValue(schema gjson.Result, key string) json.RawMessage {
	if v := schema.Get(key); v.Exists() {
		return json.RawMessage(v.Raw)
	}
	return nil
}
