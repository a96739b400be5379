package mcpclient

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// serveHTTP serves the SDK's fake over streamable HTTP to clients that send the token.
func serveHTTP(t *testing.T, options *mcp.StreamableHTTPOptions) Spec {
	t.Helper()
	fake := sdkServer()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return fake }, options)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer let-me-in" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return Spec{Name: "web", Server: Server{URL: server.URL + "/mcp?key=secret", Headers: map[string]string{"Authorization": "Bearer let-me-in"}}}
}

func TestHTTP(t *testing.T) {
	for name, options := range map[string]*mcp.StreamableHTTPOptions{
		"stateful": {}, "stateless": {Stateless: true}, "json": {JSONResponse: true},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Connect(t.Context(), serveHTTP(t, options))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			tools, err := s.Tools(t.Context())
			if err != nil || len(tools) != 6 {
				t.Fatalf("%d tools, %v", len(tools), err)
			}
			answer, err := s.Call(t.Context(), "echo", json.RawMessage(`{"zebra":9007199254740993,"apple":"a"}`), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(answer.Result(nil)); got != `{"zebra":9007199254740993,"apple":"a"}` {
				t.Errorf("result is %s", got)
			}
			var progress []float64
			if _, err := s.Call(t.Context(), "count", nil, func(done, _ float64, _ string) { progress = append(progress, done) }); err != nil {
				t.Fatal(err)
			}
			if name != "json" && (len(progress) != 20 || !slices.IsSorted(progress)) {
				t.Errorf("progress %v", progress)
			}
			if answer, err = s.Call(t.Context(), "large", nil, nil); err != nil {
				t.Fatal(err)
			}
			if got := len(answer.Result(nil)); got != 4<<20+2 {
				t.Errorf("the large result has %d bytes", got)
			}
			_, err = s.Call(t.Context(), "nowhere", nil, nil)
			if f := asFault(t, err); f.Message != "Tool nowhere not found on server web" {
				t.Errorf("fault is %q", f.Message)
			}
		})
	}
}

func TestHTTPFaults(t *testing.T) {
	tests := []struct {
		status    int
		typ       fault.Type
		words     string
		retryable bool
	}{
		{401, fault.Execution, "Authentication failed", false},
		{403, fault.Execution, "Access forbidden", false},
		{404, fault.Execution, "endpoint not found", false},
		{405, fault.Execution, "takes no MCP requests", false},
		{418, fault.Protocol, "HTTP 418", false},
		{429, fault.RateLimited, "Rate limited", true},
		{500, fault.Unavailable, "HTTP 500", false},
		{503, fault.Unavailable, "HTTP 503", true},
	}
	for _, tt := range tests {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(tt.status) }))
		_, err := Connect(t.Context(), Spec{Name: "web", Server: Server{URL: server.URL}})
		f := asFault(t, err)
		if f.Type != tt.typ || !strings.Contains(f.Message, tt.words) || f.Retryable != tt.retryable || f.Details["http_status"] != tt.status {
			t.Errorf("HTTP %d is %s %q, retryable %v, details %v", tt.status, f.Type, f.Message, f.Retryable, f.Details)
		}
		server.Close()
		if tt.status != 503 {
			continue
		}
		_, err = Connect(t.Context(), Spec{Name: "web", Server: Server{URL: server.URL + "/mcp?key=secret"}})
		if f := asFault(t, err); f.Type != fault.Unavailable || !f.Retryable ||
			!strings.HasPrefix(f.Message, "Could not connect to MCP server at "+server.URL+"/mcp:") || strings.Contains(f.Message, "secret") {
			t.Errorf("a server that is away: %s %q", f.Type, f.Message)
		}
	}
}

func TestHTTPSessionThatExpired(t *testing.T) {
	expired := false
	fake := sdkServer()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return fake }, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if expired {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	defer server.Close()
	s, err := Connect(t.Context(), Spec{Name: "web", Server: Server{URL: server.URL}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	expired = true
	_, err = s.Call(t.Context(), "echo", nil, nil)
	if f := asFault(t, err); !strings.HasPrefix(f.Message, "Session expired") || !s.Dead() {
		t.Errorf("fault is %q, dead %v", f.Message, s.Dead())
	}
}

func TestHeadersStayWithTheirServer(t *testing.T) {
	var got string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("X-Api-Key") + "|"
		w.WriteHeader(http.StatusTeapot)
	}))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	_, err := Connect(t.Context(), Spec{Name: "web", Server: Server{URL: server.URL, Headers: map[string]string{"X-Api-Key": "secret"}}})
	if got != "|" {
		t.Errorf("the server redirected to got %q (%v)", got, err)
	}
}
