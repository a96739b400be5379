// Package mcpserver serves a table of tools, prompts and resources to MCP clients, of every protocol revision from 2024-11-05 to
// 2026-07-28, over any transport of the MCP SDK.
//
// The SDK speaks the protocol. This package adds, above the transport, what the SDK leaves to its users: a call's
// arguments are checked before its handler sees them and reach it in the client's own bytes, errors have the protocol's
// codes, a handler that panics fails one call, calls can be limited, and the context of a call says why it ended. How
// messages are framed, and what counts as one, is the transport's business: see package stdio.
package mcpserver

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Config is what a Server serves, and how.
type Config struct {
	Name, Title, Version string
	// Instructions tell the client's model what the server is for and how its tools go together.
	Instructions string
	// Tools, Prompts and Resources are the table that the server begins with. Tools and prompts are listed in the order of
	// their names.
	Tools     []Tool
	Prompts   []Prompt
	Resources []Resource
	// ToolsChange, PromptsChange and ResourcesChange announce to clients that the lists may change while the server serves,
	// and have every change notified (such as notifications/tools/list_changed). A burst of changes within some milliseconds
	// is one notification.
	ToolsChange, PromptsChange, ResourcesChange bool
	// Methods answer requests with methods that MCP does not have. The key is the name of the method.
	Methods map[string]Method
	// Tasks are the calls that go on as tasks; nil if no call does.
	Tasks Tasks
	// Read returns the content of any URI, whether it is listed or not, and replaces the Read of each resource. If it is
	// nil, each resource needs a Read. Its errors are those of Resource.Read.
	Read func(ctx context.Context, uri string) (*Content, error)
	// Unknown answers the call of a tool that is not one of Tools. The client receives an *Error as it is, and any other
	// error as a fault: a fault that is not_found or a wrong usage has the code -32602, any other -32603. If Unknown or its
	// error is nil, the answer is -32602 with the names of the tools. The call's arguments are not checked: they can be nil,
	// null or a value that is not an object.
	Unknown func(ctx context.Context, call *Call) error
	// CachePolicy returns how long a client may keep the answer to a method, and whether the answer is for this client's
	// user alone. It is called for tools/list, prompts/list, resources/list, resources/templates/list and server/discover
	// of revision 2026-07-28 and later, and must not block. If it is nil, answers are for everyone and must not be kept.
	CachePolicy func(method string) (ttl time.Duration, private bool)
	// MaxCalls is how many tool calls run at the same time, in all sessions together, while others wait; 0 sets no limit.
	MaxCalls int
	// Log receives what the protocol has to report to people; nil discards it.
	Log *slog.Logger
	// Refuse makes the result of a call that did not reach its handler, or whose handler panicked. The default result is the
	// document {"success":false,"error":FAULT}. Before revision 2025-11-25, arguments that do not match the schema are an
	// error of the protocol instead, with the code -32602 and the fault as its data.
	Refuse func(tool string, f *fault.Fault) *Result
}

// Server serves one table to any number of sessions. New makes one.
type Server struct {
	config   Config
	log      *slog.Logger
	sdk      *mcp.Server
	table    table
	slots    chan struct{}        // one for each call that may run; nil without a limit
	greeting mcp.InitializeResult // without a revision

	mu       sync.Mutex
	sessions map[*session]struct{} // begun by Serve
}

// grace is how long calls have to answer after their session was stopped. Their processes end meanwhile, which takes a while on a busy
// machine.
const grace = time.Second

