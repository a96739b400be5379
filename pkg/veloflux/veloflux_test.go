package veloflux

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const twoStreams = `[{"name":"clicks","shared":false,"schema":{"columns":[{"name":"at","data_type":"int64"}]},"shared_stream":null},` +
	`{"name":"<raw> & \u00e9","limit":9007199254740993,"rate":1.50}]`

// manager is a Manager of our own that answers one route.
func manager(t *testing.T, route string, status int, body string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method+" "+r.URL.EscapedPath() != route {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	return s
}

func runtimeFor(t *testing.T, url string, timeout time.Duration) *Runtime {
	t.Helper()
	m, err := NewManager(url, timeout)
	if err != nil {
		t.Fatal(err)
	}
	return New(m)
}

// failureOf asserts that an error is an *Error.
func failureOf(t *testing.T, err error) *Error {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("not an *Error: %v", err)
	}
	return e
}

func TestStreamsListGivesTheManagersBytes(t *testing.T) {
	for _, body := range []string{"[]", twoStreams} {
		url := manager(t, "GET /streams", 200, body).URL
		for _, args := range []string{"", "{}"} {
			got, err := runtimeFor(t, url, time.Minute).CallTool(t.Context(), "streams.list", json.RawMessage(args))
			if want := `{"streams":` + body + `}`; err != nil || string(got) != want {
				t.Errorf("got %s %v, want %s", got, err, want)
			}
		}
	}
}

func TestAddress(t *testing.T) {
	at := manager(t, "GET /proxy/velo/streams", 200, "[]").URL
	for _, url := range []string{at + "/proxy/velo", at + "/proxy/velo/", strings.TrimPrefix(at, "http://") + "/proxy/velo"} {
		if _, err := runtimeFor(t, url, time.Minute).CallTool(t.Context(), "streams.list", nil); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, url := range []string{"", "ftp://x", "http://", "http://h/?q=1", "http://h/#f", "://"} {
		if _, err := NewManager(url, time.Second); err == nil {
			t.Errorf("%q is taken for a URL", url)
		}
	}
	if _, err := NewManager("http://h", 0); err == nil {
		t.Error("no time at all is taken for a timeout")
	}
}

func TestCredentialsGoIntoTheHeaderOnly(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		http.Error(w, user+" "+password, http.StatusTeapot)
	}))
	url := strings.Replace(s.URL, "://", "://ann:s3cret@", 1)
	_, err := runtimeFor(t, url, time.Minute).CallTool(t.Context(), "streams.list", nil)
	if e := failureOf(t, err); e.Details["response"] != "ann s3cret" {
		t.Errorf("the Manager saw %v", e.Details)
	}
	s.Close()
	_, err = runtimeFor(t, url, time.Minute).CallTool(t.Context(), "streams.list", nil)
	if e := failureOf(t, err); e.Code != ManagerHTTP || strings.Contains(e.Message, "s3cret") || !strings.Contains(e.Message, "refused") {
		t.Errorf("%+v", e)
	}
}

func TestAnswersOfTheManagerThatAreErrors(t *testing.T) {
	for _, tc := range []struct {
		status  int
		body    string
		code    Code
		message string // what it says behind "GET /streams failed: "
		details map[string]any
	}{
		{400, "parse pipeline p sql: Parse error: sql parser error: Expected an SQL statement, found: SELCT at Line: 1, Column 7", Planner, "", map[string]any{"line": 1, "column": 7}},
		{400, "parse pipeline p sql: Expected exactly one SQL statement", Planner, "", nil},
		{400, "failed to create pipeline p: pipeline build error: duplicate SELECT alias `x`", Planner, "", nil},
		{400, "invalid pipeline spec: pipeline build error: No data source found in SELECT statement", Planner, "", nil},
		{400, "failed to explain pipeline p: no plan", Planner, "", nil},
		{400, `stream "user" missing from storage`, Planner, "", nil},
		{400, "pipeline must define at least one sink", InvalidParams, "", nil},
		{400, "pipeline id must not be empty", InvalidParams, "", nil},
		{400, "options.data_channel_capacity must be greater than 0", InvalidParams, "", nil},
		{400, "flow instance other is not declared by config", InvalidParams, "", nil},
		{400, "unsupported sink type: kafka", ManagerHTTP, "", nil},
		{400, "failed to collect pipeline p1 stats: pipeline runtime error: pipeline p1 is not running", ManagerHTTP, "", nil},
		{404, "stream nope not found", NotFound, "HTTP 404: stream nope not found", nil},
		{404, "", ManagerHTTP, "HTTP 404: no such route at BASE. The URL may be wrong, or the Manager too old", nil},
		{405, "", ManagerHTTP, "HTTP 405: no such route at BASE. The URL may be wrong, or the Manager too old", nil},
		{409, "pipeline p1 already exists", Conflict, "HTTP 409: pipeline p1 already exists", nil},
		{409, "pipeline race is busy processing another command", Conflict, "", map[string]any{"retryable": true}},
		{409, "another import/export command is in progress", Conflict, "", map[string]any{"retryable": true}},
		{413, "Failed to buffer the request body: length limit exceeded", ManagerHTTP, "", nil},
		{422, "Failed to deserialize the JSON body into the target type: sinks[0]: missing field `type`", InvalidParams, "", nil},
		{500, "boom", ManagerHTTP, "HTTP 500: boom", nil},
		{502, "", ManagerHTTP, "HTTP 502 without a word", nil},
		{504, "collect stats timeout for pipeline p", Timeout, "", map[string]any{"retryable": true}},
	} {
		s := manager(t, "GET /streams", tc.status, tc.body)
		_, err := runtimeFor(t, s.URL, time.Minute).CallTool(t.Context(), "streams.list", nil)
		e := failureOf(t, err)
		if e.Code != tc.code {
			t.Errorf("%d %q: code %s, want %s", tc.status, tc.body, e.Code, tc.code)
		}
		if want := "GET /streams failed: " + strings.ReplaceAll(tc.message, "BASE", s.URL); tc.message != "" && e.Message != want {
			t.Errorf("%d %q: message %q, want %q", tc.status, tc.body, e.Message, want)
		}
		if !strings.Contains(e.Message, tc.body) {
			t.Errorf("%d: %q does not say %q", tc.status, e.Message, tc.body)
		}
		want := map[string]any{"http_status": tc.status, "response": tc.body}
		maps.Copy(want, tc.details)
		if diff := cmp.Diff(want, e.Details); diff != "" {
			t.Errorf("%d %q: details: %s", tc.status, tc.body, diff)
		}
	}
}

