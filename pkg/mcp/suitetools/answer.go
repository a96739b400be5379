package suitetools

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// commander is a set of arguments that is one command of the suite.
type commander interface{ command() suite.Command }

// document returns the Call of a tool whose arguments are one command that prints one JSON document.
func document[A commander](f *Front) func(context.Context, *mcpserver.Call) *mcpserver.Result {
	return func(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
		a, refused := decode[A](call)
		if refused != nil {
			return refused
		}
		c := a.command()
		c.Caller = suite.CallerOf(call)
		return f.answer(ctx, c)
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
func (f *Front) answer(ctx context.Context, c suite.Command) *mcpserver.Result {
	c.Args = append([]string{"--max-bytes=" + strconv.Itoa(maxPage), "--quiet"}, c.Args...)
	c.Reader = f.Reader()
	o, err := f.Suite.Run(ctx, c)
	if ctx.Err() != nil && err != nil {
		return suite.Failure(fault.New(fault.Unavailable, "The call was cancelled before it was answered"))
	}
	if err != nil {
		return suite.Failure(fault.From(err))
	}
	doc, bad := o.Document(c.Program)
	if bad != nil {
		return suite.Failure(bad)
	}
	return &mcpserver.Result{Structured: doc, IsError: o.Exit != 0}
}

// decode returns the arguments of a call, which have been checked against the tool's schema. It refuses what no command line can have.
func decode[A any](call *mcpserver.Call) (A, *mcpserver.Result) {
	var a A
	if f := checkPassable(call.Tool, call.Arguments); f != nil {
		return a, suite.Failure(f)
	}
	if err := json.Unmarshal(call.Arguments, &a); err != nil {
		return a, suite.Failure(fault.New(fault.Usage, "The arguments do not match the tool's schema: %v", err))
	}
	return a, nil
}

// failure returns a failed result with a fault, whose steps are worded for the clients of the front.
func (f *Front) failure(why *fault.Fault) *mcpserver.Result {
	why.Address(f.Reader())
	return suite.Failure(why)
}
