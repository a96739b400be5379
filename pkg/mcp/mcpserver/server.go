// Package mcpserver serves a table of tools and resources to MCP clients, of every protocol revision from 2024-11-05 to
// 2026-07-28.
//
// The protocol is the SDK's. What the SDK leaves to its users is done here once: a pipe that ends early still gets all
// its answers, a bad line does not end the session, handlers cannot take the process down, arguments are checked before
// a handler sees them and reach it in the client's own bytes.
package mcpserver

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Server is a table of tools and resources to serve. It is not changed once it serves.
type Server struct {
	Name, Title, Version string
	// Instructions tell the client's model what the server is for and how its tools go together.
	Instructions string
	// Tools are listed by name, whatever their order here.
	Tools     []Tool
	Resources []Resource
	// Read gives the content of every URI, listed or not, in the place of what Resources have for it; nil leaves each
	// resource to its own Read. Its errors are as those of Resource.Read.
	Read func(ctx context.Context, uri string) (*Content, error)
	// Unknown answers the call of a tool that is not one of Tools: an *Error as it says, any other error as its fault, of
	// which not_found and wrong usage are -32602 and the rest -32603. Nil, or a nil error, is -32602 with the tools there
	// are. The call's arguments are as they came: nil, null or no object too.
	Unknown func(ctx context.Context, call *Call) error
	// CachePolicy says how long a client may keep the answer to a method, and whether it is for this client's user alone. It is
	// asked for tools/list, resources/list, resources/templates/list and server/discover of revision 2026-07-28 and later,
	// and must not wait. By default it is not at all and for anyone.
	CachePolicy func(method string) (ttl time.Duration, private bool)
	// Framing is how messages are told apart, by default one a line. Answers go out in the framing that requests come in.
	Framing Framing
	// MaxCalls is how many tool calls run at the same time while the rest wait; 0 sets no limit.
	MaxCalls int
	// Log takes what the protocol has to say to people; nil is silence.
	Log *slog.Logger
	// Refuse makes the result of a call that reached no handler, or whose handler panicked. By default it is the
	// document {"success":false,"error":FAULT}. The tool is one of Tools.
	Refuse func(tool string, f *fault.Fault) *Result
}

// Tool is one tool. Both schemas are JSON Schema documents as they go out; InputSchema's type is "object" and with
// "additionalProperties":false an argument it does not name is refused. OutputSchema may be nil.
type Tool struct {
	Name, Title, Description  string
	InputSchema, OutputSchema json.RawMessage
	// The hints a client goes by before it calls: all four are always sent.
	ReadOnly, Destructive, Idempotent, OpenWorld bool
	// SkipValidation leaves the check of arguments to Call, which gets them as they came: nil, null or no object too.
	SkipValidation bool
	// Call answers one call whose arguments fit InputSchema, unless it is Unchecked. Its context ends when the client
	// cancels the call or goes away, and when the server is stopped; the end of the client's input does not end it.
	Call func(ctx context.Context, call *Call) *Result
}

// Result is what a tool answers.
type Result struct {
	// Structured is a JSON object, sent as structuredContent. Of a failed call whose tool has an OutputSchema that this
	// does not fit, only the text is sent: clients hold even failures to that schema.
	Structured json.RawMessage
	// Text is what a client without structured content shows; when empty it is Structured as compact JSON.
	Text string
	// Summary goes out in the place of Text to a client that gets Structured and whose revision knows structured content
	// (2025-06-18 and later), so that a long answer goes out once. An older client gets the text alone. By default every
	// client gets both. Without Structured it is the text when Text is empty.
	Summary string
	// IsError says that the tool failed, which the client's model is to see.
	IsError bool
	// Links point to resources that the answer refers to.
	Links []Link
}

// Link is a resource that a result points to.
type Link struct {
	URI, Name, MIMEType string
	// Size is in bytes, 0 when it is not known.
	Size int64
}

