package workflow

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// SubType is the node type that runs another workflow.
const SubType = "workflow"

// MaxDepth bounds how deep workflows may run in each other.
const MaxDepth = 10

// Sub is the workflow that a node of type workflow runs: Ref is a name or a path, which may contain a template, and Inline is a
// workflow object.
type Sub struct {
	Ref    string
	Inline json.RawMessage
	// Param is the name of the parameter that holds the workflow.
	Param string
}

// SubParams lists the parameters that can hold a sub-workflow: workflow, and its names in pflow's Python version.
var SubParams = []string{"workflow", "workflow_name", "workflow_ref", "workflow_ir"}

// SubOf returns the workflow in a node's parameters; ok is false if they hold no workflow.
func SubOf(params json.RawMessage) (s Sub, ok bool) {
	for _, name := range SubParams {
		switch v := gjson.GetBytes(params, name); {
		case v.Type == gjson.String:
			return Sub{Ref: v.Str, Param: name}, v.Str != ""
		case v.IsObject():
			return Sub{Inline: json.RawMessage(v.Raw), Param: name}, true
		}
	}
	return Sub{}, false
}

// SubInputs returns the JSON object of the values that a node passes to its sub-workflow, or nil if it passes none.
func SubInputs(params json.RawMessage) json.RawMessage {
	for _, name := range []string{"inputs", "param_mapping"} {
		if v := gjson.GetBytes(params, name); v.IsObject() {
			return json.RawMessage(v.Raw)
		}
	}
	return nil
}

// SubOutputs renames a sub-workflow's outputs by the node's output_mapping. The other outputs keep their names.
func SubOutputs(params, outputs json.RawMessage) json.RawMessage {
	mapping := gjson.GetBytes(params, "output_mapping")
	if !mapping.IsObject() {
		return outputs
	}
	names := map[string]string{}
	mapping.ForEach(func(from, to gjson.Result) bool { names[from.Str] = to.Str; return true })
	out := []byte{'{'}
	gjson.ParseBytes(outputs).ForEach(func(key, value gjson.Result) bool {
		if len(out) > 1 {
			out = append(out, ',')
		}
		name := key.Str
		if to, ok := names[name]; ok && to != "" {
			name = to
		}
		out = append(append(rawjson.AppendQuoted(out, name), ':'), value.Raw...)
		return true
	})
	return append(out, '}')
}
