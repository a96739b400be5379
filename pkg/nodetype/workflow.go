package nodetype

import "encoding/json"

// Workflow is the workflow node: it runs another workflow. Whoever executes runs resolves and runs it.
type Workflow struct {
	Workflow      json.RawMessage            `json:"workflow" help:"which one: the name of a saved workflow or a draft, the path of a file, or a workflow itself"`
	Inputs        map[string]json.RawMessage `json:"inputs" help:"the values of its inputs, by name"`
	WorkflowName  string                     `json:"workflow_name" help:"another word for workflow: a name"`
	WorkflowRef   string                     `json:"workflow_ref" help:"another word for workflow: a path"`
	WorkflowIR    map[string]json.RawMessage `json:"workflow_ir" help:"another word for workflow: the workflow itself"`
	ParamMapping  map[string]json.RawMessage `json:"param_mapping" help:"another word for inputs"`
	OutputMapping map[string]json.RawMessage `json:"output_mapping" help:"other names for its outputs: output of the workflow to output of the node"`
}

func describeWorkflow() Type {
	t := describe("workflow", "Run another workflow; its declared outputs are the node's", Workflow{}, struct{}{})
	t.ExtraOutputs = true
	return t
}