// Resource is something to read: one URI, or all that match a URI template (RFC 6570, known by its braces).
type Resource struct {
	URI, Name, Title, Description, MIMEType string
	// Read gives the content of a URI. A *fault.Fault of type not_found becomes the protocol's own error for that; any
	// fault goes to the client as the error's data. An *Error goes out as it is. It is not asked, and may be nil, when the
	// server has a Read.
	Read func(ctx context.Context, uri string) (*Content, error)
}

// Content is what a resource holds: text, or bytes when Blob is not nil. MIMEType is by default the resource's; with a
// Server.Read that of the resource with this URI, else of the template whose beginning, up to its first brace, is the
// longest that the URI has too.
type Content struct {
	MIMEType string
	Text     string
	Blob     []byte
	// TTL is how long a client of 2026-07-28 or later may keep it, in whole milliseconds; Private says that it is for this
	// client's user alone.
	TTL     time.Duration
	Private bool
}

// grace is how long calls have to answer once the server is stopped.
const grace = 200 * time.Millisecond

// ServeStdio serves one client, with JSON-RPC messages in the server's Framing, and closes both streams at the end. What is
// no message does not end the session: text that is no JSON is answered with -32700, other JSON, and a message over 64 MiB
// or nested more than 1000 levels, with -32600, under its id where that can be read. An id that is null is none that MCP
// has: such requests are refused, but notifications are taken. What the client cancels is not answered.
//
// At the end of in it waits until every request is answered and returns nil. When ctx ends it takes no more requests,
// ends the contexts of the calls, gives them a moment to answer and returns the cause; a call that does not heed its
// context is answered with an error and left behind. Any other error means that out could not be written.
func (s *Server) ServeStdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	log := s.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	server, err := s.build(ctx, log)
	if err != nil {
		return err
	}
	client := newPipe(in, out, s.Framing, log)
	defer func() { _ = client.Close() }()
	session, err := server.Connect(ctx, client, nil)
	if err != nil {
		return fault.New(fault.Internal, "serving could not begin: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-client.drained:
		return client.leave(ended)
	case <-ctx.Done():
	}
	client.finish()
	select {
	case <-ended:
	case <-time.After(grace):
		client.abandon()
	}
	return context.Cause(ctx)
}

// build makes the SDK's server of the table; stop is the context whose end stops calls.
func (s *Server) build(stop context.Context, log *slog.Logger) (server *mcp.Server, err error) {
	defer func() { // the SDK panics on a schema or a URI that is none
		if r := recover(); r != nil {
			err = fault.New(fault.Internal, "the table of tools cannot be served: %v", r)
		}
	}()
	if err := s.Framing.check(); err != nil {
		return nil, err
	}
	d := newDispatcher(stop, s, log)
	server = mcp.NewServer(d.greeting.ServerInfo, &mcp.ServerOptions{
		Instructions: s.Instructions, Logger: log, Capabilities: d.greeting.Capabilities, SetCacheable: d.setHint,
	})
	if len(d.tools) < len(s.Tools) {
		return nil, fault.New(fault.Internal, "the table of tools cannot be served: two tools have the same name")
	}
	for i := range s.Tools {
		server.AddTool(s.Tools[i].listed(), d.unreachable)
	}
	for i := range s.Resources {
		if s.Resources[i].Read == nil && s.Read == nil {
			return nil, fault.New(fault.Internal, "the table of resources cannot be served: nothing reads %s", s.Resources[i].URI)
		}
		s.Resources[i].add(server)
	}
	server.AddReceivingMiddleware(d.receive)
	return server, nil
}

// greeting is what the server says of itself when a session begins.
func (s *Server) greeting() mcp.InitializeResult {
	capabilities := &mcp.ServerCapabilities{} // nil would announce logging
	if len(s.Tools) > 0 {
		capabilities.Tools = &mcp.ToolCapabilities{}
	}
	if len(s.Resources) > 0 || s.Read != nil {
		capabilities.Resources = &mcp.ResourceCapabilities{}
	}
	return mcp.InitializeResult{
		Capabilities: capabilities, Instructions: s.Instructions,
		ServerInfo: &mcp.Implementation{Name: s.Name, Title: s.Title, Version: s.Version},
	}
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
