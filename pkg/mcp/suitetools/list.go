package suitetools

import (
	"context"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// list is the tool list_library.
func (f *Front) list() mcpserver.Tool {
	return mcpserver.Tool{
		Name: "list_library", Title: "List saved workflows",
		Description: "List the saved workflows with their descriptions.",
		InputSchema: schema(`{"type":"object","properties":{"pattern":{"type":"string","description":"words that the name or the description must contain, or a pattern with * for the name"}},"additionalProperties":false}`),
		OutputSchema: outputSchema(`"workflows":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"description":{"type":"string"},` +
			`"saved":{"type":"boolean"},"error":{"type":"object"}}}}`),
		ReadOnly: true, Idempotent: true,
		Call: f.callList,
	}
}

type listArguments struct {
	Pattern string `json:"pattern"`
}

// callList answers list_library with an array as text. The structured content is an object with the array, because revisions
// before 2026-07-28 allow only objects there.
func (f *Front) callList(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
	a, refused := decode[listArguments](call)
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
