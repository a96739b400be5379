package suitetools

import "github.com/pflow-suite/pflow/pkg/mcp/mcpserver"

// describe is the tool describe_workflow.
func (f *Front) describe() mcpserver.Tool {
	return mcpserver.Tool{
		Name: "describe_workflow", Title: "Describe a workflow",
		Description: "Describe a workflow: its inputs and outputs, template variables, nodes, and the results of its runs.",
		InputSchema: schema(`{"type":"object","properties":{"name":{"type":"string","description":"the name of a saved workflow or a draft"}},"required":["name"],"additionalProperties":false}`),
		OutputSchema: outputSchema(`"name":{"type":"string"},"type":{"type":"string"},"description":{"type":"string"},"saved":{"type":"boolean"},` +
			`"inputs":{"type":["object","array"],"description":"of a workflow by name, of a node type a list"},"outputs":{"type":["object","array"]},` +
			`"template_inputs":{"type":"array","items":{"type":"string"}},"nodes":{"type":"array","items":{"type":"object"}},"statistics":{"type":"object"}`),
		ReadOnly: true, Idempotent: true,
		Call: document[describeArguments](f),
	}
}

type describeArguments struct {
	Name string `json:"name"`
}

func (a describeArguments) command() command {
	return command{program: "pflow-lib", args: []string{"describe", "--format", "json", "--", a.Name}}
}
