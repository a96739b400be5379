package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// protocolServer is the variable by which the test program runs as an MCP server of the SDK: the transport, stdio, stateful or
// stateless, and after a space the revision that it speaks. With tasks in place of the transport it is a taskServer.
const protocolServer = "PFLOW_TEST_MCP"

// serveProtocol serves on standard input and output, or over HTTP on a port of its own, whose URL it prints.
func serveProtocol(mode string) error {
	transport, revision, _ := strings.Cut(mode, " ")
	if transport == "tasks" {
		return serveTasks(revision)
	}
	server := newProtocolServer(revision)
	if transport == "stdio" {
		return server.Run(context.Background(), &mcp.StdioTransport{})
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/mcp\n", listener.Addr())
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: transport == "stateless"})
	return (&http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}).Serve(listener)
}

const repoForm = `{"type":"object","properties":{"repo":{"type":"string","description":"its name"},"private":{"type":"boolean"},"stars":{"type":"integer","minimum":0,"default":3}},"required":["repo"]}`

// newProtocolServer returns a server whose tools ask, log, report progress and count. Its tool unlocked is there once unlock was
// called, or from the start if the file $CALLS.unlocked exists.
func newProtocolServer(revision string) *mcp.Server {
	options := &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}, Logging: &mcp.LoggingCapabilities{}}} //nolint:staticcheck // clients of today use it
	if revision != "" {
		options.SupportedProtocolVersions = []string{revision}
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "protocol", Version: "1"}, options)
	if revision == "2026-07-28" { // the SDK would speak an earlier one too
		s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
				if method == "initialize" {
					return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "there is no handshake"}
				}
				return next(ctx, method, req)
			}
		})
	}
	object := json.RawMessage(`{"type":"object"}`)
	say := func(format string, args ...any) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
	}
	add := func(name string, handler mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, Description: "does " + name, InputSchema: object}, handler)
	}
	called := func() { // counts the calls of tools that ask
		if path := os.Getenv("CALLS"); path != "" {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err == nil {
				_, _ = f.WriteString("called\n")
				_ = f.Close()
			}
		}
	}
	ask := func(req *mcp.CallToolRequest, key, message, schema string) (*mcp.ElicitResult, *mcp.CallToolResult) {
		if given, ok := req.Params.InputResponses[key].(*mcp.ElicitResult); ok {
			return given, nil
		}
		return nil, &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{key: &mcp.ElicitParams{Message: message, RequestedSchema: json.RawMessage(schema)}}, RequestState: "asked " + key}
	}
	add("create", func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		called()
		given, wanted := ask(req, "form", "Which repository?", repoForm)
		if wanted != nil {
			return wanted, nil
		}
		content, err := json.Marshal(given.Content)
		if err != nil {
			return nil, err
		}
		return say("%s %s", given.Action, content), nil
	})
	add("both", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		called()
		var said []string
		for _, question := range []string{"First?", "Second?"} {
			given, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: question, RequestedSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)})
			if err != nil {
				return nil, err
			}
			said = append(said, fmt.Sprintf("%s %v", given.Action, given.Content["text"]))
		}
		return say("%s", strings.Join(said, ", ")), nil
	})
	add("log", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		log := slog.New(mcp.NewLoggingHandler(req.Session, &mcp.LoggingHandlerOptions{LoggerName: "disk"})) //nolint:staticcheck // clients of today use it
		log.DebugContext(ctx, "not asked for")
		log.WarnContext(ctx, "it is full", "free", 0, "password", os.Getenv("SECRET"))
		return say("logged"), nil
	})
	var count atomic.Int64
	add("count", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if token := req.Params.GetProgressToken(); token != nil {
			if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 1, Total: 2, Message: "counting"}); err != nil {
				return nil, err
			}
		}
		return say("%d", count.Add(1)), nil
	})
	unlock := func() {
		s.AddTool(&mcp.Tool{
			Name: "unlocked", Description: "is there after unlock", InputSchema: object,
			OutputSchema: json.RawMessage(`{"type":"object","properties":{"result":{"type":"integer"}},"required":["result"]}`),
		}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{StructuredContent: json.RawMessage(`{"result":42}`), Content: []mcp.Content{}}, nil
		})
	}
	add("unlock", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		unlock()
		return say("done"), nil
	})
	add("lock", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.RemoveTools("unlocked")
		return say("done"), nil
	})
	if _, err := os.Stat(os.Getenv("CALLS") + ".unlocked"); err == nil {
		unlock()
	}
	return s
}
