package mcpserver

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/toolargs"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// dispatcher stands between the SDK and the table: it answers tools/call itself, because the SDK's own way there writes a
// result as JSON twice and escapes HTML in it, and turns failures of reads into the protocol's errors.
type dispatcher struct {
	server *Server
	log    *slog.Logger
	stop   context.Context // when it ends, calls end
	tools  map[string]*entry
	places chan struct{} // one for each call that may run, nil without a limit

	greeting mcp.InitializeResult   // but for the revision
	begun    atomic.Bool            // whether there was an initialize
	revision atomic.Pointer[string] // that it agreed to
}

// entry is a tool with what checks its arguments and its failures.
type entry struct {
	*Tool
	arguments *toolargs.Checker
	output    func() (*jsonschema.Schema, *fault.Fault) // nil without an output schema
}

// allows says whether structured content fits the tool's output schema, if it has one.
func (e *entry) allows(structured json.RawMessage) bool {
	if e.output == nil || structured == nil {
		return true
	}
	schema, f := e.output()
	return f == nil && schema.Fits(structured)
}

func newDispatcher(stop context.Context, s *Server, log *slog.Logger) *dispatcher {
	d := &dispatcher{server: s, log: log, stop: stop, tools: make(map[string]*entry, len(s.Tools)), greeting: s.greeting()}
	for i := range s.Tools {
		tool := &s.Tools[i]
		d.tools[tool.Name] = &entry{Tool: tool, arguments: toolargs.NewChecker(tool.Name, tool.InputSchema)}
		if tool.OutputSchema != nil {
			d.tools[tool.Name].output = jsonschema.Lazy(tool.OutputSchema)
		}
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
		result, err = d.answer(ctx, next, method, req)
		if r, ok := req.(request); ok && err == nil && d.revisionOf(r) < statelessRevision {
			result = unhinted(result)
		}
		return result, err
	}
}

// answer answers what is not the SDK's to answer, and has next answer the rest.
func (d *dispatcher) answer(ctx context.Context, next mcp.MethodHandler, method string, req mcp.Request) (result mcp.Result, err error) {
	switch req := req.(type) {
	case *mcp.CallToolRequest:
		return d.callTool(ctx, req)
	case *mcp.ReadResourceRequest:
		if d.server.Read != nil {
			result, err = d.read(ctx, req)
		} else {
			result, err = next(ctx, method, req)
		}
		return result, d.readError(req, err)
	case *mcp.ServerRequest[*mcp.InitializeParams]:
		return d.initialize(ctx, next, method, req)
	}
	return next(ctx, method, req)
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
		return nil, d.unknownTool(ctx, req)
	}
	wire, err := d.wire(tool, d.call(ctx, tool, req), req)
	if err == nil {
		return wire, nil
	}
	refused := d.refuse(tool, fault.New(fault.Internal, "The tool %s gave an answer that cannot be sent: %v", tool.Name, err))
	if wire, err = d.wire(tool, refused, req); err != nil {
		return nil, rpcError(jsonrpc.CodeInternalError, fault.New(fault.Internal, "The refusal of the tool %s cannot be sent: %v", tool.Name, err))
	}
	return wire, nil
}

// wire is the result of a call as the client's revision has it.
func (d *dispatcher) wire(tool *entry, r *Result, req *mcp.CallToolRequest) (*wireResult, error) {
	wire, err := r.wire()
	if err != nil {
		return nil, err
	}
	revision := d.revisionOf(req)
	switch {
	case wire.StructuredContent == nil:
	case wire.IsError && !tool.allows(wire.StructuredContent):
		wire.StructuredContent = nil
	case r.Summary != "" && revision >= structuredRevision:
		wire.Content[0].Text = &r.Summary
	case r.Summary != "":
		wire.StructuredContent = nil
	}
	if revision >= statelessRevision {
		wire.ResultType = "complete"
	}
	return wire, nil
}

// unknownTool is the error of a call of a tool that is not in the table.
func (d *dispatcher) unknownTool(ctx context.Context, req *mcp.CallToolRequest) error {
	if d.server.Unknown != nil {
		call := &Call{Tool: req.Params.Name, Arguments: req.Params.Arguments}
		if err := d.server.Unknown(ctx, call); err != nil {
			return protocolError(err, jsonrpc.CodeInvalidParams)
		}
	}
	return rpcError(jsonrpc.CodeInvalidParams, unknown("tool", req.Params.Name, slices.Sorted(maps.Keys(d.tools))))
}

// call runs a tool, or says why not.
func (d *dispatcher) call(ctx context.Context, tool *entry, req *mcp.CallToolRequest) (result *Result) {
	defer func() {
		if r := recover(); r != nil {
			result = d.refuse(tool, d.crashed("The tool "+tool.Name, r))
		}
	}()
	given := req.Params.Arguments
	if !tool.SkipValidation {
		checked, f := tool.arguments.Check(given)
		if f != nil {
			return d.refuse(tool, f)
		}
		given = checked
	}
	if d.places != nil {
		select {
		case d.places <- struct{}{}:
			defer func() { <-d.places }()
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return d.refuse(tool, fault.New(fault.Unavailable, "The call of %s was cancelled before it began", tool.Name))
	}
	call := &Call{Tool: tool.Name, Arguments: given, report: reporter(ctx, req)}
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
