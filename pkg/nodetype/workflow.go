package nodetype

import "encoding/json"

// Workflow is the workflow node, which runs another workflow. The engine resolves and runs it.
type Workflow struct {
	Workflow      json.RawMessage            `json:"workflow" help:"the workflow: the name of a saved workflow or a draft, the path of a file, relative to that of this workflow, or the workflow itself"`
	Inputs        map[string]json.RawMessage `json:"inputs" help:"the values of the workflow's inputs, by name"`
	WorkflowName  string                     `json:"workflow_name" help:"alias of workflow, for a name"`
	WorkflowRef   string                     `json:"workflow_ref" help:"alias of workflow, for a path"`
	WorkflowIR    map[string]json.RawMessage `json:"workflow_ir" help:"alias of workflow, for the workflow itself"`
	ParamMapping  map[string]json.RawMessage `json:"param_mapping" help:"alias of inputs"`
	OutputMapping map[string]json.RawMessage `json:"output_mapping" help:"new names for outputs: from an output of the workflow to an output of the node"`
}

func describeWorkflow() Type {
	t := describe("workflow", "Run another workflow; its declared outputs are the node's", Workflow{}, struct{}{})
	t.ExtraOutputs = true
	return t
}
