// Package nodetype is what a node type says of itself: parameters, outputs and actions. It is data only; what a type
// does is in pkg/engine/node, so that a program which merely describes or checks links no implementation.
package nodetype

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Type is a node type as the registry knows it.
type Type struct {
	Name        string
	Description string
	Params      []Param
	Outputs     []Output
	// Actions are the routes a node of this type can take besides error, default among them.
	Actions []string
	// ExtraOutputs says that outputs besides the named ones may appear, so a reference to one cannot be refused beforehand.
	ExtraOutputs bool
	// MCP is set for a tool of an MCP server.
	MCP *MCP
	// Unregistered says that nobody has described the tool: its server is configured, and the tool not registered. Its name
	// in MCP may be in the spelling of node types.
	Unregistered bool
	// Program is set for a type that a program of its own runs, pflow-node-NAME: its path, or for a type of the suite its
	// name.
	Program string
}

// ProgramPrefix is how the names of programs begin that are node types.
const ProgramPrefix = "pflow-node-"

// AnyAction among a type's actions says that its nodes choose their actions themselves.
const AnyAction = "*"

// Param is one parameter of a node type.
type Param struct {
	Name        string          `json:"name"`
	Type        string          `json:"type"`
	Description string          `json:"description,omitempty"`
	Required    bool            `json:"required"`
	Default     json.RawMessage `json:"default,omitempty"`
	Enum        json.RawMessage `json:"enum,omitempty"`
	// Input says that the workflow's input of the same name stands for the parameter when it is not given.
	Input bool `json:"-"`
}

// Allows says whether a value is one of those that the parameter's Enum lists, if it lists any.
func (p *Param) Allows(value json.RawMessage) bool {
	var allowed []json.RawMessage
	if json.Unmarshal(p.Enum, &allowed) != nil || len(allowed) == 0 {
		return true
	}
	want := string(rawjson.Compact(value))
	return slices.ContainsFunc(allowed, func(a json.RawMessage) bool { return string(rawjson.Compact(a)) == want })
}

// Output is one key a node of the type leaves behind. Type is one of str, int, float, bool, list, dict, any.
type Output struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description,omitempty"`
}

// MCP names the tool behind a node type: the server as it is configured and the tool as it is called on the wire.
type MCP struct {
	Server         string          `json:"server"`
	Tool           string          `json:"tool"`
	OriginalSchema json.RawMessage `json:"original_schema,omitempty"`
}

// Param finds a parameter by name.
func (t *Type) Param(name string) (Param, bool) {
	i := slices.IndexFunc(t.Params, func(p Param) bool { return p.Name == name })
	if i < 0 {
		return Param{}, false
	}
	return t.Params[i], true
}

// Output finds an output by name.
func (t *Type) Output(name string) (Output, bool) {
	i := slices.IndexFunc(t.Outputs, func(o Output) bool { return o.Name == name })
	if i < 0 {
		return Output{}, false
	}
	return t.Outputs[i], true
}

// ParamNames lists the parameters in the order in which they are described.
func (t *Type) ParamNames() []string {
	names := make([]string, len(t.Params))
	for i, p := range t.Params {
		names[i] = p.Name
	}
	return names
}

// MCPName is the node type of a server's tool: mcp-SERVER-TOOL, with each run of characters outside [a-z0-9] in the
// tool's name, lower-cased, made one hyphen.
func MCPName(server, tool string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(tool) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else if s := b.String(); s != "" && !strings.HasSuffix(s, "-") {
			b.WriteByte('-')
		}
	}
	return "mcp-" + server + "-" + strings.TrimSuffix(b.String(), "-")
}
