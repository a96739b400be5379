package veloflux

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/internal/velofluxserver"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// TestRecordedExchanges makes each recorded request that this client can make, and compares the result with the recorded
// response.
func TestRecordedExchanges(t *testing.T) {
	recorded := velofluxserver.Recorded(t)
	var now *velofluxserver.Exchange
	var last string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if now == nil && r.Method == http.MethodGet { // after a refused create: was a record kept?
			if kept := recordKept(last); kept && !strings.HasSuffix(r.URL.Path, "/explain") {
				id, _ := url.PathUnescape(strings.TrimPrefix(r.URL.EscapedPath(), "/pipelines/"))
				_, _ = io.WriteString(w, `{"id":`+string(rawjson.Quote(id))+`,"status":"stopped","spec":{}}`)
				return
			}
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, "pipeline x not found")
			return
		}
		if now == nil || r.Method != now.Request.Method || r.RequestURI != now.Request.Path || string(body) != text(now.Request.Body) ||
			now.Request.Body != nil && r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: the client asks %s %s %.200s", now.Name, r.Method, r.RequestURI, body)
		}
		for name, value := range now.Response.Headers {
			if name == "content-type" {
				w.Header().Set(name, value)
			}
		}
		w.WriteHeader(now.Response.Status)
		_, _ = io.WriteString(w, now.Response.Body)
		now = nil
	}))
	defer s.Close()
	m, err := NewManager(Config{URL: s.URL, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	replayed := 0
	for _, r := range recorded {
		ask := asking(m, &r)
		if ask == nil {
			continue
		}
		replayed++
		now, last = &r, r.Name
		got, err := ask(t.Context())
		if now != nil {
			t.Errorf("%s: nothing was asked: %v", r.Name, err)
			now = nil
			continue
		}
		checkReplayed(t, &r, got, err)
	}
	if replayed < 110 {
		t.Errorf("only %d exchanges were replayed", replayed)
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// asking returns the client's call that makes a recorded request, or nil if it cannot make it.
func asking(m *Manager, r *velofluxserver.Exchange) func(context.Context) ([]byte, error) {
	path, query, _ := strings.Cut(r.Request.Path, "?")
	part := strings.Split(path, "/")[1:]
	name := func(i int) string {
		decoded, _ := url.PathUnescape(part[i])
		return decoded
	}
	route := r.Request.Method + " " + part[0]
	if len(part) > 2 {
		route += "/" + part[len(part)-1]
	}
	whole := func(f func(context.Context) (json.RawMessage, error)) func(context.Context) ([]byte, error) {
		return func(ctx context.Context) ([]byte, error) { b, err := f(ctx); return b, err }
	}
	switch {
	case r.Request.Path == "/functions" && r.Request.Method == "GET":
		return whole(m.Functions)
	case r.Request.Path == "/streams" && r.Request.Method == "GET":
		return whole(m.Streams)
	case r.Request.Path == "/pipelines" && r.Request.Method == "GET":
		return whole(m.Pipelines)
	case r.Request.Path == "/capabilities/syntax" && r.Request.Method == "GET":
		return whole(m.Syntax)
	case r.Request.Path == "/pipelines" && r.Request.Method == "POST":
		if body := text(r.Request.Body); json.Valid([]byte(body)) && body[0] == '{' && r.Request.Headers["Content-Type"] == "application/json" && r.Name != "create-emptyid-400" && r.Name != "create-emptysql-400" { // those two are refused here
			return whole(func(ctx context.Context) (json.RawMessage, error) {
				return m.CreatePipeline(ctx, json.RawMessage(body))
			})
		}
	case len(part) == 3 && part[1] == "describe" && part[2] != "" && r.Request.Method == "GET":
		f := map[string]func(context.Context, string) (json.RawMessage, error){"streams": m.DescribeStream, "functions": m.DescribeFunction}[part[0]]
		return whole(func(ctx context.Context) (json.RawMessage, error) { return f(ctx, name(2)) })
	case route == "GET pipelines/explain":
		return func(ctx context.Context) ([]byte, error) { s, err := m.Explain(ctx, name(1)); return []byte(s), err }
	case route == "GET pipelines/stats":
		ms, _ := strconv.Atoi(strings.TrimPrefix(query, "timeout_ms="))
		return whole(func(ctx context.Context) (json.RawMessage, error) {
			return m.PipelineStats(ctx, name(1), time.Duration(ms)*time.Millisecond)
		})
	case len(part) == 2 && route == "GET pipelines":
		return whole(func(ctx context.Context) (json.RawMessage, error) { return m.Pipeline(ctx, name(1)) })
	case len(part) == 2 && route == "DELETE pipelines":
		return func(ctx context.Context) ([]byte, error) {
			return []byte(r.Response.Body), m.DeletePipeline(ctx, name(1))
		}
	}
	return nil
}

// recordKept reports whether the Manager kept a record after a recorded create that it refused.
func recordKept(name string) bool {
	return name == "create-bad-sinktype-400" || name == "create-mqtt-notopic-400" || name == "create-bad-encoder-400"
}

// recordedCode returns the code of a recorded failure, by its name if the status does not decide it.
func recordedCode(r *velofluxserver.Exchange) Code {
	switch r.Response.Status {
	case http.StatusNotFound:
		return CodeNotFound
	case http.StatusConflict:
		return CodeConflict
	case http.StatusUnprocessableEntity:
		return CodeInvalidParams
	case http.StatusRequestEntityTooLarge:
		return CodeManagerHTTP
	}
	switch r.Name {
	case "stats-stopped-400", "create-bad-sinktype-400", "create-mqtt-notopic-400", "create-bad-encoder-400":
		return CodeManagerHTTP
	case "create-nosinks-400", "create-emptysinks-400", "create-zero-capacity-400",
		"create-undeclared-instance-400":
		return CodeInvalidParams
	}
	return CodePlanner // what is left is wrong SQL
}

func checkReplayed(t *testing.T, r *velofluxserver.Exchange, got []byte, err error) {
	t.Helper()
	if r.Response.Status < 300 {
		want := r.Response.Body
		if strings.HasSuffix(r.Request.Path, "/explain") {
			want = trimmed(want)
		}
		if err != nil || !bytes.Equal(got, []byte(want)) {
			t.Errorf("%s: got %.200s %v, want %.200s", r.Name, got, err, want)
		}
		return
	}
	if err == nil {
		t.Errorf("%s: no error in place of %s", r.Name, recordedCode(r))
		return
	}
	e := AsError(err)
	if e.Code != recordedCode(r) || e.Details["status"] != r.Response.Status || !strings.Contains(e.Message, printable(r.Response.Body)) {
		t.Errorf("%s: got %+v, want %s with %d and %s", r.Name, e, recordedCode(r), r.Response.Status, r.Response.Body)
	}
	if (e.Details["record_left"] == true) != recordKept(r.Name) {
		t.Errorf("%s: %+v", r.Name, e)
	}
	if strings.Contains(r.Response.Body, " at Line: ") && (e.Details["line"] == nil || e.Details["column"] == nil) {
		t.Errorf("%s: no place in %+v", r.Name, e)
	}
}
