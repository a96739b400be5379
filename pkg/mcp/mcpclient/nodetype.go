package mcpclient

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/toolargs"
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
	for _, name := range toolargs.Required(schema) {
		required[name] = true
	}
	members(schema.Get("properties"), func(name, property gjson.Result) bool {
		typ.Params = append(typ.Params, nodetype.Param{
			Name: name.Str, Type: nodetype.SchemaType(property), Description: property.Get("description").Str, Required: required[name.Str],
			Default: rawValue(property, "default"), Enum: rawValue(property, "enum"),
		})
		return true
	})
	if value, ok := nodetype.WrappedValue(t.OutputSchema); ok {
		typ.Outputs[0].Type = nodetype.SchemaType(value)
		return typ
	}
	if t.OutputSchema != nil { // then the result is structured content, which is an object
		typ.Outputs[0].Type = "dict"
	}
	members(gjson.GetBytes(t.OutputSchema, "properties"), func(name, property gjson.Result) bool {
		if _, taken := typ.Output(name.Str); !taken {
			typ.Outputs = append(typ.Outputs, nodetype.Output{Name: name.Str, Type: partType(typ.MCP, name.Str), Description: property.Get("description").Str})
		}
		return true
	})
	return typ
}

// members calls each for the members of an object, and never for another value.
func members(object gjson.Result, each func(name, value gjson.Result) bool) {
	if object.IsObject() {
		object.ForEach(each)
	}
}

func rawValue(schema gjson.Result, key string) json.RawMessage {
	if v := schema.Get(key); v.Exists() {
		return json.RawMessage(v.Raw)
	}
	return nil
}

// partType returns the type of an output that is a field of a tool's result.
func partType(tool *nodetype.MCP, field string) string {
	part, _ := tool.Part(field)
	return part.Type()
}
