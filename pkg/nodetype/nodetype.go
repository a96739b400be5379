// Package nodetype describes node types: their parameters, outputs and actions. It holds data only. The implementations are in
// pkg/engine/node and pkg/nodes, so a program that only describes or checks node types does not link them.
package nodetype

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Type describes a node type.
type Type struct {
	Name        string
	Description string
	Params      []Param
	Outputs     []Output
	// Actions are the actions that a node of this type can end with, usually default and error.
	Actions []string
	// ExtraOutputs reports whether a node may have other outputs than Outputs. A reference to one cannot be checked before the run.
	ExtraOutputs bool
	// MCP is set for a tool of an MCP server.
	MCP *MCP
	// Unregistered reports whether the tool is not in the registry, only its server in the configuration: parameters and outputs
	// are unknown, and the tool's name in MCP may be in the spelling of node types.
	Unregistered bool
	// Program is set for a type that a program pflow-node-NAME runs: its path, or for a type of the suite its name.
	Program string
	// DependsOn is OnValues if what a node puts out depends on its parameters alone, so that an earlier result for the same parameters is as
	// good. Else it is OnWorld or empty: the node also reads or changes files, services or anything else.
	DependsOn string
}

// What the outputs of a node depend on.
const (
	OnValues = "values"
	OnWorld  = "world"
)

// IsOfValues reports whether the outputs of a node with the given parameters, as they are written, depend on them alone.
func (t *Type) IsOfValues(params json.RawMessage) bool {
	if t.DependsOn != OnValues {
		return false
	}
	for _, p := range t.Params {
		if p.DependsOn == OnWorld {
			if given := gjson.GetBytes(params, p.Name); given.Exists() && given.Type != gjson.Null && given.Raw != "[]" && given.Raw != `""` {
				return false
			}
		}
	}
	return true
}

// ProgramPrefix is the beginning of the names of programs that are node types.
const ProgramPrefix = "pflow-node-"

// AnyAction among a type's actions means that a node may end with any action.
const AnyAction = "*"

// Param is a parameter of a node type.
type Param struct {
	Name        string          `json:"name"`
	Type        string          `json:"type"`
	Description string          `json:"description,omitempty"`
	Required    bool            `json:"required"`
	Default     json.RawMessage `json:"default,omitempty"`
	Enum        json.RawMessage `json:"enum,omitempty"`
	// Input reports whether the workflow's input of the same name is used if the parameter is not given.
	Input bool `json:"-"`
	// DependsOn is OnWorld if a node of a type that depends on values depends on more when it has the parameter, such as the path of a file.
	DependsOn string `json:"depends_on,omitempty"`
}

// Allows reports whether Enum lists a value, in any spelling of it, or lists no values at all.
func (p *Param) Allows(value json.RawMessage) bool {
	if p.Enum == nil {
		return true
	}
	var allowed []json.RawMessage
	if json.Unmarshal(p.Enum, &allowed) != nil || len(allowed) == 0 {
		return true
	}
	want := string(rawjson.Compact(value))
	if slices.ContainsFunc(allowed, func(a json.RawMessage) bool { return string(rawjson.Compact(a)) == want }) {
		return true
	}
	return slices.ContainsFunc(allowed, func(a json.RawMessage) bool {
		var one, other any
		return json.Unmarshal(a, &one) == nil && json.Unmarshal(value, &other) == nil && reflect.DeepEqual(one, other)
	})
}

// Output is an output of a node type. Type is one of str, int, float, bool, list, dict and any.
type Output struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description,omitempty"`
}

// MCP names the tool of a node type: the server as in the configuration, and the tool as in MCP. It keeps the rest of the tool's
// definition as the server wrote it.
type MCP struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
	Title  string `json:"title,omitempty"`
	// OriginalSchema is the JSON Schema of the tool's arguments, and OutputSchema that of its structured result.
	OriginalSchema json.RawMessage `json:"original_schema,omitempty"`
	OutputSchema   json.RawMessage `json:"output_schema,omitempty"`
	Annotations    json.RawMessage `json:"annotations,omitempty"`
	// More is an object with what else the server says of the tool, such as icons and _meta.
	More json.RawMessage `json:"more,omitempty"`
	// Respelled reports whether Tool may be in the spelling of node types, not as the server spells it.
	Respelled bool `json:"-"`
}

// Param returns the named parameter, if the type has it.
func (t *Type) Param(name string) (Param, bool) {
	i := slices.IndexFunc(t.Params, func(p Param) bool { return p.Name == name })
	if i < 0 {
		return Param{}, false
	}
	return t.Params[i], true
}

// Output returns the named output, if the type has it.
func (t *Type) Output(name string) (Output, bool) {
	i := slices.IndexFunc(t.Outputs, func(o Output) bool { return o.Name == name })
	if i < 0 {
		return Output{}, false
	}
	return t.Outputs[i], true
}

// ParamNames returns the names of the parameters, in their order.
func (t *Type) ParamNames() []string {
	names := make([]string, len(t.Params))
	for i, p := range t.Params {
		names[i] = p.Name
	}
	return names
}

// MCPName returns the name of the node type for a server's tool: mcp-SERVER-TOOL. The tool's name is in lower case, and each
// run of characters outside [a-z0-9] is one hyphen.
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
