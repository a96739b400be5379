package veloflux

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// everyRequest has each request, as the Manager sees it, and a valid response to it.
var everyRequest = []struct {
	sees, accept, answer string
	call                 func(context.Context, *Manager) (string, error)
}{
	{"GET /streams", acceptJSON, named, raw(func(ctx context.Context, m *Manager) (json.RawMessage, error) { return m.Streams(ctx) })},
	{"GET /streams/describe/%E6%B5%81", acceptJSON, ` {"stream":"流", "spec":{"n":9007199254740993}}`, raw(func(ctx context.Context, m *Manager) (json.RawMessage, error) {
		return m.DescribeStream(ctx, "流")
	})},
	{"GET /functions", acceptJSON, named, raw(func(ctx context.Context, m *Manager) (json.RawMessage, error) { return m.Functions(ctx) })},
	{"GET /functions/describe/sum", acceptJSON, ` {"a":9007199254740993, "name":"sum", "a":1.50}`, raw(func(ctx context.Context, m *Manager) (json.RawMessage, error) {
		return m.DescribeFunction(ctx, "sum")
	})},
	{"GET /capabilities/syntax", acceptJSON, ` {"constructs":[1.50]}`, raw(func(ctx context.Context, m *Manager) (json.RawMessage, error) { return m.Syntax(ctx) })},
	{"GET /pipelines", acceptJSON, ` [{"id":"<é>", "n":1.50}]`, raw(func(ctx context.Context, m *Manager) (json.RawMessage, error) { return m.Pipelines(ctx) })},
	{"GET /pipelines/%20p", acceptJSON, `{"id":"\u0020p", "status":"stopped"} `, raw(func(ctx context.Context, m *Manager) (json.RawMessage, error) { return m.Pipeline(ctx, " p") })},
	{"GET /pipelines/p/stats", acceptJSON, ` []`, raw(func(ctx context.Context, m *Manager) (json.RawMessage, error) { return m.PipelineStats(ctx, "p", 0) })},
	{"GET /pipelines/p/stats?timeout_ms=2", acceptJSON, `[{"processor_id":"a", "stats":{"n":1.50}}] `, raw(func(ctx context.Context, m *Manager) (json.RawMessage, error) {
		return m.PipelineStats(ctx, "p", time.Millisecond+1)
	})},
	{"POST /pipelines", acceptJSON, ` {"status":"stopped","id":"a/b"}`, raw(func(ctx context.Context, m *Manager) (json.RawMessage, error) {
		return m.CreatePipeline(ctx, json.RawMessage(posted))
	})},
	{"GET /pipelines/p/explain", acceptText, aPlan, func(ctx context.Context, m *Manager) (string, error) { return m.Explain(ctx, "p") }},
	{"DELETE /pipelines/p", acceptText, " pipeline p deleted\n", func(ctx context.Context, m *Manager) (string, error) { return "", m.DeletePipeline(ctx, "p") }},
}

const (
	named  = "\n[{\"name\":\"<raw> & \\u00e9\",\"limit\":9007199254740993,\"rate\":1.50}]\n"
	posted = ` {"id":"a/b","sql":"<é>","n":9007199254740993,"id2":1.50} `
	aPlan  = "Logical Plan Explain:  \r\n  └─x   | a  \n\n  y\t\n \n\n"
)

func raw(call func(context.Context, *Manager) (json.RawMessage, error)) func(context.Context, *Manager) (string, error) {
	return func(ctx context.Context, m *Manager) (string, error) {
		body, err := call(ctx, m)
		return string(body), err
	}
}

func TestRequestsAndTheirAnswers(t *testing.T) {
	var sees, accept, contentType, body string
	var answer string
	s := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		got, _ := io.ReadAll(r.Body)
		sees, accept, contentType, body = r.Method+" "+r.RequestURI, r.Header.Get("Accept"), r.Header.Get("Content-Type"), string(got)
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write([]byte(answer))
	})
	m := managerFor(t, Config{URL: s.URL, Header: http.Header{"Content-Type": {"text/x"}}})
	for _, tc := range everyRequest {
		answer = tc.answer
		got, err := tc.call(t.Context(), m)
		want := answer
		switch {
		case strings.HasSuffix(tc.sees, "/explain"):
			want = "Logical Plan Explain:\n  └─x   | a\n\n  y"
		case strings.HasPrefix(tc.sees, "DELETE "):
			want = ""
		}
		if err != nil || got != want || sees != tc.sees || accept != tc.accept {
			t.Errorf("%s: sees %s, accept %s, got %q %v, want %q", tc.sees, sees, accept, got, err, want)
		}
		if strings.HasPrefix(sees, "POST ") && (contentType != "application/json" || body != posted) {
			t.Errorf("%s: %s %s", tc.sees, contentType, body)
		}
	}
}

func TestExplainRepairsItsText(t *testing.T) {
	s := serverOf(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("\n\r\n Logical Plan Explain: a\xffb 流\n"))
	})
	if got, err := managerFor(t, Config{URL: s.URL}).Explain(t.Context(), "p"); err != nil || got != "\n\n Logical Plan Explain: a\ufffdb 流" {
		t.Errorf("%q %v", got, err)
	}
}

func TestRequestsThatAreNotMade(t *testing.T) {
	m := managerFor(t, Config{URL: "http://127.0.0.1:1"})
	for _, body := range []string{"", "[]", "{", "null", `{"id":"`, "{\"id\":\"\xff\"}", "{} {}"} {
		if _, err := m.CreatePipeline(t.Context(), json.RawMessage(body)); failureOf(t, err).Code != CodeInvalidParams {
			t.Errorf("%q: %v", body, err)
		}
	}
	if _, err := m.PipelineStats(t.Context(), "p", -1); failureOf(t, err).Code != CodeInvalidParams {
		t.Error(err)
	}
}
