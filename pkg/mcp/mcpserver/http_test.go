package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// TestOverStreamableHTTP holds that the rules above the transport hold where the SDK connects the clients.
func TestOverStreamableHTTP(t *testing.T) {
	checked := mcpserver.Tool{Name: "checked", InputSchema: json.RawMessage(describeSchema), Call: func(_ context.Context, c *mcpserver.Call) *mcpserver.Result {
		return &mcpserver.Result{Structured: c.Arguments}
	}}
	crash := tool("crash", func(context.Context, *mcpserver.Call) *mcpserver.Result { panic("ouch") })
	for name, tc := range map[string]struct {
		stateless bool
		revision  string
	}{
		"stateless": {true, "2026-07-28"},
		"stateful":  {false, "2025-11-25"},
	} {
		waiting, entered, ended := watch()
		s := newServer(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{checked, crash, waiting}, Resources: library()})
		handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.SDK() }, &mcp.StreamableHTTPOptions{Stateless: tc.stateless})
		web := httptest.NewServer(handler)
		defer web.Close()
		client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil)
		session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: web.URL}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := session.InitializeResult().ProtocolVersion; got != tc.revision {
			t.Errorf("%s: revision %s", name, got)
		}
		for _, call := range []struct {
			tool, arguments, path, want string
		}{
			{"checked", `{"name":"a","limit":9007199254740993}`, "structuredContent.name", "a"},
			{"checked", `{}`, "structuredContent.error.type", "usage_error"},
			{"crash", `{}`, "structuredContent.error.type", "internal_error"},
		} {
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: call.tool, Arguments: json.RawMessage(call.arguments)})
			if err != nil {
				t.Fatal(err)
			}
			encoded, _ := json.Marshal(result)
			if got := gjson.GetBytes(encoded, call.path).Str; got != call.want {
				t.Errorf("%s: %s of %s: %s", name, call.tool, call.arguments, encoded)
			}
		}
		_, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "chequed"})
		if e, ok := errors.AsType[*jsonrpc.Error](err); !ok || e.Code != -32602 || gjson.GetBytes(e.Data, "type").Str != "not_found" {
			t.Errorf("%s: unknown tool: %v", name, err)
		}
		_, err = session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "lib://books/2"})
		if e, ok := errors.AsType[*jsonrpc.Error](err); !ok || (e.Code == -32602) != tc.stateless {
			t.Errorf("%s: unknown resource: %v", name, err)
		}
		if !tc.stateless { // with sessions a client can cancel
			ctx, cancel := context.WithCancel(t.Context())
			answered := make(chan error, 1)
			go func() {
				_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "wait"})
				answered <- err
			}()
			<-entered
			cancel()
			if got := mcpserver.WhyEnded(<-ended); got != mcpserver.Cancelled {
				t.Errorf("%s: cancelled: %q", name, got)
			}
			<-answered
		}
		_ = session.Close()
	}
}

// connecting is a transport that closes ready when it is connected.
type connecting struct {
	*mcp.StreamableServerTransport
	ready chan struct{}
}

func (c connecting) Connect(ctx context.Context) (mcp.Connection, error) {
	defer close(c.ready)
	return c.StreamableServerTransport.Connect(ctx)
}

// ending is a context that ends with an error when done is closed.
type ending struct {
	context.Context
	done chan struct{}
	err  error
}

func (e ending) Done() <-chan struct{} { return e.done }

func (e ending) Err() error {
	select {
	case <-e.done:
		return e.err
	default:
		return nil
	}
}

// TestServeOverStreamableHTTP holds that an HTTP session can be served as any other transport: then a cancellation keeps
// its reason, and the errors that the SDK makes have codes.
func TestServeOverStreamableHTTP(t *testing.T) {
	waiting, entered, ended := watch()
	s := newServer(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{waiting, echo()}})
	transport := connecting{&mcp.StreamableServerTransport{SessionID: "one"}, make(chan struct{})}
	ctx, stop := context.WithCancelCause(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, transport) }()
	<-transport.ready
	web := httptest.NewServer(transport.StreamableServerTransport)
	defer web.Close()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: web.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo"}); err != nil || result.IsError {
		t.Errorf("%+v, %v", result, err)
	}
	for want, reason := range map[mcpserver.End]error{mcpserver.Gone: context.DeadlineExceeded, mcpserver.Cancelled: context.Canceled} {
		ctx := ending{t.Context(), make(chan struct{}), reason} // the SDK's client sends the reason
		answered := make(chan error, 1)
		go func() {
			_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "wait"})
			answered <- err
		}()
		<-entered
		close(ctx.done)
		if got := mcpserver.WhyEnded(<-ended); got != want {
			t.Errorf("ended because %q, not %q", got, want)
		}
		<-answered
	}
	stopped := errors.New("stopped")
	stop(stopped)
	if err := <-served; !errors.Is(err, stopped) {
		t.Errorf("Serve = %v", err)
	}
	_ = session.Close()
}
