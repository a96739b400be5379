package mcpclient

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// maxSaid is the most bytes of what a server says that a message repeats.
const maxSaid = 4000

// requestFault returns the fault for a failed request: why its context ended, else why the connection broke, else the
// server's error.
func (s *Session) requestFault(ctx context.Context, err error) error {
	err = s.failureCause(ctx, err)
	if we, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return errorFault(s.name, we)
	}
	return err
}

// errorFault returns the fault for an error response.
func errorFault(server string, we *jsonrpc.Error) *fault.Fault {
	said := fault.Truncate(we.Message, maxSaid)
	f := fault.New(fault.Protocol, "%s", said)
	switch we.Code {
	case jsonrpc.CodeMethodNotFound:
		f = fault.New(fault.Protocol, "Method not found").Suggest("Server %s does not offer this method", server)
	case jsonrpc.CodeInvalidParams:
		f = fault.New(fault.Protocol, "Invalid params: %s", strings.TrimPrefix(said, "Invalid params: "))
	case jsonrpc.CodeInternalError:
		f = fault.New(fault.Execution, "MCP server %s had an internal error: %s", server, said)
	case mcp.CodeUnsupportedProtocolVersion:
		f = versionFault(server, said)
	case mcp.CodeURLElicitationRequired:
		if page := gjson.GetBytes(we.Data, "elicitations.0"); page.Exists() {
			f = pageFault(server, page)
		}
	default:
		if said == "" {
			f.Message = "MCP server " + server + " returned an error without a message"
		}
	}
	f.Detail("server", server).Detail("code", we.Code)
	if len(we.Data) > 0 && len(we.Data) <= maxSaid {
		f.Detail("data", we.Data)
	}
	return f
}

// failureCause returns the reason why a request got no response. A JSON-RPC error is a response and is returned unchanged.
func (s *Session) failureCause(ctx context.Context, err error) error {
	if f := s.endFault(); f != nil {
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
	case isErrorResponse(err) || strings.Contains(err.Error(), "unsupported protocol version"):
		return err
	case s.stdio != nil && s.unreadable(err):
		return fault.New(fault.Protocol, "Invalid JSON response from server").Detail("server", s.name).Detail("reason", fault.Truncate(err.Error(), maxSaid)).
			Suggest("Its response is JSON, but not what MCP describes; report this to its author")
	case s.stdio != nil:
		return s.terminated()
	}
	s.web.gone.Store(true) // a new session is more likely to work
	if s.web.tooLong.Load() {
		return tooLong()
	}
	return fault.New(fault.Protocol, "The request to MCP server %s failed: %s", s.name, fault.Truncate(err.Error(), maxSaid))
}

// unreadable reports whether the error of a request is that the SDK could not read the response, on a connection that still holds.
func (s *Session) unreadable(err error) bool {
	select {
	case <-s.stdio.ended:
		return false
	case <-s.child.Ended():
		return false
	default:
		return !errors.Is(err, mcp.ErrConnectionClosed) && !errors.Is(err, io.EOF) && !errors.Is(err, syscall.EPIPE)
	}
}

// misshapen returns a fault if the result of a request is not an object, or if its member is neither a list nor absent or null, as
// servers in Go write an empty list.
func (s *Session) misshapen(method string, result gjson.Result, member string) *fault.Fault {
	list := result.Get(member)
	must := ""
	switch {
	case !result.IsObject():
		must = "be an object"
	case list.Exists() && list.Type != gjson.Null && !list.IsArray():
		must = "have a list under " + member
	default:
		return nil
	}
	return fault.New(fault.Protocol, "Invalid JSON response from server: the result of %s must %s", method, must).Detail("server", s.name).
		Detail("result", shownLine([]byte(result.Raw))).Suggest("Report this to the author of the server")
}

// endFault returns the fault that ended the whole session, or nil: too much memory, or an invalid line.
func (s *Session) endFault() *fault.Fault {
	if f, ok := errors.AsType[*fault.Fault](context.Cause(s.calls)); ok {
		return f
	}
	if s.stdio != nil {
		select {
		case <-s.stdio.ended:
			f, _ := errors.AsType[*fault.Fault](s.stdio.err)
			return f
		default:
		}
	}
	return nil
}

// lastLines returns the last lines of a text, as far as they fit a message.
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

// terminated returns the fault for a server process that has ended. It includes the end of the server's standard error,
// which may arrive shortly after the process has ended.
func (s *Session) terminated() *fault.Fault {
	f := fault.New(fault.Execution, "MCP server process terminated unexpectedly").Detail("server", s.name)
	select {
	case <-s.child.Ended():
	case <-time.After(time.Second):
		f.Message = "MCP server " + s.name + " closed its standard output, but did not end"
	}
	for range 20 {
		if tail := strings.TrimSpace(s.child.StderrTail()); tail != "" {
			f.Message += ": " + lastLines(tail)
			return f.Detail("stderr", tail)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return f.Suggest("It wrote nothing to standard error; start its command by hand to see why it ends")
}

// callFault replaces the fault of a call by a clearer one if the server does not have the tool.
func (s *Session) callFault(ctx context.Context, tool string, err error) error {
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || f.Type != fault.Protocol {
		return err
	}
	if code, ok := f.Details["code"].(int64); ok && (code == jsonrpc.CodeInvalidParams || mayMeanMissingTool(f.Message, tool)) {
		if missing := s.missingTool(ctx, tool); missing != nil {
			return missing
		}
	}
	return err
}

// mayMeanMissingTool reports whether a server's message may mean that it does not have the tool. Servers word this very
// differently, so the list of tools must be checked.
func mayMeanMissingTool(text, tool string) bool {
	text = strings.ToLower(text)
	if len(text) > 1000 || !strings.Contains(text, strings.ToLower(tool)) {
		return false
	}
	return slices.ContainsFunc([]string{"not found", "unknown tool", "no such tool", "does not exist"}, func(s string) bool { return strings.Contains(text, s) })
}

// missingTool lists the server's tools and returns the fault "Tool X not found on server Y" if the tool is not among them.
func (s *Session) missingTool(ctx context.Context, tool string) *fault.Fault {
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

// ToolNotFound returns the fault for a tool that a server does not have. names are those of its tools.
func ToolNotFound(server, tool string, names []string) *fault.Fault {
	f := fault.New(fault.NotFound, "Tool %s not found on server %s", tool, server)
	if tool == ReadResource {
		f.Message = "MCP server " + server + " offers no resources"
	}
	f.Offer(tool, names)
	if near, ok := fault.Nearest(tool, names); ok {
		f.Suggest("Did you mean %q?", near)
	}
	return f.Then(fault.Step{Do: fault.DoSync, Name: server})
}
