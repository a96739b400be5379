package mcpserver

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/toolargs"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// Tool is one tool. Both schemas are JSON Schema documents and are sent as they are. The type of InputSchema must be
// "object"; if it has "additionalProperties":false, an argument that it does not name is refused. OutputSchema may be nil.
type Tool struct {
	Name, Title, Description  string
	InputSchema, OutputSchema json.RawMessage
	// The hints that a client goes by before it calls; all four are always sent.
	ReadOnly, Destructive, Idempotent, OpenWorld bool
	// SkipValidation leaves the check of the arguments to Call, which receives them as they came: they can be nil, null or a
	// value that is not an object.
	SkipValidation bool
	// Call answers one call, whose arguments match InputSchema unless SkipValidation is set. Its context ends when the
	// client cancels the call, when its session ends and when the server is stopped; WhyEnded tells them apart.
	Call func(ctx context.Context, call *Call) *Result
}

// Resource is something to read: one URI, or all that match a URI template (RFC 6570, recognised by its braces).
type Resource struct {
	URI, Name, Title, Description, MIMEType string
	// Read returns the content of a URI. A *fault.Fault of type not_found becomes the protocol's own error for that; any
	// fault is sent as the data of the error. An *Error is sent as it is. Read is not called, and may be nil, if the server
	// has a Read.
	Read func(ctx context.Context, uri string) (*Content, error)
}

// Content is what a resource holds: text, or bytes if Blob is not nil. MIMEType defaults to that of the resource; with a
// Config.Read, to that of the listed resource with this URI, or else of the template that shares the longest text before
// its first brace with the URI.
type Content struct {
	MIMEType string
	Text     string
	Blob     []byte
	// TTL is how long a client of 2026-07-28 or later may keep the content, in whole milliseconds. Private means that it is
	// for this client's user alone.
	TTL     time.Duration
	Private bool
}

// table is what the server has to offer.
type table struct {
	tools     map[string]*entry
	resources []Resource
}

// entry is a tool with the checks of its arguments and of its failures.
type entry struct {
	*Tool
	arguments *toolargs.Checker
	output    func() (*jsonschema.Schema, *fault.Fault) // nil without an OutputSchema
}

// allows reports whether structured content matches the tool's output schema, if it has one.
func (e *entry) allows(structured json.RawMessage) bool {
	if e.output == nil || structured == nil {
		return true
	}
	schema, f := e.output()
	return f == nil && schema.Fits(structured)
}

// fill puts the tools and resources of the configuration into the table and into the SDK's lists.
func (s *Server) fill() (err error) {
	defer func() { // the SDK panics on a schema or a URI that is malformed
		if r := recover(); r != nil {
			err = fault.New(fault.Internal, "the table of tools cannot be served: %v", r)
		}
	}()
	s.table.tools = make(map[string]*entry, len(s.config.Tools))
	for i := range s.config.Tools {
		tool := &s.config.Tools[i]
		e := &entry{Tool: tool, arguments: toolargs.NewChecker(tool.Name, tool.InputSchema)}
		if tool.OutputSchema != nil {
			e.output = jsonschema.Lazy(tool.OutputSchema)
		}
		if s.table.tools[tool.Name] != nil {
			return fault.New(fault.Internal, "the table of tools cannot be served: two tools have the same name")
		}
		s.table.tools[tool.Name] = e
		s.sdk.AddTool(tool.listed(), s.unreachable)
	}
	s.table.resources = s.config.Resources
	for i := range s.table.resources {
		r := &s.table.resources[i]
		if r.Read == nil && s.config.Read == nil {
			return fault.New(fault.Internal, "the table of resources cannot be served: nothing reads %s", r.URI)
		}
		r.add(s.sdk)
	}
	return nil
}

// unreachable replaces the handlers that the SDK wants: the middleware answers all calls.
func (s *Server) unreachable(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, rpcError(jsonrpc.CodeInternalError, fault.New(fault.Internal, "a tool call went past the dispatcher"))
}

// tool returns the tool with a name, or nil.
func (t *table) tool(name string) *entry { return t.tools[name] }

// names returns the names of the tools, sorted.
func (t *table) names() []string { return slices.Sorted(maps.Keys(t.tools)) }

// uris returns the URIs and URI templates of the resources.
func (t *table) uris() []string {
	var uris []string
	for _, r := range t.resources {
		uris = append(uris, r.URI)
	}
	return uris
}

// mimeType returns the type of the listed resource that a URI is, or seems to be.
func (t *table) mimeType(uri string) string {
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

// listed is the tool as tools/list shows it.
func (t *Tool) listed() *mcp.Tool {
	listed := &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema,
		Annotations: &mcp.ToolAnnotations{
			Title: t.Title, ReadOnlyHint: t.ReadOnly, DestructiveHint: &t.Destructive, IdempotentHint: t.Idempotent, OpenWorldHint: &t.OpenWorld,
		},
	}
	if t.OutputSchema != nil {
		listed.OutputSchema = t.OutputSchema
	}
	return listed
}