func TestAnswersThatAreNoListOfStreams(t *testing.T) {
	for _, body := range []string{"<html>\x1b[31mhello", "", `{"streams":[]}`, `[{"name":`, "[] []"} {
		_, err := runtimeFor(t, manager(t, "GET /streams", 200, body).URL, time.Minute).CallTool(t.Context(), "streams.list", nil)
		e := failureOf(t, err)
		if e.Code != ManagerHTTP || !strings.Contains(e.Message, "is no JSON list") || strings.Contains(e.Details["response"].(string), "\x1b") {
			t.Errorf("%q: %+v", body, e)
		}
	}
}

func TestAnswerOverTheLimit(t *testing.T) {
	_, err := runtimeFor(t, manager(t, "GET /streams", 200, "["+strings.Repeat(" ", maxBody)+"]").URL, time.Minute).CallTool(t.Context(), "streams.list", nil)
	if e := failureOf(t, err); e.Code != ManagerHTTP || !strings.Contains(e.Message, "more than 32 MiB") {
		t.Errorf("%+v", e)
	}
}

func TestTimeAndCancellation(t *testing.T) {
	asked := make(chan struct{}, 2)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer s.Close()
	_, err := runtimeFor(t, s.URL, 20*time.Millisecond).CallTool(t.Context(), "streams.list", nil)
	if e := failureOf(t, err); e.Code != Timeout || e.ExitStatus() != 124 || e.Message != "GET /streams failed: timeout after 0.02s, waiting for "+s.URL {
		t.Errorf("timeout: %+v", e)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	_, err = runtimeFor(t, s.URL, time.Minute).CallTool(ctx, "streams.list", nil)
	if e := failureOf(t, err); e.Code != Cancelled || e.ExitStatus() != 1 {
		t.Errorf("cancelled: %+v", e)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 0)
	defer cancel()
	_, err = runtimeFor(t, s.URL, time.Minute).CallTool(ctx, "streams.list", nil)
	if e := failureOf(t, err); e.Code != Timeout {
		t.Errorf("the caller's deadline: %+v", e)
	}
}

func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	_, err = runtimeFor(t, address, time.Minute).CallTool(t.Context(), "streams.list", nil)
	e := failureOf(t, err)
	if e.Code != ManagerHTTP || e.Details["retryable"] != true || !strings.Contains(e.Message, "no answer from the veloFlux Manager at http://"+address) {
		t.Errorf("%+v", e)
	}
}

func TestWrongNamesAndArguments(t *testing.T) {
	r := runtimeFor(t, "http://127.0.0.1:1", time.Minute)
	for _, tc := range []struct {
		tool, args string
		want       Error
		status     int
	}{
		{"streams.lst", "{}", Error{NotFound, `There is no tool "streams.lst". Did you mean "streams.list"? There is streams.list`, map[string]any{"available": []string{"streams.list"}}}, 1},
		{"x", "{}", Error{NotFound, `There is no tool "x". There is streams.list`, map[string]any{"available": []string{"streams.list"}}}, 1},
		{"streams.list", `{"name":1,"b":2}`, Error{InvalidParams, `streams.list has no argument "name". It takes no arguments`, map[string]any{"available": []string{}}}, 2},
		{"streams.list", `[]`, Error{InvalidParams, `The arguments of streams.list must be a JSON object`, nil}, 2},
		{"streams.list", `{"a`, Error{InvalidParams, `The arguments of streams.list must be a JSON object`, nil}, 2},
	} {
		_, err := r.CallTool(t.Context(), tc.tool, json.RawMessage(tc.args))
		e := failureOf(t, err)
		if diff := cmp.Diff(&tc.want, e); diff != "" || e.ExitStatus() != tc.status {
			t.Errorf("%s %s: status %d %s", tc.tool, tc.args, e.ExitStatus(), diff)
		}
	}
}
