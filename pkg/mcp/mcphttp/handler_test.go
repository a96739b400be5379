package mcphttp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcphttp"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// patience is the longest time for which a test waits. It bounds tests that hang, not what is slow.
const patience = 5 * time.Minute

// site is a handler on a port of its own.
type site struct {
	*testing.T
	*mcphttp.Handler
	url string
	// entered receives a value when the tool wait is called, and ended why its context ended.
	entered chan struct{}
	ended   chan mcpserver.End
}

const anyArguments = `{"type":"object"}`

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{T: t, entered: make(chan struct{}, 10), ended: make(chan mcpserver.End, 10)}
	server, err := mcpserver.New(mcpserver.Config{Name: "s", ToolsChange: true, Tools: []mcpserver.Tool{{
		Name: "echo", Description: "echo", InputSchema: json.RawMessage(anyArguments),
		Call: func(_ context.Context, c *mcpserver.Call) *mcpserver.Result {
			c.Progress(1, 2, "half")
			return &mcpserver.Result{Structured: c.Arguments}
		},
	}, {
		Name: "wait", Description: "wait", InputSchema: json.RawMessage(anyArguments),
		Call: func(ctx context.Context, c *mcpserver.Call) *mcpserver.Result {
			c.Progress(1, 2, "begun")
			s.entered <- struct{}{}
			<-ctx.Done()
			s.ended <- mcpserver.WhyEnded(ctx)
			return &mcpserver.Result{Structured: json.RawMessage(`{"handed":"over"}`), IsError: true}
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	client := &mcphttp.Client{Server: server}
	s.Handler = mcphttp.New(mcphttp.Config{
		Name: "s", Version: "1", Description: "d",
		Client: func(*http.Request) (*mcphttp.Client, error) { return client, nil },
		Health: func(*http.Request) (*mcphttp.Client, error) { return client, nil },
	})
	web := httptest.NewServer(s.Handler)
	t.Cleanup(web.Close)
	s.url = web.URL
	return s
}

// answer is what a request was answered with.
type answer struct {
	status int
	header http.Header
	body   string
}

// do sends a request with headers in pairs.
func (s *site) do(method, body string, headers ...string) answer {
	s.Helper()
	response := s.begin(s.Context(), method, body, headers...)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(text)}
}

func (s *site) begin(ctx context.Context, method, body string, headers ...string) *http.Response {
	s.Helper()
	request, err := http.NewRequestWithContext(ctx, method, s.url, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	return response
}

func callOf(id, tool, meta string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":{"a":9007199254740993}` + meta + `}}`
}

const withToken = `,"_meta":{"progressToken":"p"}`

// TestFormByAccept holds that the client chooses between JSON and a stream.
func TestFormByAccept(t *testing.T) {
	s := newSite(t)
	for _, tc := range []struct{ accept, meta, kind string }{
		{"", "", "application/json"},
		{"*/*", "", "application/json"},
		{"*/*", withToken, "application/json"},
		{"application/json", withToken, "application/json"},
		{"text/event-stream", "", "text/event-stream"},
		{"text/event-stream;charset=utf-8", withToken, "text/event-stream"},
		{"application/json, text/event-stream", "", "application/json"},
		{"application/json, text/event-stream", withToken, "text/event-stream"},
		{"text/event-stream;q=0, application/json", withToken, "application/json"},
		{"application/json;q=0, text/event-stream", "", "text/event-stream"},
	} {
		headers := []string{"Accept", tc.accept}
		if tc.accept == "" {
			headers = nil
		}
		got := s.do(http.MethodPost, callOf("1", "echo", tc.meta), headers...)
		if kind := got.header.Get("Content-Type"); got.status != 200 || kind != tc.kind {
			t.Errorf("Accept %q, meta %q: %d %s", tc.accept, tc.meta, got.status, kind)
		}
		if !strings.Contains(got.body, "9007199254740993") {
			t.Errorf("Accept %q: %s", tc.accept, got.body)
		}
		progress := strings.Contains(got.body, `"notifications/progress"`)
		if want := tc.kind == "text/event-stream" && tc.meta != ""; progress != want {
			t.Errorf("Accept %q, meta %q: progress %v", tc.accept, tc.meta, progress)
		}
	}
	if got := s.do(http.MethodPost, callOf("1", "echo", ""), "Accept", "text/html"); got.status != http.StatusNotAcceptable {
		t.Errorf("Accept text/html: %d %s", got.status, got.body)
	}
}

// TestRefusals holds that whatever is refused is an error of JSON-RPC with the right code, under its id if that can be read.
func TestRefusals(t *testing.T) {
	s := newSite(t)
	for name, tc := range map[string]struct {
		body    string
		headers []string
		status  int
		code    int64
		id      string
	}{
		"no JSON":               {`{"jsonrpc":`, nil, 400, -32700, "null"},
		"no body":               {``, nil, 400, -32700, "null"},
		"no UTF-8":              {"\"\xff\"", nil, 400, -32700, "null"},
		"no message":            {`{"id":1,"method":"ping"}`, nil, 400, -32600, "1"},
		"not an object":         {`7`, nil, 400, -32600, "null"},
		"an id that is null":    {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, nil, 400, -32600, "null"},
		"an id that is too big": {`{"jsonrpc":"2.0","id":9007199254740993000,"method":"ping"}`, nil, 400, -32600, "9007199254740993000"},
		"an empty batch":        {`[]`, nil, 400, -32600, "null"},
		"a batch, twice an id":  {`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`, nil, 400, -32600, "1"},
		"a batch of today":      {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, []string{"MCP-Protocol-Version", "2025-11-25"}, 400, -32600, "null"},
		"a long batch":          {"[" + strings.Repeat(`{"jsonrpc":"2.0","method":"x"},`, 50) + `{"jsonrpc":"2.0","method":"x"}]`, nil, 400, -32600, "null"},
		"deep":                  {`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}", nil, 400, -32600, "1"},
		"unknown method":        {`{"jsonrpc":"2.0","id":"a","method":"nope"}`, nil, 200, -32601, `"a"`},
		"unknown method, 2026":  {`{"jsonrpc":"2.0","id":1,"method":"nope","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "nope"}, 404, -32601, "1"},
		"missing params":        {`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, nil, 200, -32602, "1"},
		"params of a type":      {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`, nil, 200, -32602, "1"},
		"params in a stream":    {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`, []string{"Accept", "text/event-stream"}, 200, -32602, "1"},
		"unknown tool":          {callOf("1", "nope", ""), nil, 200, -32602, "1"},
		"unknown revision":      {`{"jsonrpc":"2.0","id":1,"method":"ping"}`, []string{"MCP-Protocol-Version", "1999-01-01"}, 400, -32022, "1"},
		"another type":          {`{}`, []string{"Content-Type", "text/plain"}, 415, -32600, "null"},
		"compressed":            {`{}`, []string{"Content-Encoding", "gzip"}, 415, -32600, "null"},
		"too long":              {`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 5<<20) + `"}`, nil, 413, -32600, "null"},
	} {
		got := s.do(http.MethodPost, tc.body, tc.headers...)
		text := got.body
		if _, event, ok := strings.Cut(text, "data: "); ok {
			text = event
		}
		if got.status != tc.status || gjson.Get(text, "error.code").Int() != tc.code || gjson.Get(text, "id").Raw != tc.id {
			t.Errorf("%s: %d %.300s", name, got.status, got.body)
		}
		for _, inside := range []string{"*mcp.", "json:", "Go value"} {
			if strings.Contains(text, inside) {
				t.Errorf("%s: the error shows %q: %s", name, inside, text)
			}
		}
	}
}

// TestMethods holds what the endpoint does with methods except POST, and with notifications.
func TestMethods(t *testing.T) {
	s := newSite(t)
	health := s.do(http.MethodGet, "", "Accept", "text/html, */*;q=0.8")
	for path, want := range map[string]string{"name": "s", "version": "1", "description": "d", "protocolVersion": "2026-07-28", "tools.0": "echo", "tools.1": "wait"} {
		if got := gjson.Get(health.body, path).Str; health.status != 200 || got != want {
			t.Errorf("health: %s is %q: %d %s", path, got, health.status, health.body)
		}
	}
	for _, tc := range []struct {
		method string
		accept string
		status int
	}{
		{http.MethodGet, "text/event-stream", 405}, {http.MethodGet, "application/json, text/event-stream", 405}, {http.MethodHead, "", 200},
		{http.MethodDelete, "", 405}, {http.MethodPut, "", 405}, {http.MethodOptions, "", 204},
	} {
		got := s.do(tc.method, "", "Accept", tc.accept)
		if got.status != tc.status || got.status != 200 && got.header.Get("Allow") != "GET, HEAD, OPTIONS, POST" {
			t.Errorf("%s, Accept %q: %d %v", tc.method, tc.accept, got.status, got.header)
		}
	}
	for _, body := range []string{
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}`,
		`{"jsonrpc":"2.0","method":"nothing/known"}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
		`[{"jsonrpc":"2.0","method":"notifications/initialized"}]`,
	} {
		if got := s.do(http.MethodPost, body); got.status != http.StatusAccepted || got.body != "" {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
}

// TestWhyCallsEnd holds that a call knows whether its client cancelled it, went away, or the server stops.
func TestWhyCallsEnd(t *testing.T) {
	const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c","reason":"REASON"}}`
	for name, tc := range map[string]struct {
		end  func(s *site, leave context.CancelFunc)
		want mcpserver.End
	}{
		"cancelled": {func(s *site, _ context.CancelFunc) { s.do(http.MethodPost, cancel, inSession...) }, mcpserver.Cancelled},
		"waited": {func(s *site, _ context.CancelFunc) {
			s.do(http.MethodPost, strings.Replace(cancel, "REASON", "Request timed out", 1), inSession...)
		}, mcpserver.Gone},
		"disconnected": {func(_ *site, leave context.CancelFunc) { leave() }, mcpserver.Gone},
		"stopping":     {func(s *site, _ context.CancelFunc) { s.Drain(0).End() }, mcpserver.Stopping},
	} {
		for _, form := range []string{"application/json", "text/event-stream"} {
			s := newSite(t)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			go func() {
				request, _ := http.NewRequestWithContext(ctx, http.MethodPost, s.url, strings.NewReader(callOf(`"c"`, "wait", withToken)))
				request.Header.Set("Content-Type", "application/json")
				request.Header.Set("Accept", form)
				request.Header.Set(inSession[0], inSession[1])
				if response, err := http.DefaultClient.Do(request); err == nil {
					_, _ = io.Copy(io.Discard, response.Body)
					_ = response.Body.Close()
				}
			}()
			<-s.entered
			tc.end(s, leave)
			select {
			case got := <-s.ended:
				if got != tc.want {
					t.Errorf("%s, %s: ended because %q", name, form, got)
				}
			case <-time.After(patience):
				t.Fatalf("%s, %s: the call did not end", name, form)
			}
		}
	}
}

// inSession is the header of requests in a session that the server has not begun: it may have been another one.
var inSession = []string{"Mcp-Session-Id", "s"}

// TestCancellationMeansOneCall holds that a cancellation ends the call of its session, and none if it has no session or could mean two.
func TestCancellationMeansOneCall(t *testing.T) {
	s := newSite(t)
	begin := func(session ...string) (leave func()) {
		ctx, cancel := context.WithCancel(t.Context())
		response := s.begin(ctx, http.MethodPost, callOf("1", "wait", withToken), append(session, "Accept", "text/event-stream")...)
		<-s.entered
		return func() { cancel(); _ = response.Body.Close() }
	}
	in := func(session string) []string { return []string{"Mcp-Session-Id", session} }
	const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	none, foreign, first, second := begin(), begin(in("a")...), begin(in("b")...), begin(in("b")...)
	defer none()
	defer foreign()
	s.do(http.MethodPost, cancel)                                      // says nobody's
	s.do(http.MethodPost, cancel, in("b")...)                          // may mean two
	s.do(http.MethodPost, cancel, in("c")...)                          // means none
	stateless := append(in("a"), "MCP-Protocol-Version", "2026-07-28") // has no sessions
	s.do(http.MethodPost, cancel, stateless...)
	first()
	if got := <-s.ended; got != mcpserver.Gone {
		t.Fatalf("a call ended because %q", got)
	}
	for { // until the call that was left is forgotten, the cancellation may mean two
		s.do(http.MethodPost, cancel, in("b")...)
		select {
		case got := <-s.ended:
			if got != mcpserver.Cancelled {
				t.Fatalf("a call ended because %q", got)
			}
			second()
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// TestSessionsBegin holds that initialize, and nothing else, gives a client the id of a session, another one each time.
func TestSessionsBegin(t *testing.T) {
	s := newSite(t)
	initialize := func(revision string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + revision + `","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	}
	seen := map[string]bool{}
	for _, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
		for _, accept := range []string{"application/json", "text/event-stream"} {
			got := s.do(http.MethodPost, initialize(revision), "Accept", accept)
			id := got.header.Get("Mcp-Session-Id")
			if got.status != http.StatusOK || len(id) < 26 || seen[id] {
				t.Errorf("%s, %s: %d, session %q", revision, accept, got.status, id)
			}
			seen[id] = true
			if next := s.do(http.MethodPost, callOf("2", "echo", ""), "Mcp-Session-Id", id, "MCP-Protocol-Version", revision); next.status != http.StatusOK || next.header.Get("Mcp-Session-Id") != "" {
				t.Errorf("%s, %s: in the session: %d %v", revision, accept, next.status, next.header)
			}
		}
	}
	for name, body := range map[string]string{
		"another request": callOf("1", "echo", ""), "a notification": `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		"initialize without params": `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, "initialize with params of a type": `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":7}}`,
	} {
		if got := s.do(http.MethodPost, body); got.header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%s begins a session: %d %v %s", name, got.status, got.header, got.body)
		}
	}
	if got := s.do(http.MethodDelete, "", inSession...); got.status != http.StatusMethodNotAllowed {
		t.Errorf("the end of a session: %d", got.status)
	}
}

// TestSubscriptionIsHeldOpen holds that the stream of subscriptions/listen begins at once, brings changes, and ends first when the
// server stops.
func TestSubscriptionIsHeldOpen(t *testing.T) {
	s := newSite(t)
	const listen = `{"jsonrpc":"2.0","id":5,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	headers := []string{"Accept", "application/json, text/event-stream", "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen"}
	response := s.begin(t.Context(), http.MethodPost, listen, headers...)
	defer func() { _ = response.Body.Close() }()
	if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatalf("%d %s", response.StatusCode, kind)
	}
	s.Drain(time.Minute).Begin()
	rest, err := io.ReadAll(bufio.NewReader(response.Body))
	if err != nil {
		t.Errorf("%v after %s", err, rest)
	}
}

// TestStreamBeginsEarly holds that a stream begins before its first event, so that clients and proxies wait no longer.
func TestStreamBeginsEarly(t *testing.T) {
	s := newSite(t)
	response := s.begin(t.Context(), http.MethodPost, callOf("1", "wait", ""), "Accept", "text/event-stream")
	defer func() { _ = response.Body.Close() }()
	line, err := bufio.NewReader(response.Body).ReadString('\n')
	if err != nil || line != ": ok\n" || response.Header.Get("X-Accel-Buffering") != "no" {
		t.Errorf("%q %v %v", line, err, response.Header)
	}
}

// TestServeDrains holds that a server that stops lets calls end by themselves, and then has them hand over.
func TestServeDrains(t *testing.T) {
	s := newSite(t)
	listener, err := mcphttp.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.url = "http://" + listener.Addr().String()
	ctx, stop := context.WithCancelCause(t.Context())
	served := make(chan error, 1)
	go func() { served <- mcphttp.Serve(ctx, listener, s.Handler, s.Drain(time.Millisecond), discard()) }()
	answered := make(chan answer, 1)
	go func() { answered <- s.do(http.MethodPost, callOf("1", "wait", "")) }()
	<-s.entered
	stop(net.ErrClosed)
	if got := <-answered; gjson.Get(got.body, "result.structuredContent.handed").Str != "over" {
		t.Errorf("%d %s", got.status, got.body)
	}
	if err := <-served; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve = %v", err)
	}
}
