package veloflux

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var (
	asCreate = func(ctx context.Context, m *Manager) error {
		_, err := m.CreatePipeline(ctx, json.RawMessage(`{"id":"p1"}`))
		return err
	}
	asExplain = func(ctx context.Context, m *Manager) error { _, err := m.Explain(ctx, "p1"); return err }
	asStreams = func(ctx context.Context, m *Manager) error { _, err := m.Streams(ctx); return err }
)

func TestAnswersThatAreErrors(t *testing.T) {
	const (
		explained = "GET /pipelines/p1/explain failed: "
		created   = "POST /pipelines failed: "
	)
	retry := map[string]any{"retryable": true}
	at := func(line, column int) map[string]any { return map[string]any{"line": line, "column": column} }
	for _, tc := range []struct {
		call    func(context.Context, *Manager) error
		status  int
		body    string
		code    Code
		message string // … stands for any text; empty means the route, the status and the body
		details map[string]any
	}{
		{asCreate, 400, "parse pipeline p1 sql: Parse error: sql parser error: Expected an SQL statement, found: SELCT at Line: 1, Column 7", CodePlanner, "", at(1, 7)},
		{asCreate, 400, "parse pipeline  at Line: 9, Column 9 sql: Parse error: x at Line: 12, Column 345 near y", CodePlanner, "", at(12, 345)},
		{asCreate, 400, "parse pipeline p1 sql: Parse error: sql parser error: Expected an expression:, found: EOF", CodePlanner, "", nil},
		{asCreate, 400, "parse pipeline p1 sql: x at Line: 99999999999999999999, Column 1", CodePlanner, "", nil},
		{asCreate, 400, "parse pipeline p1 sql: Expected exactly one SQL statement", CodePlanner, "", nil},
		{asCreate, 400, "parse pipeline p1 sql: Expected a SELECT query", CodePlanner, "", nil},
		{asCreate, 400, "parse pipeline p1 sql: Dialect processing error: sql parser error: unsupported time unit `xx` (only `ss` allowed)", CodePlanner, "", nil},
		{asCreate, 400, "parse pipeline p1 sql: Only one window function is allowed in GROUP BY", CodePlanner, "", nil},
		{asCreate, 400, "failed to create pipeline p1: pipeline build error: Failed to compile expression: Column not found: No schema bindings available for identifier 'nosuch", CodePlanner, "", nil},
		{asCreate, 400, "failed to create pipeline p1: pipeline build error: duplicate SELECT alias `x`", CodePlanner, "", nil},
		{asExplain, 400, "failed to explain pipeline p1: no plan", CodePlanner, "", nil},
		{asCreate, 400, "stream nosuch missing from storage", CodePlanner, "", nil},
		{asCreate, 400, `stream "user" missing from storage`, CodePlanner, created + "HTTP 400: stream \"user\" missing from storage. …without quotes", nil},
		{asCreate, 400, "pipeline must define at least one sink", CodeInvalidParams, "", nil},
		{asCreate, 400, "pipeline id must not be empty", CodeInvalidParams, "", nil},
		{asCreate, 400, "pipeline sql must not be empty", CodeInvalidParams, "", nil},
		{asCreate, 400, "options.data_channel_capacity must be greater than 0", CodeInvalidParams, "", nil},
		{asCreate, 400, "flow instance other is not declared by config", CodeInvalidParams, "", nil},
		{asExplain, 400, "unsupported sink type: kafka", CodeManagerHTTP, "", nil},
		{asCreate, 400, "Failed to parse the request body as JSON: ?: EOF while parsing a value at line 1 column 10", CodeInvalidParams, "", nil},
		{asExplain, 400, "failed to collect pipeline pipeline build error: stats: pipeline runtime error: pipeline p1 is not running", CodeManagerHTTP, "", nil},
		{asExplain, 400, "Client sent an HTTP request to an HTTPS server.", CodeManagerHTTP, explained + "HTTP 400: Client sent an HTTP request to an HTTPS server.. …https://…", nil},
		{asExplain, 404, "stream nope not found", CodeNotFound, "", nil},
		{asExplain, 404, "pipeline p1 not found", CodeNotFound, "", nil},
		{asExplain, 404, "function nope not found", CodeNotFound, "", nil},
		{asExplain, 404, "404 page not found", CodeManagerHTTP, explained + "HTTP 404: 404 page not found. …BASE…", nil},
		{asExplain, 404, `{"message":"no Route matched with those values"}`, CodeManagerHTTP, explained + `HTTP 404: {"message":"no Route matched with those values"}. …BASE…`, nil},
		{asExplain, 404, "<html><h1>404 pipeline not found</h1>", CodeManagerHTTP, explained + "HTTP 404 …HTML…BASE…", nil},
		{asExplain, 404, "", CodeManagerHTTP, explained + "HTTP 404: no such route at BASE…", nil},
		{asExplain, 405, "", CodeManagerHTTP, explained + "HTTP 405: no such route at BASE…", nil},
		{asExplain, 401, "who?", CodeManagerHTTP, explained + "HTTP 401: who?. …proxy…credentials…Authorization", nil},
		{asExplain, 403, "", CodeManagerHTTP, explained + "HTTP 403 …. …proxy…credentials…Authorization", nil},
		{asCreate, 409, "pipeline p1 already exists", CodeConflict, created + "HTTP 409: pipeline p1 already exists", nil},
		{asCreate, 409, "pipeline busy is in progress already exists", CodeConflict, "", nil},
		{asCreate, 409, "pipeline race is busy processing another command", CodeConflict, "", retry},
		{asCreate, 409, "shared mqtt client(s) a, b busy with another command", CodeConflict, "", retry},
		{asCreate, 409, "another import/export command is in progress", CodeConflict, "", retry},
		{asCreate, 413, "Failed to buffer the request body: length limit exceeded", CodeManagerHTTP, "", nil},
		{asCreate, 415, "Expected request with `Content-Type: application/json`", CodeManagerHTTP, "", nil},
		{asCreate, 422, "Failed to deserialize the JSON body into the target type: sinks[0]: missing field `type` at line 1 column 53", CodeInvalidParams, "", nil},
		{asStreams, 429, "slow down", CodeManagerHTTP, "", retry},
		{asCreate, 429, "slow down", CodeManagerHTTP, "", retry},
		{asStreams, 500, "boom", CodeManagerHTTP, "GET /streams failed: HTTP 500: boom", nil},
		{asStreams, 502, "", CodeManagerHTTP, "GET /streams failed: HTTP 502 …", retry},
		{asStreams, 503, "no upstream", CodeManagerHTTP, "", retry},
		{asExplain, 504, "collect stats timeout for pipeline p", CodeTimeout, "", retry},
		{asCreate, 504, "late", CodeTimeout, created + "HTTP 504: late" + maybeCreatedAdvice, map[string]any{"maybe_created": true, "pipeline_id": "p1"}},
		{asStreams, 304, "", CodeManagerHTTP, "GET /streams failed: HTTP 304 …", nil},
		{asStreams, 302, "", CodeManagerHTTP, "GET /streams failed: HTTP 302 …", nil},
	} {
		var asked string
		s := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/pipelines/p1" { // no record is kept
				w.WriteHeader(http.StatusNotFound)
				_, _ = w.Write([]byte("pipeline p1 not found"))
				return
			}
			asked = r.Method + " " + r.URL.Path
			w.WriteHeader(tc.status)
			_, _ = w.Write([]byte(tc.body))
		})
		e := failureOf(t, tc.call(t.Context(), managerFor(t, Config{URL: s.URL})))
		if e.Code != tc.code || e.Cause != nil {
			t.Errorf("%d %q: code %s, want %s", tc.status, tc.body, e.Code, tc.code)
		}
		message := strings.ReplaceAll(tc.message, "BASE", s.URL)
		if message == "" {
			message = asked + " failed: " + statusText(tc.status) + tc.body
		}
		if !matches(e.Message, message) {
			t.Errorf("%d %q:\n got %q\nwant %q", tc.status, tc.body, e.Message, message)
		}
		want := map[string]any{"status": tc.status, "response": tc.body}
		maps.Copy(want, tc.details)
		if diff := cmp.Diff(want, e.Details); diff != "" {
			t.Errorf("%d %q: details: %s", tc.status, tc.body, diff)
		}
	}
}

