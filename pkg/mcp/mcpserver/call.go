package mcpserver

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Call is one call of a tool.
type Call struct {
	// Tool is the name that the client called.
	Tool string
	// Arguments is a JSON object in the client's own bytes, {} if the client sent none, without the arguments that are null
	// and may not be. For a tool with SkipValidation, and for a name that is not in the table, it is whatever the client
	// sent, and nil if it sent nothing.
	Arguments json.RawMessage
	// Meta is the _meta of the call; it may be nil.
	Meta map[string]any
	// Replies are what a person replied to the elicitations of an earlier result, and State is the state of that result. The client
	// may have invented both.
	Replies map[string]Reply
	State   string
	// Client is what the client calls itself, or the name of its credential, on a short line; it may be empty. Person is set if a person
	// calls from a page of the server.
	Client string
	Person bool
	// Stream is the stream that the call is answered with; nil if it is answered with one document, or the transport knows no
	// difference.
	Stream *Stream

	elicit         func(ctx context.Context, e *Elicitation) (Reply, error) // nil unless Asking is Directly
	mayReturnInput bool                                                     // Asking is ByResult

	mu     sync.Mutex
	report func(done, total float64, message string) // nil if the client did not ask, or the call has ended

	takesTask bool
}

// Progress reports to the client how far the call is; a total of 0 is unknown. It does nothing if the client did not ask
// for progress, or if the call has ended.
func (c *Call) Progress(done, total float64, message string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.report != nil {
		c.report(done, total, message)
	}
}

// WantsProgress reports whether the client asked for progress, and the call has not ended.
func (c *Call) WantsProgress() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.report != nil
}

func (c *Call) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report = nil
}

// reporter returns a function that sends progress to the client of a call, or nil if the client gave no token for it.
func reporter(ctx context.Context, req *mcp.CallToolRequest) func(done, total float64, message string) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	return func(done, total float64, message string) {
		// That the client is gone shows when the call is answered.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: total, Message: message})
	}
}

// callTool answers tools/call.
func (s *Server) callTool(ctx context.Context, req *mcp.CallToolRequest) (mcp.Result, error) {
	tool := s.table.tool(req.Params.Name)
	if tool == nil {
		return nil, s.unknownTool(ctx, req)
	}
	revision := revisionOf(ctx, req)
	arguments, refused := tool.checked(req.Params.Arguments)
	if refused != nil && revision < newestWithHandshake {
		return nil, rpcError(jsonrpc.CodeInvalidParams, refused)
	}
	var result *Result
	if refused != nil {
		result = s.refuse(tool, refused)
	} else {
		call := &Call{Tool: tool.Name, Arguments: arguments, Meta: req.Params.Meta, report: reporter(ctx, req), Stream: streamOf(ctx, req), takesTask: s.config.Tasks != nil && takesTask(ctx, req)}
		call.makeAsking(req, revision)
		call.setSender(ctx, req)
		result = s.call(ctx, tool, call)
		switch {
		case result == nil:
		case result.Err != nil:
			return nil, protocolError(result.Err, jsonrpc.CodeInvalidParams)
		case result.Task != nil && !call.takesTask:
			return nil, protocolError(needsTasks("The tool "+tool.Name), jsonrpc.CodeInvalidParams)
		case result.Task != nil:
			return result.Task.created(), nil
		case result.Input != nil && call.mayReturnInput:
			return result.Input.wire(), nil
		}
	}
	wire, err := tool.wire(result, revision)
	if err == nil {
		return wire, nil
	}
	result = s.refuse(tool, fault.New(fault.Internal, "The tool %s returned a result that cannot be sent: %v", tool.Name, err))
	if wire, err = tool.wire(result, revision); err != nil {
		return nil, rpcError(jsonrpc.CodeInternalError, fault.New(fault.Internal, "The refusal of the tool %s cannot be sent: %v", tool.Name, err))
	}
	return wire, nil
}

// unknownTool returns the error of a call of a tool that is not in the table.
func (s *Server) unknownTool(ctx context.Context, req *mcp.CallToolRequest) error {
	if s.config.Unknown != nil {
		call := &Call{Tool: req.Params.Name, Arguments: req.Params.Arguments}
		if err := s.config.Unknown(ctx, call); err != nil {
			return protocolError(err, jsonrpc.CodeInvalidParams)
		}
	}
	return rpcError(jsonrpc.CodeInvalidParams, unknown("tool", req.Params.Name, s.table.names()))
}

// call runs a tool. It returns a refusal if the tool cannot run or panics.
func (s *Server) call(ctx context.Context, tool *entry, call *Call) (result *Result) {
	defer func() {
		if r := recover(); r != nil {
			result = s.refuse(tool, s.crashed("The tool "+tool.Name, r))
		}
	}()
	if s.slots != nil {
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return s.refuse(tool, fault.New(fault.Unavailable, "The call of %s was cancelled before it began", tool.Name))
	}
	defer call.end()
	return tool.Call(ctx, call)
}

// maxFault is the most bytes of the fault of a refused call.
const maxFault = 8000

// refuse returns the result of a call that failed outside its handler.
func (s *Server) refuse(tool *entry, f *fault.Fault) *Result {
	if s.config.Refuse != nil {
		return s.config.Refuse(tool.Name, f)
	}
	f.Address(fault.Tools)
	return &Result{IsError: true, Structured: compact(struct {
		Success bool         `json:"success"`
		Error   *fault.Fault `json:"error"`
	}{Error: f.LimitBytes(maxFault)})}
}
