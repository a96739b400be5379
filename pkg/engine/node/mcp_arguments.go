package node

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// toolSchemas caches the input schemas of MCP tools by their text: *jsonschema.Schema, nil if it cannot be used.
var toolSchemas sync.Map

// toolSchema returns the input schema of an MCP tool. It is nil if the type is no tool, or if the schema cannot be used.
func toolSchema(kind nodetype.Type) *jsonschema.Schema {
	if kind.MCP == nil || kind.MCP.OriginalSchema == nil {
		return nil
	}
	source := string(kind.MCP.OriginalSchema)
	cached, ok := toolSchemas.Load(source)
	if !ok {
		cached, _ = toolSchemas.LoadOrStore(source, jsonschema.CompileForeign(kind.MCP.OriginalSchema))
	}
	schema, _ := cached.(*jsonschema.Schema)
	return schema
}

// dropNulls removes the parameters of a tool that are null although their schema does not allow it: they count as not given.
func dropNulls(kind nodetype.Type, params map[string]json.RawMessage) {
	for name, value := range params {
		if string(bytes.TrimSpace(value)) != "null" {
			continue
		}
		if _, declared := kind.Param(name); declared && !toolSchema(kind).AllowsNull(name) {
			delete(params, name)
		}
	}
}

// fitArguments checks the arguments of a tool, with all templates resolved, by the tool's input schema.
func fitArguments(n *workflow.Node, kind nodetype.Type, params map[string]json.RawMessage) *fault.Fault {
	v := toolSchema(kind).Check(marshalParams(params))
	if v == nil {
		return nil
	}
	if v.Path == "" {
		f := fault.New(fault.Execution, "The parameters of node %q must %s", n.ID, v.Must)
		f.Node, f.Path = n.ID, "params"
		return suggestHint(f, v)
	}
	name, _, _ := strings.Cut(v.Path, ".")
	name, _, _ = strings.Cut(name, "[")
	f := fault.New(fault.Execution, "Parameter %s of node %q%s must %s", shorten(v.Path), n.ID, origin(n, name), v.Must)
	f.Node, f.Path = n.ID, rawjson.AppendPath("params", v.Path)
	return suggestHint(f, v)
}

func suggestHint(f *fault.Fault, v *jsonschema.Violation) *fault.Fault {
	if v.Hint != "" {
		f.Suggest("%s", v.Hint)
	}
	return f.Suggest("Give a value that the tool takes, or change the node that it comes from")
}