// matches reports whether a text is like a pattern in which … stands for any text.
func matches(text, pattern string) bool {
	parts := strings.Split(pattern, "…")
	rest, ok := strings.CutPrefix(text, parts[0])
	for i, part := range parts[1:] {
		at := strings.Index(rest, part)
		if i == len(parts)-2 {
			return ok && strings.HasSuffix(rest, part)
		}
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return ok && rest == ""
}

func statusText(status int) string {
	return "HTTP " + string([]byte{byte('0' + status/100), byte('0' + status/10%10), byte('0' + status%10)}) + ": "
}

func TestAManagersTextIsCutAtACharacter(t *testing.T) {
	s := serverOf(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte("\xff\x1b[31m" + strings.Repeat("流", 3000)))
	})
	e := failureOf(t, asStreams(t.Context(), managerFor(t, Config{URL: s.URL})))
	response, _ := e.Details["response"].(string)
	if want := "?[31m" + strings.Repeat("流", 1995) + "…"; response != want || !strings.HasSuffix(e.Message, ": "+want) || !utf8.ValidString(e.Message) {
		t.Errorf("%d characters: %.40q", utf8.RuneCountInString(response), response)
	}
}

func TestExitStatusOfCodes(t *testing.T) {
	for code, want := range map[Code]int{CodeInvalidParams: 2, CodeTimeout: 124, CodeNotFound: 1, CodePlanner: 1, CodeConflict: 1, CodeManagerHTTP: 1, CodeToolFailed: 1} {
		if got := (&Error{Code: code}).ExitStatus(); got != want {
			t.Errorf("%s: exit status %d, want %d", code, got, want)
		}
	}
}
