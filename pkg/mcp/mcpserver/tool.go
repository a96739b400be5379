package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/toolargs"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// Tool is one tool. Both schemas are JSON Schema documents and are sent as they are. The type of InputSchema must be
// "object"; if it has "additionalProperties":false, an argument that it does not name is refused. OutputSchema may be nil.
type Tool struct {
	Name, Title, Description  string
	InputSchema, OutputSchema json.RawMessage
	// CheckedSchema is the schema by which arguments are checked, if that is not InputSchema.
	CheckedSchema json.RawMessage
	// The hints that a client goes by before it calls; all four are always sent.
	ReadOnly, Destructive, Idempotent, OpenWorld bool
	// Meta is sent as the tool's _meta; nil omits it. Its keys have a prefix, such as "anthropic/alwaysLoad".
	Meta map[string]any
	// SkipValidation leaves the check of the arguments to Call, which receives them as they came: they can be nil, null or a
	// value that is not an object.
	SkipValidation bool
	// Call answers one call, whose arguments match the schema unless SkipValidation is set. Its context ends when the
	// client cancels the call, when its session ends and when the server is stopped; WhyEnded returns which.
	Call func(ctx context.Context, call *Call) *Result
}

// entry is a tool with the checks of its arguments and of its failures.
type entry struct {
	Tool
	arguments *toolargs.Checker
	output    func() (*jsonschema.Schema, *fault.Fault) // nil without an OutputSchema
}

// allows reports whether structured content matches the tool's output schema, if it has one.
func (e *entry) allows(structured json.RawMessage) bool {
	if e.output == nil || structured == nil {
		return true
	}
	schema, f := e.output()
	return f == nil && schema.Fits(structured)
}

// checked returns the arguments of a call as its handler receives them, or what is wrong with them.
func (e *entry) checked(arguments json.RawMessage) (json.RawMessage, *fault.Fault) {
	if e.SkipValidation {
		return arguments, nil
	}
	return e.arguments.Check(arguments)
}

func newEntry(tool Tool) *entry {
	checked := tool.InputSchema
	if tool.CheckedSchema != nil {
		checked = tool.CheckedSchema
	}
	e := &entry{Tool: tool, arguments: toolargs.NewChecker(tool.Name, checked)}
	if tool.OutputSchema != nil {
		e.output = jsonschema.Lazy(tool.OutputSchema)
	}
	return e
}

// listed is the tool as tools/list shows it.
func (t *Tool) listed() *mcp.Tool {
	listed := &mcp.Tool{
		Meta: t.Meta, Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema,
		Annotations: &mcp.ToolAnnotations{
			Title: t.Title, ReadOnlyHint: t.ReadOnly, DestructiveHint: &t.Destructive, IdempotentHint: t.Idempotent, OpenWorldHint: &t.OpenWorld,
		},
	}
	if t.OutputSchema != nil {
		listed.OutputSchema = t.OutputSchema
	}
	return listed
}
