package mcpserver

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// initialize answers the request that begins a session of the revisions before the stateless one. The SDK takes a
// request of the stateless revision for such a beginning, and would refuse this one after it. But a client that probes
// with server/discover, and stops waiting before the answer is there, goes on with initialize on the same connection.
func (s *Server) initialize(ctx context.Context, next mcp.MethodHandler, method string, req *mcp.ServerRequest[*mcp.InitializeParams]) (mcp.Result, error) {
	client := sessionOf(ctx)
	revision := agreed(req.Params.ProtocolVersion)
	if client == nil || !client.agree(revision) {
		result, err := next(ctx, method, req) // the SDK answers in the sessions that it connects itself, and refuses a second initialize
		if greeting, ok := result.(*mcp.InitializeResult); ok && err == nil {
			greeting.Capabilities = withoutTasks(greeting.Capabilities)
		}
		return result, err
	}
	result := s.greeting
	result.Capabilities = withoutTasks(result.Capabilities)
	result.ProtocolVersion = revision
	if req.Session.InitializeParams() == nil {
		// For the SDK the session begins here, unless it takes a request of the stateless revision at the same time.
		_, _ = next(ctx, method, req)
	}
	return &result, nil
}

// withoutTasks returns capabilities without the extension for tasks, which the revisions that begin with initialize do not have.
func withoutTasks(capabilities *mcp.ServerCapabilities) *mcp.ServerCapabilities {
	c := *capabilities
	c.Extensions = maps.Clone(c.Extensions)
	delete(c.Extensions, TasksExtension)
	return &c
}

// agree records the revision of a session that begins with initialize. It reports false if it has begun before.
func (s *session) agree(revision string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun {
		return false
	}
	s.begun, s.revision = true, revision
	return true
}

// agreed returns the revision of a session whose client asks for one: the same, or the newest that begins with initialize.
func agreed(asked string) string {
	if asked < statelessRevision && slices.Contains(mcp.SupportedProtocolVersions(), asked) {
		return asked
	}
	return newestWithHandshake
}

// revisionOf returns the revision that a request follows: the one it names, or else the one that its session agreed to.
// In a session that did not begin with initialize, that is the newest possible one.
func revisionOf(ctx context.Context, req request) string {
	if params := req.GetParams(); !reflect.ValueOf(params).IsNil() { // as they are if the client sent none
		if _, named := params.GetMeta()[mcp.MetaKeyProtocolVersion]; named {
			return req.ProtocolVersion()
		}
	}
	client := sessionOf(ctx)
	if client == nil {
		return agreed(req.ProtocolVersion())
	}
	client.mu.Lock()
	defer client.mu.Unlock()
	return cmp.Or(client.revision, newestWithHandshake)
}
