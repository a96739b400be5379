package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// dispatcher stands between the SDK and the table: it answers tools/call itself, because the SDK's own way there writes a
// result as JSON twice and escapes HTML in it, and turns failures of reads into the protocol's errors.
type dispatcher struct {
	server *Server
	log    *slog.Logger
	stop   context.Context // when it ends, calls end
	tools  map[string]*entry
	places chan struct{} // one for each call that may run, nil without a limit
}

func newDispatcher(stop context.Context, s *Server, log *slog.Logger) *dispatcher {
	d := &dispatcher{server: s, log: log, stop: stop, tools: make(map[string]*entry, len(s.Tools))}
	for i := range s.Tools {
		d.tools[s.Tools[i].Name] = &entry{Tool: &s.Tools[i]}
	}
	if s.MaxCalls > 0 {
		d.places = make(chan struct{}, s.MaxCalls)
	}
	return d
}

// receive is the middleware that all requests and notifications pass.
func (d *dispatcher) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
		defer func() {
			if r := recover(); r != nil {
				result, err = nil, rpcError(jsonrpc.CodeInternalError, d.crashed(method, r))
			}
		}()
		ctx, cancel := d.bound(ctx)
		defer cancel()
		switch req := req.(type) {
		case *mcp.CallToolRequest:
			return d.callTool(ctx, req)
		case *mcp.ReadResourceRequest:
			result, err = next(ctx, method, req)
			return result, d.readError(req, err)
		}
		return next(ctx, method, req)
	}
}

// bound is a context that also ends with the server.
func (d *dispatcher) bound(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	release := context.AfterFunc(d.stop, func() { cancel(context.Cause(d.stop)) })
	return ctx, func() { release(); cancel(nil) }
}

// unreachable stands in for the handlers that the SDK wants to have.
func (d *dispatcher) unreachable(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, rpcError(jsonrpc.CodeInternalError, fault.New(fault.Internal, "a tool call went past the dispatcher"))
}

func (d *dispatcher) callTool(ctx context.Context, req *mcp.CallToolRequest) (mcp.Result, error) {
	tool := d.tools[req.Params.Name]
	if tool == nil {
		return nil, rpcError(jsonrpc.CodeInvalidParams, unknown("tool", req.Params.Name, slices.Sorted(maps.Keys(d.tools))))
	}
	r := d.call(ctx, tool, req)
	wire, err := r.wire()
	if err != nil {
		r = d.refuse(tool, fault.New(fault.Internal, "The tool %s gave an answer that cannot be sent: %v", tool.Name, err))
		if wire, err = r.wire(); err != nil {
			return nil, rpcError(jsonrpc.CodeInternalError, fault.New(fault.Internal, "The refusal of the tool %s cannot be sent: %v", tool.Name, err))
		}
	}
	if wire.IsError && !tool.allows(wire.StructuredContent) {
		wire.StructuredContent = nil
	}
	if req.ProtocolVersion() >= statelessRevision {
		wire.ResultType = "complete"
	}
	return wire, nil
}

// call runs a tool, or says why not.
func (d *dispatcher) call(ctx context.Context, tool *entry, req *mcp.CallToolRequest) (result *Result) {
	defer func() {
		if r := recover(); r != nil {
			result = d.refuse(tool, d.crashed("The tool "+tool.Name, r))
		}
	}()
	arguments, f := tool.check(req.Params.Arguments)
	if f != nil {
		return d.refuse(tool, f)
	}
	if d.places != nil {
		select {
		case d.places <- struct{}{}:
			defer func() { <-d.places }()
		case <-ctx.Done():
			return d.refuse(tool, fault.New(fault.Unavailable, "The call of %s was cancelled while it waited for others to end", tool.Name))
		}
	}
	call := &Call{Tool: tool.Name, Arguments: arguments, report: reporter(ctx, req)}
	defer call.end()
	return tool.Call(ctx, call)
}

func (d *dispatcher) refuse(tool *entry, f *fault.Fault) *Result {
	if d.server.Refuse != nil {
		return d.server.Refuse(tool.Name, f)
	}
	return &Result{IsError: true, Structured: compact(struct {
		Success bool         `json:"success"`
		Error   *fault.Fault `json:"error"`
	}{Error: f})}
}

// crashed logs a panic and makes a fault of it.
func (d *dispatcher) crashed(who string, cause any) *fault.Fault {
	d.log.Error("a handler crashed", "handler", who, "cause", cause, "stack", string(debug.Stack()))
	return fault.New(fault.Internal, "%s crashed: %v", who, cause).
		Suggest("This is a defect of %s; the server goes on, other calls are not affected", d.server.Name)
}

// Call is one call of a tool.
type Call struct {
	// Tool is the name it was called by.
	Tool string
	// Arguments is a JSON object in the client's own bytes, {} when the client sent none.
	Arguments json.RawMessage

	mu     sync.Mutex
	report func(done, total float64, message string) // nil when the client did not ask, or the call is over
}

// Progress tells the client how far the call is; a total of 0 is unknown. It does nothing when the client did not ask
// for progress, or when the call is over.
func (c *Call) Progress(done, total float64, message string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.report != nil {
		c.report(done, total, message)
	}
}

func (c *Call) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report = nil
}

// reporter sends progress to the client of a call, or is nil when it gave no token to send it with.
func reporter(ctx context.Context, req *mcp.CallToolRequest) func(done, total float64, message string) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	return func(done, total float64, message string) {
		// A client that is gone is noticed by whoever answers it.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: total, Message: message})
	}
}

// unknown is the fault of a name that is not in the table.
func unknown(what, name string, known []string) *fault.Fault {
	f := fault.New(fault.NotFound, "Unknown %s %q", what, name)
	if near, ok := fault.Nearest(name, known); ok {
		f.Suggest("Did you mean %q?", near)
	}
	f.Available = known
	return f
}

// rpcError is a fault as the protocol's error, with the fault as its data.
func rpcError(code int64, f *fault.Fault) *jsonrpc.Error {
	message := f.Error()
	if len(f.Suggestions) > 0 {
		message = fmt.Sprintf("%s. %s", message, f.Suggestions[0])
	}
	return &jsonrpc.Error{Code: code, Message: message, Data: compact(f)}
}
