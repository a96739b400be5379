package suitetools

import "github.com/pflow-suite/pflow/pkg/mcp/mcpserver"

// browse is the tool browse_components.
func (f *Front) browse() mcpserver.Tool {
	return mcpserver.Tool{
		Name: "browse_components", Title: "Browse building blocks",
		Description: "Find node types (the building blocks of workflows) and workflows by words. Every node type is listed with its parameters and outputs. " +
			"Use it before writing a workflow; without a query it lists everything.",
		InputSchema: schema(`{"type":"object","properties":{` +
			`"query":{"type":"string","description":"words to look for, such as \"http\" or \"read file\""},` +
			`"include_workflows":{"type":"boolean","default":true,"description":"also search the saved workflows and drafts"}},"additionalProperties":false}`),
		OutputSchema: outputSchema(`"nodes":{"type":"array","items":{"type":"object","properties":{"type":{"type":"string"},"description":{"type":"string"},` +
			`"inputs":{"type":"array","items":{"type":"object"}},"outputs":{"type":"array","items":{"type":"object"}},"actions":{"type":"array","items":{"type":"string"}}},"required":["type"]}},` +
			`"workflows":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"description":{"type":"string"},"saved":{"type":"boolean"}},"required":["name"]}},` +
			`"suggestions":{"type":"array","items":{"type":"string"}}`),
		ReadOnly: true, Idempotent: true, Meta: alwaysLoad(),
		Call: document[browseArguments](f),
	}
}

type browseArguments struct {
	Query            string `json:"query"`
	IncludeWorkflows *bool  `json:"include_workflows"`
}

func (a browseArguments) command() command {
	args := []string{"search", "--format", "json"}
	if a.IncludeWorkflows != nil && !*a.IncludeWorkflows {
		args = append(args, "--no-workflows")
	}
	if a.Query != "" {
		args = append(args, "--", a.Query)
	}
	return command{program: "pflow-lib", args: args}
}
