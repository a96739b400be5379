package workflow

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// SubType is the node type that runs another workflow.
const SubType = "workflow"

// MaxDepth is how deep workflows may run in one another.
const MaxDepth = 10

// Sub is the workflow that a node of type workflow runs: a name or a path, which may be a template, or one that stands
// there itself.
type Sub struct {
	Ref    string
	Inline json.RawMessage
	// Param is the parameter that says so.
	Param string
}

// SubParams are the parameters that name a sub-workflow: the first, and upstream pflow's words for it.
var SubParams = []string{"workflow", "workflow_name", "workflow_ref", "workflow_ir"}

// SubOf gives the workflow that a node's parameters name; ok is false when they name none.
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

// SubInputs are the values that a node's parameters give to its sub-workflow, a JSON object; nil when they give none.
func SubInputs(params json.RawMessage) json.RawMessage {
	for _, name := range []string{"inputs", "param_mapping"} {
		if v := gjson.GetBytes(params, name); v.IsObject() {
			return json.RawMessage(v.Raw)
		}
	}
	return nil
}

// SubOutputs gives a sub-workflow's outputs the names that the node's output_mapping gives them; others keep theirs.
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
