package mcpserver

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// table is what the server has to offer. It may change while the server serves.
type table struct {
	mu        sync.RWMutex
	tools     map[string]*entry
	prompts   map[string]*promptEntry
	resources []Resource
	// changing is set while more changes of the tools follow, so that a notification would be too early.
	changing atomic.Bool
}

// AddTools adds tools, and replaces those with the same names; calls that are under way keep the tool that they called.
// Clients learn of it if Config.ToolsChange is set. A tool that cannot be served is an internal fault; the tools before
// it are added.
func (s *Server) AddTools(tools ...Tool) error { return s.ChangeTools(nil, tools) }

// RemoveTools removes the tools with the given names; a name that is not in the table has no effect. Calls that are under
// way finish, further calls are refused.
func (s *Server) RemoveTools(names ...string) { _ = s.ChangeTools(names, nil) }

// ChangeTools removes tools and adds others, as RemoveTools and AddTools do, with one notification for all, or with two where
// the SDK, which sends them by a clock of its own, finds the last change under way.
func (s *Server) ChangeTools(remove []string, add []Tool) (err error) {
	defer servable(&err)
	defer s.announce(listChangedTools)
	s.table.mu.Lock()
	defer s.table.mu.Unlock()
	defer s.table.changing.Store(false)
	for _, name := range remove {
		delete(s.table.tools, name)
	}
	s.table.changing.Store(len(add) > 0)
	s.sdk.RemoveTools(remove...)
	for i, tool := range add {
		s.table.changing.Store(i < len(add)-1) // the SDK notifies some milliseconds after the last change
		s.sdk.AddTool(tool.listed(), s.unreachable)
		s.table.tools[tool.Name] = newEntry(tool)
	}
	return nil
}

// AddResources adds resources and URI templates, and replaces those with the same URIs. Clients learn of it if
// Config.ResourcesChange is set. A resource that cannot be served is an internal fault; the resources before it are
// added.
func (s *Server) AddResources(resources ...Resource) (err error) {
	defer servable(&err)
	defer s.announce(listChangedResources)
	s.table.mu.Lock()
	defer s.table.mu.Unlock()
	for _, r := range resources {
		if r.Read == nil && s.config.Read == nil {
			return fault.New(fault.Internal, "the table of resources cannot be served: nothing reads %s", r.URI)
		}
		r.add(s.sdk)
		if i := s.table.find(r.URI); i >= 0 {
			s.table.resources[i] = r
		} else {
			s.table.resources = append(s.table.resources, r)
		}
	}
	return nil
}

// RemoveResources removes the resources and templates with the given URIs. A URI that is not in the table has no effect.
func (s *Server) RemoveResources(uris ...string) {
	defer s.announce(listChangedResources)
	s.table.mu.Lock()
	defer s.table.mu.Unlock()
	s.table.resources = slices.DeleteFunc(s.table.resources, func(r Resource) bool { return slices.Contains(uris, r.URI) })
	s.sdk.RemoveResources(uris...)
	s.sdk.RemoveResourceTemplates(uris...)
}

// servable turns a panic of the SDK, which panics on a malformed schema or URI, into an error. It must be deferred.
func servable(err *error) {
	if r := recover(); r != nil {
		*err = fault.New(fault.Internal, "the table of tools cannot be served: %v", r)
	}
}

// unreachable replaces the handlers that the SDK wants: the middleware answers all calls.
func (s *Server) unreachable(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, rpcError(jsonrpc.CodeInternalError, fault.New(fault.Internal, "a tool call went past the dispatcher"))
}

// tool returns the tool with a name, or nil.
func (t *table) tool(name string) *entry {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.tools[name]
}

// ToolNames returns the names of the tools, sorted.
func (s *Server) ToolNames() []string { return s.table.names() }

// names returns the names of the tools, sorted.
func (t *table) names() []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Sorted(maps.Keys(t.tools))
}

// find returns the index of the resource with a URI, or -1. The mu must be held.
func (t *table) find(uri string) int {
	return slices.IndexFunc(t.resources, func(r Resource) bool { return r.URI == uri })
}

// uris returns the URIs and URI templates of the resources.
func (t *table) uris() []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var uris []string
	for _, r := range t.resources {
		uris = append(uris, r.URI)
	}
	return uris
}

// mimeType returns the type of the listed resource that a URI is, or seems to be.
func (t *table) mimeType(uri string) string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	found, longest := "", -1
	for _, r := range t.resources {
		literal, _, template := strings.Cut(r.URI, "{")
		switch {
		case !template && r.URI == uri:
			return r.MIMEType
		case template && len(literal) > longest && strings.HasPrefix(uri, literal):
			found, longest = r.MIMEType, len(literal)
		}
	}
	return found
}
