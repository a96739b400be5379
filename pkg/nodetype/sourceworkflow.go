package nodetype

import "encoding/json"

// SourceWorkflowName is the name of the node type that executes a workflow of a source.
const SourceWorkflowName = "source-workflow"

// SourceWorkflow is the node that executes a workflow of a source, which serve.json names. The run of such a workflow has one of it. The
// program pflow-node-source-workflow runs it.
type SourceWorkflow struct {
	Source    string          `json:"source" required:"" help:"the name of the source in serve.json"`
	ID        string          `json:"id" required:"" help:"the id of the workflow in the source"`
	Arguments json.RawMessage `json:"arguments" default:"{}" help:"the arguments of the workflow, an object"`
}

// SourceWorkflowOutputs are the outputs of a node that executes a workflow of a source.
type SourceWorkflowOutputs struct {
	Result      json.RawMessage `json:"result" help:"the result of the workflow"`
	ExecutionID string          `json:"execution_id,omitempty" help:"the id that the source has given the execution; absent if it gave none"`
	Error       string          `json:"error,omitempty" help:"why the node failed; absent if it did not"`
}

func describeSourceWorkflow() Type {
	t := describe(SourceWorkflowName, "Execute a workflow of a source", SourceWorkflow{}, SourceWorkflowOutputs{})
	t.Program = ProgramPrefix + t.Name
	return t
}
