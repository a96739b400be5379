package nodetype

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// entry is a node type in registry.json and in the output of `pflow-lib search`. The files of upstream pflow have the same form.
type entry struct {
	ClassName string         `json:"class_name"`
	Module    string         `json:"module"`
	FilePath  string         `json:"file_path"`
	Interface entryInterface `json:"interface"`
}

type entryInterface struct {
	Description string      `json:"description"`
	Params      []entryItem `json:"params"`
	Outputs     []entryItem `json:"outputs"`
	// Open reports whether a node may have other outputs too. That is always so for a type without outputs.
	Open    bool     `json:"open,omitempty"`
	Actions []string `json:"actions"`
	// DependsOn is that of the type.
	DependsOn string `json:"depends_on,omitempty"`
	MCP       *MCP   `json:"mcp_metadata,omitempty"`
}

// MCPModule is the module of an entry that is a tool of an MCP server.
const MCPModule = "pflow.nodes.mcp.node"

// mcpClass is the class of such an entry.
const mcpClass = "MCPNode"

// ProgramModule is the beginning of the module of an entry that is run by a program.
const ProgramModule = "pflow.programs."

// entryItem is a parameter or an output. Its name is written as "name", and also read from "key", as upstream calls it.
type entryItem struct {
	Name        string          `json:"name"`
	Key         string          `json:"key,omitempty"`
	Type        string          `json:"type"`
	Description string          `json:"description,omitempty"`
	Required    *bool           `json:"required,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
	Enum        json.RawMessage `json:"enum,omitempty"`
	DependsOn   string          `json:"depends_on,omitempty"`
}

func (i entryItem) name() string {
	if i.Name != "" {
		return i.Name
	}
	return i.Key
}

// MarshalJSON returns the registry's entry, without the name, which is its key there. With an encoder that escapes HTML, as
// json.Marshal does, the entry is escaped too.
func (t Type) MarshalJSON() ([]byte, error) {
	e := entry{ClassName: "Node", Module: "pflow.nodes." + t.Name, FilePath: "virtual://builtin", Interface: entryInterface{
		Description: t.Description, Params: []entryItem{}, Outputs: []entryItem{}, Actions: t.Actions, MCP: t.MCP,
		Open: t.ExtraOutputs && t.MCP == nil && len(t.Outputs) > 0, DependsOn: t.DependsOn,
	}}
	if t.MCP != nil {
		e.ClassName, e.Module, e.FilePath = mcpClass, MCPModule, "virtual://mcp"
	}
	if strings.HasPrefix(t.Program, "/") {
		e.ClassName, e.Module, e.FilePath = "Program", ProgramModule+t.Name, t.Program
	}
	for _, p := range t.Params {
		e.Interface.Params = append(e.Interface.Params, entryItem{
			Name: p.Name, Type: p.Type, Description: p.Description, Required: &p.Required, Default: p.Default, Enum: p.Enum, DependsOn: p.DependsOn,
		})
	}
	for _, o := range t.Outputs {
		e.Interface.Outputs = append(e.Interface.Outputs, entryItem{Name: o.Name, Type: o.Type, Description: o.Description})
	}
	if e.Interface.Actions == nil {
		e.Interface.Actions = []string{"default", "error"}
	}
	return rawjson.Marshal(e)
}

// UnmarshalJSON reads an entry of the registry. It leaves the name unchanged. An entry of a tool may lack mcp_metadata: then its
// MCP has neither server nor tool, which only the name and the configured servers tell.
func (t *Type) UnmarshalJSON(b []byte) error {
	var e entry
	if err := json.Unmarshal(b, &e); err != nil {
		return err
	}
	*t = Type{Name: t.Name, Description: strings.TrimSpace(e.Interface.Description), Actions: e.Interface.Actions, MCP: e.Interface.MCP, DependsOn: e.Interface.DependsOn}
	if t.MCP == nil && (e.Module == MCPModule || e.ClassName == mcpClass) {
		t.MCP = &MCP{}
	}
	for _, p := range e.Interface.Params {
		t.Params = append(t.Params, Param{
			Name: p.name(), Type: p.Type, Description: p.Description, Required: p.Required != nil && *p.Required,
			Default: compact(p.Default), Enum: compact(p.Enum), // the file is indented
			DependsOn: p.DependsOn,
		})
	}
	for _, o := range e.Interface.Outputs {
		t.Outputs = append(t.Outputs, Output{Name: o.name(), Type: o.Type, Description: o.Description})
	}
	if t.MCP == nil && strings.HasPrefix(e.Module, ProgramModule) {
		t.Program = e.FilePath
	}
	t.ExtraOutputs = t.MCP != nil || len(t.Outputs) == 0 || e.Interface.Open // then only a run shows the outputs
	if t.MCP != nil && !slices.Contains(t.Actions, "error") {
		t.Actions = append(t.Actions, "error")
	}
	return nil
}

// compact returns a value without white space between its parts, and nil for nil.
func compact(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return nil
	}
	return rawjson.Compact(raw)
}
