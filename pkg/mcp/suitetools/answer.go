package suitetools

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// commander is a set of arguments that is one command of the suite.
type commander interface{ command() command }

// document returns the Call of a tool whose arguments are one command that prints one JSON document.
func document[A commander](f *Front) func(context.Context, *mcpserver.Call) *mcpserver.Result {
	return func(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
		a, refused := decode[A](call)
		if refused != nil {
			return refused
		}
		return f.answer(ctx, a.command())
	}
}

// summarized returns the Call of a tool with a summary of each answer, the text that a client sees beside the document. A
// failure keeps its fault as text.
func summarized(call func(context.Context, *mcpserver.Call) *mcpserver.Result, summary func(document json.RawMessage) string) func(context.Context, *mcpserver.Call) *mcpserver.Result {
	return func(ctx context.Context, c *mcpserver.Call) *mcpserver.Result {
		r := call(ctx, c)
		if !r.IsError {
			r.Summary = summary(r.Structured)
		}
		return r
	}
}

// answer runs a command and returns its document as the result of a tool. The document of a failed command is its fault. The
// command shortens what is longer than maxPage, unless its arguments have another limit.
func (f *Front) answer(ctx context.Context, c command) *mcpserver.Result {
	c.args = append([]string{"--max-bytes=" + strconv.Itoa(maxPage), "--quiet"}, c.args...)
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
	return f.forRuns(&mcpserver.Result{Structured: doc, IsError: o.exit != 0})
}

// decode returns the arguments of a call, which have been checked against the tool's schema. It refuses what no command line can have.
func decode[A any](call *mcpserver.Call) (A, *mcpserver.Result) {
	var a A
	if f := checkPassable(call.Tool, call.Arguments); f != nil {
		return a, failure(f)
	}
	if err := json.Unmarshal(call.Arguments, &a); err != nil {
		return a, failure(fault.New(fault.Usage, "The arguments do not match the tool's schema: %v", err))
	}
	return a, nil
}

// failure returns a failed result with a fault, in the form that the programs print.
func failure(f *fault.Fault) *mcpserver.Result {
	f.Address(fault.Tools)
	doc, err := json.Marshal(struct {
		Success bool         `json:"success"`
		Error   *fault.Fault `json:"error"`
	}{Error: f})
	if err != nil {
		doc = []byte(`{"success":false,"error":{"type":"internal_error","message":"the error cannot be shown"}}`)
	}
	return &mcpserver.Result{Structured: doc, IsError: true}
}