// New makes a server. A table that cannot be served is an internal fault.
func New(config Config) (*Server, error) {
	s := &Server{
		config: config, log: config.Log, greeting: config.greeting(),
		table: table{tools: map[string]*entry{}, prompts: map[string]*promptEntry{}}, sessions: map[*session]struct{}{},
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if config.MaxCalls > 0 {
		s.slots = make(chan struct{}, config.MaxCalls)
	}
	s.sdk = mcp.NewServer(s.greeting.ServerInfo, &mcp.ServerOptions{
		Instructions: config.Instructions, Logger: s.log, Capabilities: s.greeting.Capabilities, SetCacheable: s.setCacheable,
	})
	s.sdk.AddReceivingMiddleware(s.receive)
	if err := s.addMethods(); err != nil {
		return nil, err
	}
	if err := s.AddTools(config.Tools...); err != nil {
		return nil, err
	}
	if len(s.table.tools) < len(config.Tools) {
		return nil, fault.New(fault.Internal, "the table of tools cannot be served: two tools have the same name")
	}
	if err := s.AddPrompts(config.Prompts...); err != nil {
		return nil, err
	}
	if len(s.table.prompts) < len(config.Prompts) {
		return nil, fault.New(fault.Internal, "the table of prompts cannot be served: two prompts have the same name")
	}
	if err := s.AddResources(config.Resources...); err != nil {
		return nil, err
	}
	return s, nil
}

// greeting is what the server says about itself when a session begins.
func (c *Config) greeting() mcp.InitializeResult {
	capabilities := &mcp.ServerCapabilities{} // nil would announce logging
	if len(c.Tools) > 0 || c.ToolsChange {
		capabilities.Tools = &mcp.ToolCapabilities{ListChanged: c.ToolsChange}
	}
	if len(c.Prompts) > 0 || c.PromptsChange {
		capabilities.Prompts = &mcp.PromptCapabilities{ListChanged: c.PromptsChange}
	}
	if len(c.Resources) > 0 || c.Read != nil || c.ResourcesChange {
		capabilities.Resources = &mcp.ResourceCapabilities{ListChanged: c.ResourcesChange}
	}
	if c.Tasks != nil {
		capabilities.AddExtension(TasksExtension, nil)
	}
	return mcp.InitializeResult{
		Capabilities: capabilities, Instructions: c.Instructions,
		ServerInfo: &mcp.Implementation{Name: c.Name, Title: c.Title, Version: c.Version},
	}
}

// SDK returns the SDK's server, for transports that connect to it themselves, such as mcp.StreamableHTTPHandler. Their
// sessions follow the same rules, with three exceptions: requests that the SDK refuses before a handler sees them keep
// the SDK's errors, a cancellation has no reason and so is always Cancelled, and the sessions end only by their transport.
// A transport that serves one session, such as mcp.StreamableServerTransport, has no exceptions if Serve serves it.
func (s *Server) SDK() *mcp.Server { return s.sdk }

// Serve serves one client over a transport and closes the transport at the end. It may be called several times at once,
// with a transport each: what happens to one session does not touch the others.
//
// When the client goes away, the contexts of its calls end, and Serve returns nil after the last of them; it does not
// wait long for calls that the client has cancelled. When ctx ends, Serve accepts no more requests, ends the contexts of the
// session's calls, gives them a moment to answer and returns the cause of ctx. It answers a call that ignores its
// context with an error and does not wait for it. Any other error means that the transport failed.
func (s *Server) Serve(ctx context.Context, transport mcp.Transport) error {
	client := newSession(ctx, transport, s)
	connected, err := s.sdk.Connect(context.WithValue(ctx, sessionKey{}, client), client, nil)
	if err != nil {
		if f, ok := errors.AsType[*fault.Fault](err); ok {
			return f
		}
		return fault.New(fault.Internal, "serving could not begin: %v", err)
	}
	defer func() { _ = client.Close() }()
	defer s.enrol(client, connected)()
	ended := make(chan error, 1)
	go func() { ended <- connected.Wait() }()

	gone, stopped := client.gone, ctx.Done()
	var patience <-chan time.Time
	for {
		select {
		case err := <-ended:
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return err
		case <-gone:
			gone, patience = nil, time.After(grace)
		case <-stopped:
			client.stop()
			gone, stopped, patience = nil, nil, time.After(grace)
		case <-patience:
			if ctx.Err() != nil {
				client.abandon()
				return context.Cause(ctx)
			}
			if client.onlyCancelled() {
				return nil
			}
		}
	}
}

// enrol adds a session to those of the server, until leave is called.
func (s *Server) enrol(client *session, connected *mcp.ServerSession) (leave func()) {
	client.sdk = connected
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[client] = struct{}{}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.sessions, client)
	}
}
