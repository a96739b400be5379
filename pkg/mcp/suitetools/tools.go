package suitetools

import (
	"context"
	"encoding/json"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// Front is the tools over a suite.
type Front struct{ Suite *Suite }

// Tools is the core toolset: exactly these five.
func (f *Front) Tools() []mcpserver.Tool {
	return []mcpserver.Tool{
		{
			Name: "browse_components", Title: "Browse building blocks",
			Description: "Find node types (the building blocks of workflows) and workflows by words. Every node type comes with its parameters and outputs. " +
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
			InputSchema: schema(`{"type":"object","properties":{"pattern":{"type":"string","description":"words that must stand in the name or description, or a pattern with * for the name"}},"additionalProperties":false}`),
			ReadOnly:    true, Idempotent: true,
			Call: f.list,
		},
		{
			Name: "describe_workflow", Title: "Describe a workflow",
			Description: "Tell what a workflow takes and gives: declared inputs and outputs, template variables, nodes, and how its runs went.",
			InputSchema: schema(`{"type":"object","properties":{"name":{"type":"string","description":"the name of a saved workflow or a draft"}},"required":["name"],"additionalProperties":false}`),
			ReadOnly:    true, Idempotent: true,
			Call: f.document(describe),
		},
		{
			Name: "execute", Title: "Run a workflow",
			Description: "Run a workflow by name, a saved one first, else a draft. Answers its outputs; after a failure the error says " +
				"which node failed and what to do, and checkpoint.run_id is how to go on: correct the draft and call execute again with resume set to it, and finished nodes do not run again.",
			InputSchema: schema(`{"type":"object","properties":{` +
				`"name":{"type":"string","description":"the name of a saved workflow or a draft"},` +
				`"inputs":{"type":"object","description":"values for the workflow's inputs, by name"},` +
				`"resume":{"type":"string","pattern":"^(last|r[0-9a-z]*)$","description":"the run_id of an earlier run to go on from, or \"last\""},` +
				`"max_output_chars":{"type":"integer","minimum":0,"default":2000,"description":"longer texts are left out of the answer, with a link to read them; 0 leaves out none"}},"required":["name"],"additionalProperties":false}`),
			Destructive: true, OpenWorld: true,
			Call: f.execute,
		},
		{
			Name: "save_to_library", Title: "Save a draft",
			Description: "Move a draft into the library under its final name. A name that is taken is refused.",
			InputSchema: schema(`{"type":"object","properties":{` +
				`"draft_name":{"type":"string","description":"the draft's name"},` +
				`"final_name":{"type":"string","description":"the name to save it under: lower-case words joined by hyphens"},` +
				`"description":{"type":"string","description":"what the workflow is for, in a sentence"}},"required":["draft_name","final_name","description"],"additionalProperties":false}`),
			Call: f.document(save),
		},
	}
}

func schema(text string) json.RawMessage { return json.RawMessage(text) }

// arguments are all that the tools take; the schemas have been checked.
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

// Names stand behind --, so that none is taken for a flag.

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

// document makes a tool of a command whose answer is one JSON document.
func (f *Front) document(started func(arguments) command) func(context.Context, *mcpserver.Call) *mcpserver.Result {
	return func(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
		a, refused := decode(call)
		if refused != nil {
			return refused
		}
		return f.answer(ctx, started(a))
	}
}

// answer runs a command and gives its document; one that failed gives the fault, which is the document too.
func (f *Front) answer(ctx context.Context, c command) *mcpserver.Result {
	c.args = append([]string{"--quiet"}, c.args...)
	a, err := f.Suite.run(ctx, c)
	if ctx.Err() != nil && err != nil {
		return failure(fault.New(fault.Unavailable, "The call was cancelled before it was answered"))
	}
	if err != nil {
		return failure(fault.From(err))
	}
	doc, bad := a.document(c.program)
	if bad != nil {
		return failure(bad)
	}
	return &mcpserver.Result{Structured: doc, IsError: a.exit != 0}
}

// list answers list_library: the array as text, and as structured content the array in an object, which is all that
// revisions before 2026-07-28 allow there.
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
		return a, failure(fault.New(fault.Usage, "The arguments do not fit the tool's schema: %v", err))
	}
	return a, nil
}

// failure is a result that says what went wrong, in the form that the programs have for it.
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
