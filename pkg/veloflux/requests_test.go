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

// everyRequest is each request, as the Manager sees it.
var everyRequest = []struct {
	sees, accept string
	kind         string // of JSON, or text
	call         func(context.Context, *Manager) (string, error)
}{
	{"GET /streams", acceptJSON, "list", raw(func(ctx context.Context, m *Manager) (json.RawMessage, error) { return m.Streams(ctx) })},
	{"GET /streams/describe/%E6%B5%81", acceptJSON, "object", raw(func(ctx context.Context, m *Manager) (json.RawMessage, error) { return m.DescribeStream(ctx, "流") })},
	{"GET /functions", acceptJSON, "list", raw(func(ctx context.Context, m *Manager) (json.RawMessage, error) { return m.Functions(ctx) })},
	{"GET /functions/describe/sum", acceptJSON, "object", raw(func(ctx context.Context, m *Manager) (json.RawMessage, error) { return m.DescribeFunction(ctx, "sum") })},
	{"GET /capabilities/syntax", acceptJSON, "object", raw(func(ctx context.Context, m *Manager) (json.RawMessage, error) { return m.Syntax(ctx) })},
	{"GET /pipelines", acceptJSON, "list", raw(func(ctx context.Context, m *Manager) (json.RawMessage, error) { return m.Pipelines(ctx) })},
	{"GET /pipelines/%20p", acceptJSON, "object", raw(func(ctx context.Context, m *Manager) (json.RawMessage, error) { return m.Pipeline(ctx, " p") })},
	{"GET /pipelines/p/stats", acceptJSON, "list", raw(func(ctx context.Context, m *Manager) (json.RawMessage, error) { return m.PipelineStats(ctx, "p", 0) })},
	{"GET /pipelines/p/stats?timeout_ms=2", acceptJSON, "list", raw(func(ctx context.Context, m *Manager) (json.RawMessage, error) {
		return m.PipelineStats(ctx, "p", time.Millisecond+1)
	})},
	{"POST /pipelines", acceptJSON, "object", raw(func(ctx context.Context, m *Manager) (json.RawMessage, error) {
		return m.CreatePipeline(ctx, json.RawMessage(` {"id":"a/b","sql":"<é>","n":9007199254740993,"id2":1.50} `))
	})},
	{"GET /pipelines/p/explain", acceptText, "text", func(ctx context.Context, m *Manager) (string, error) { return m.Explain(ctx, "p") }},
	{"DELETE /pipelines/p", acceptText, "done", func(ctx context.Context, m *Manager) (string, error) { return "", m.DeletePipeline(ctx, "p") }},
}

func raw(call func(context.Context, *Manager) (json.RawMessage, error)) func(context.Context, *Manager) (string, error) {
	return func(ctx context.Context, m *Manager) (string, error) {
		body, err := call(ctx, m)
		return string(body), err
	}
}

func TestRequestsAndTheirAnswers(t *testing.T) {
	answers := map[string]string{
		"list":   "\n[{\"name\":\"<raw> & \\u00e9\",\"limit\":9007199254740993,\"rate\":1.50}]\n",
		"object": ` {"a":9007199254740993, "a":1.50}`,
		"text":   "Plan:  \r\n  └─x   | a  \n\n  y\t\n \n\n",
		"done":   "pipeline p deleted",
	}
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
		answer = answers[tc.kind]
		got, err := tc.call(t.Context(), m)
		want := answer
		switch tc.kind {
		case "text":
			want = "Plan:\n  └─x   | a\n\n  y"
		case "done":
			want = ""
		}
		if err != nil || got != want || sees != tc.sees || accept != tc.accept {
			t.Errorf("%s: sees %s, accept %s, got %q %v, want %q", tc.sees, sees, accept, got, err, want)
		}
		if posted := strings.HasPrefix(sees, "POST "); posted && (contentType != "application/json" || body != ` {"id":"a/b","sql":"<é>","n":9007199254740993,"id2":1.50} `) {
			t.Errorf("%s: %s %s", tc.sees, contentType, body)
		}
		for kind, other := range answers {
			if kind == tc.kind || tc.kind == "done" || tc.kind == "text" {
				continue
			}
			answer = other
			if _, err = tc.call(t.Context(), m); failureOf(t, err).Code != CodeManagerHTTP {
				t.Errorf("%s takes %q: %v", tc.sees, other, err)
			}
		}
	}
}

func TestAnswersThatAreNotTheManagers(t *testing.T) {
	answer := ""
	s := serverOf(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) })
	m := managerFor(t, Config{URL: s.URL})
	for _, tc := range everyRequest {
		for _, answer = range []string{"<html>\x1b[31mhello", "", "\n <!DOCTYPE HTML><p>log in", `[{"name":`, "[] []", `"text"`, "null", "[\"\xff\"]", "{\"a\":\"\xff\"}", "\ufeff[]", "{}{}"} {
			if page := strings.Contains(answer, "<"); tc.kind == "done" && !page || tc.kind == "text" && !page && answer != "" {
				continue
			}
			_, err := tc.call(t.Context(), m)
			e := failureOf(t, err)
			if response, _ := e.Details["response"].(string); e.Code != CodeManagerHTTP || e.Details["status"] != 200 || !strings.Contains(e.Message, "HTTP 200, but the answer is no ") || strings.Contains(response, "\x1b") {
				t.Errorf("%s %q: %+v", tc.sees, answer, e)
			}
		}
	}
}

func TestExplainRepairsItsText(t *testing.T) {
	s := serverOf(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("a\xffb 流\n")) })
	if got, err := managerFor(t, Config{URL: s.URL}).Explain(t.Context(), "p"); err != nil || got != "a\ufffdb 流" {
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
