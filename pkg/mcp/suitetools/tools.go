package suitetools

import (
	"context"
	"encoding/json"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// Front makes the tools and resources of a suite.
type Front struct{ Suite *Suite }

// Tools returns the core tools.
func (f *Front) Tools() []mcpserver.Tool {
	return []mcpserver.Tool{
		{
			Name: "browse_components", Title: "Browse building blocks",
			Description: "Find node types (the building blocks of workflows) and workflows by words. Every node type is listed with its parameters and outputs. " +
				"Use it before writing a workflow; without a query it lists everything.",
			InputSchema: schema(`{"type":"object","properties":{` +
				`"query":{"type":"string","description":"words to look for, such as \"http\" or \"read file\""},` +
				`"include_workflows":{"type":"boolean","default":true,"description":"also search the saved workflows and drafts"}},"additionalProperties":false}`),
			ReadOnly: true, Idempotent: true,
			Call: f.document(browse),
		},
		{
			Name: "list_library", Title: "List saved workflows",
			Description: "List the saved workflows with their descriptions.",
			InputSchema: schema(`{"type":"object","properties":{"pattern":{"type":"string","description":"words that the name or the description must contain, or a pattern with * for the name"}},"additionalProperties":false}`),
			ReadOnly:    true, Idempotent: true,
			Call: f.list,
		},
		{
			Name: "describe_workflow", Title: "Describe a workflow",
			Description: "Describe a workflow: its inputs and outputs, template variables, nodes, and the results of its runs.",
			InputSchema: schema(`{"type":"object","properties":{"name":{"type":"string","description":"the name of a saved workflow or a draft"}},"required":["name"],"additionalProperties":false}`),
			ReadOnly:    true, Idempotent: true,
			Call: f.document(describe),
		},
		{
			Name: "execute", Title: "Run a workflow",
			Description: "Run a workflow by name: the saved one, or else the draft. Returns its outputs. After a failure the error names the node " +
				"that failed and what to do. Then correct the draft and call execute again with resume set to checkpoint.run_id: finished nodes do not run again.",
			InputSchema: schema(`{"type":"object","properties":{` +
				`"name":{"type":"string","description":"the name of a saved workflow or a draft"},` +
				`"inputs":{"type":"object","description":"values for the workflow's inputs, by name"},` +
				`"resume":{"type":"string","pattern":"^(last|r[0-9a-z]*)$","description":"the run_id of an earlier run to go on from, or \"last\""},` +
				`"max_output_chars":{"type":"integer","minimum":0,"default":2000,"description":"longer texts are replaced by a link to read them; 0 keeps all texts"}},"required":["name"],"additionalProperties":false}`),
			Destructive: true, OpenWorld: true,
			Call: f.execute,
		},
		{
			Name: "save_to_library", Title: "Save a draft",
			Description: "Move a draft into the library under its final name. A name that is in use is an error.",
			InputSchema: schema(`{"type":"object","properties":{` +
				`"draft_name":{"type":"string","description":"the draft's name"},` +
				`"final_name":{"type":"string","description":"the name to save it under: lower-case words joined by hyphens"},` +
				`"description":{"type":"string","description":"what the workflow is for, in a sentence"}},"required":["draft_name","final_name","description"],"additionalProperties":false}`),
			Call: f.document(save),
		},
	}
}

func schema(text string) json.RawMessage { return json.RawMessage(text) }

// arguments are the arguments of all tools. They have been checked against the schema of the tool that is called.
type arguments struct {
	Query            string          `json:"query"`
	IncludeWorkflows *bool           `json:"include_workflows"`
	Pattern          string          `json:"pattern"`
	Name             string          `json:"name"`
	Inputs           json.RawMessage `json:"inputs"`
	Resume           string          `json:"resume"`
	MaxOutputChars   *int            `json:"max_output_chars"`
	DraftName        string          `json:"draft_name"`
	FinalName        string          `json:"final_name"`
	Description      string          `json:"description"`
}

// Names come after --, so that they are not parsed as flags.

func browse(a arguments) command {
	args := []string{"search", "--format", "json"}
	if a.IncludeWorkflows != nil && !*a.IncludeWorkflows {
		args = append(args, "--no-workflows")
	}
	if a.Query != "" {
		args = append(args, "--", a.Query)
	}
	return command{program: "pflow-lib", args: args}
}

func describe(a arguments) command {
	return command{program: "pflow-lib", args: []string{"describe", "--format", "json", "--", a.Name}}
}

func save(a arguments) command {
	return command{program: "pflow-lib", args: []string{"save", "--format", "json", "--description=" + a.Description, "--", a.DraftName, a.FinalName}}
}

// document returns a tool for a command that prints one JSON document.
func (f *Front) document(of func(arguments) command) func(context.Context, *mcpserver.Call) *mcpserver.Result {
	return func(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
		a, refused := decode(call)
		if refused != nil {
			return refused
		}
		return f.answer(ctx, of(a))
	}
}

// answer runs a command and returns its document as the result of a tool. The document of a failed command is its fault.
func (f *Front) answer(ctx context.Context, c command) *mcpserver.Result {
	c.args = append([]string{"--quiet"}, c.args...)
	o, err := f.Suite.run(ctx, c)
	if ctx.Err() != nil && err != nil {
		return failure(fault.New(fault.Unavailable, "The call was cancelled before it was answered"))
	}
	if err != nil {
		return failure(fault.From(err))
	}
	doc, bad := o.document(c.program)
	if bad != nil {
		return failure(bad)
	}
	return &mcpserver.Result{Structured: doc, IsError: o.exit != 0}
}

// list answers list_library with an array as text. The structured content is an object with the array, because revisions
// before 2026-07-28 allow only objects there.
func (f *Front) list(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
	a, refused := decode(call)
	if refused != nil {
		return refused
	}
	args := []string{"list", "--format", "json"}
	if a.Pattern != "" {
		args = append(args, "--", a.Pattern)
	}
	r := f.answer(ctx, command{program: "pflow-lib", args: args})
	if !r.IsError {
		r.Text = string(r.Structured)
		r.Structured = append(append([]byte(`{"workflows":`), r.Structured...), '}')
	}
	return r
}

func decode(call *mcpserver.Call) (arguments, *mcpserver.Result) {
	var a arguments
	if err := json.Unmarshal(call.Arguments, &a); err != nil {
		return a, failure(fault.New(fault.Usage, "The arguments do not match the tool's schema: %v", err))
	}
	return a, nil
}

// failure returns a failed result with a fault, in the form that the programs print.
func failure(f *fault.Fault) *mcpserver.Result {
	doc, err := json.Marshal(struct {
		Success bool         `json:"success"`
		Error   *fault.Fault `json:"error"`
	}{Error: f})
	if err != nil {
		doc = []byte(`{"success":false,"error":{"type":"internal_error","message":"the error cannot be shown"}}`)
	}
	return &mcpserver.Result{Structured: doc, IsError: true}
}
