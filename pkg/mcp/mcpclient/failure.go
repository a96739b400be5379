package mcpclient

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// requestFault puts a failed request into words: the first of why the request's context ended, what broke the
// connection, and what the server answered.
func (s *Session) requestFault(ctx context.Context, err error) error {
	err = s.broken(ctx, err)
	we, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		return err
	}
	f := fault.New(fault.Protocol, "%s", we.Message)
	switch we.Code {
	case jsonrpc.CodeMethodNotFound:
		f = fault.New(fault.Protocol, "Method not found").Suggest("Server %s does not offer what was asked of it", s.name)
	case jsonrpc.CodeInvalidParams:
		f = fault.New(fault.Protocol, "Invalid params: %s", strings.TrimPrefix(we.Message, "Invalid params: "))
	case jsonrpc.CodeInternalError:
		f = fault.New(fault.Execution, "MCP server %s had an internal error: %s", s.name, we.Message)
	case mcp.CodeUnsupportedProtocolVersion:
		f = versionFault(s.name, we.Message)
	default:
		if we.Message == "" {
			f.Message = "MCP server " + s.name + " answered with an error without a message"
		}
	}
	f.Detail("server", s.name).Detail("code", we.Code)
	if len(we.Data) > 0 {
		f.Detail("data", we.Data)
	}
	return f
}

// broken finds out why a request got no answer. A JSON-RPC error is an answer and is given back as it is.
func (s *Session) broken(ctx context.Context, err error) error {
	if f := s.end(); f != nil {
		return f
	}
	if cause := context.Cause(ctx); cause != nil {
		if errors.Is(cause, errClosed) {
			return fault.New(fault.Execution, "The session with MCP server %s was closed during the request", s.name)
		}
		return cause
	}
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f
	}
	switch {
	case errors.Is(err, mcp.ErrSessionMissing):
		s.web.gone.Store(true)
		return httpFault(404, "")
	case answered(err) || strings.Contains(err.Error(), "unsupported protocol version"):
		return err
	case s.pipe != nil:
		return s.terminated()
	}
	s.web.gone.Store(true) // whatever this was, a new session is the better start
	return fault.New(fault.Protocol, "The exchange with MCP server %s failed: %v", s.name, err)
}

// end is the fault that ended the session as a whole: too much memory, or a line that no server may write.
func (s *Session) end() *fault.Fault {
	if f, ok := errors.AsType[*fault.Fault](context.Cause(s.calls)); ok {
		return f
	}
	if s.pipe != nil {
		select {
		case <-s.pipe.ended:
			f, _ := errors.AsType[*fault.Fault](s.pipe.err)
			return f
		default:
		}
	}
	return nil
}

// lastLines are the last lines of a text that fit a message.
func lastLines(text string) string {
	lines := strings.Split(text, "\n")
	kept := lines[len(lines)-1]
	for _, line := range slices.Backward(lines[:len(lines)-1]) {
		if len(kept)+len(line) > 300 {
			break
		}
		kept = line + "\n" + kept
	}
	return kept
}

// terminated is the fault of a server that went away. What it said last explains it best, and is still on its way for
// a moment after its end.
func (s *Session) terminated() *fault.Fault {
	f := fault.New(fault.Execution, "MCP server process terminated unexpectedly").Detail("server", s.name)
	select {
	case <-s.child.Ended():
	case <-time.After(time.Second):
	}
	for range 20 {
		if tail := strings.TrimSpace(s.child.StderrTail()); tail != "" {
			f.Message += ": " + lastLines(tail)
			return f.Detail("stderr", tail)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return f.Suggest("It said nothing on standard error; start its command by hand to see why it ends")
}

// callFault makes the fault of a call clearer where the tool is not there at all.
func (s *Session) callFault(ctx context.Context, tool string, err error) error {
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || f.Type != fault.Protocol {
		return err
	}
	if code, ok := f.Details["code"].(int64); ok && (code == jsonrpc.CodeInvalidParams || speaksOfMissingTool(f.Message, tool)) {
		if missing := s.missing(ctx, tool); missing != nil {
			return missing
		}
	}
	return err
}

// speaksOfMissingTool says whether a server's words may mean that it has no such tool. Servers put it very differently,
// so it is a hint to look, no more.
func speaksOfMissingTool(text, tool string) bool {
	text = strings.ToLower(text)
	if len(text) > 1000 || !strings.Contains(text, strings.ToLower(tool)) {
		return false
	}
	return slices.ContainsFunc([]string{"not found", "unknown tool", "no such tool", "does not exist"}, func(s string) bool { return strings.Contains(text, s) })
}

// missing asks the server for its tools, and is the fault "Tool X not found on server Y" when this one is not among them.
func (s *Session) missing(ctx context.Context, tool string) *fault.Fault {
	tools, err := s.Tools(ctx)
	if err != nil {
		return nil
	}
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	if slices.Contains(names, tool) {
		return nil
	}
	return ToolNotFound(s.name, tool, names)
}

// ToolNotFound is the fault of a tool that a server does not have.
func ToolNotFound(server, tool string, names []string) *fault.Fault {
	f := fault.New(fault.NotFound, "Tool %s not found on server %s", tool, server)
	f.Available = names
	if near, ok := fault.Nearest(tool, names); ok {
		f.Suggest("Did you mean %q?", near)
	}
	return f.Suggest("pflow-sync sync %s brings the registry up to date with the tools the server has now", server)
}
