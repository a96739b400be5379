package veloflux

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/velofluxserver"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// runtimeOf returns a runtime for a Manager. It is closed at the end of the test.
func runtimeOf(t *testing.T, url string, o Options) *Runtime {
	t.Helper()
	m, err := NewManager(Config{URL: url, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRuntime(m, o)
	if err != nil {
		t.Fatal(err)
	}
	r.temporary.lookFor = time.Second
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := r.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return r
}

// called returns a tool's answer and asserts that it fits the tool's output schema.
func called(t *testing.T, r *Runtime, tool, args string) string {
	t.Helper()
	answer, err := r.CallTool(t.Context(), tool, json.RawMessage(args))
	if err != nil {
		t.Fatalf("%s %s: %v", tool, args, err)
	}
	if !json.Valid(answer) || !fitsOutput(t, r, tool, answer) {
		t.Fatalf("%s %s: %s does not fit the output schema", tool, args, answer)
	}
	return string(answer)
}

// fitsOutput reports whether an answer fits the tool's output schema.
func fitsOutput(t *testing.T, r *Runtime, tool string, answer json.RawMessage) bool {
	t.Helper()
	schema, f := jsonschema.Compile(r.byName[tool].OutputSchema)
	if f != nil {
		t.Fatal(f)
	}
	return schema.Fits(answer)
}

// refusedWith asserts that a call fails with a code, and returns the error.
func refusedWith(t *testing.T, r *Runtime, code Code, tool, args string) *Error {
	t.Helper()
	answer, err := r.CallTool(t.Context(), tool, json.RawMessage(args))
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Code != code || answer != nil {
		t.Fatalf("%s %s: %s %+v, want %s", tool, args, answer, err, code)
	}
	if raw, err := json.Marshal(e); err != nil || r.byName[tool] != nil && !fitsOutput(t, r, tool, raw) {
		t.Errorf("%s %s: %s does not fit the output schema, %v", tool, args, raw, err)
	}
	return e
}

// TestTools calls each tool once.
func TestTools(t *testing.T) {
	s := velofluxserver.Start(t)
	r := runtimeOf(t, s.URL, Options{})
	for _, tc := range []struct{ tool, args, path, want string }{
		{"streams.list", "", `streams.#(name=="user").schema.columns.#.name`, `["a","b","c","ts"]`},
		{"streams.describe", `{"name":"user"}`, "describe.stream", "user"},
		{"streams.describe", `{"name":"veh data/中文?#%"}`, "describe.stream", "veh data/中文?#%"},
		{"catalog.functions", "null", `functions.#(name=="sum").kind`, "aggregate"},
		{"catalog.syntax_capabilities", "{}", "syntax_capabilities.ir", "SelectStmt"},
		{"functions.describe", `{"name":"SUM"}`, "function.name", "sum"},
		{"pipelines.create", `{"id":"p/1 ü","sql":"SELECT a FROM user","sinks":[{"type":"nop"}],"options":null}`, "pipeline_id", "p/1 ü"},
		{"pipelines.list", `{}`, "pipelines.0.id", "p/1 ü"},
		{"pipelines.get", `{"pipeline_id":"p/1 ü"}`, "pipeline.spec.sql", "SELECT a FROM user"},
		{"pipelines.explain", `{"pipeline_id":"p/1 ü"}`, "pretty", "Logical Plan Explain:"},
		{"pipelines.verify", `{"sql":"SELECT a FROM user"}`, "valid", "true"},
		{"pipelines.delete", `{"pipeline_id":"p/1 ü"}`, "ok", "true"},
	} {
		answer := called(t, r, tc.tool, tc.args)
		if got, _, _ := strings.Cut(gjson.Get(answer, tc.path).String(), "\n"); got != tc.want {
			t.Errorf("%s %s: %s is %q, want %q", tc.tool, tc.args, tc.path, got, tc.want)
		}
	}
	if left := s.Pipelines(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestPlansHaveNoPadding(t *testing.T) {
	r := runtimeOf(t, velofluxserver.Start(t).URL, Options{})
	called(t, r, "pipelines.create", `{"id":"p","sql":"SELECT a FROM user","sinks":[{"type":"nop"}]}`)
	for _, answer := range []string{called(t, r, "pipelines.explain", `{"pipeline_id":"p"}`), called(t, r, "pipelines.verify", `{"sql":"SELECT a FROM user"}`)} {
		plan := gjson.Get(answer, "pretty").String()
		if !strings.HasPrefix(plan, "Logical Plan Explain:\n") || strings.Contains(plan, " \n") || plan != strings.TrimSpace(plan) {
			t.Errorf("%q", plan)
		}
	}
}

func TestStatistics(t *testing.T) {
	s := velofluxserver.Start(t)
	r := runtimeOf(t, s.URL, Options{})
	called(t, r, "pipelines.create", `{"id":"p","sql":"SELECT a FROM user","sinks":[{"type":"nop"}]}`)
	e := refusedWith(t, r, CodeManagerHTTP, "pipelines.stats", `{"pipeline_id":"p"}`)
	if !strings.Contains(e.Message, "pipeline p is not running") {
		t.Errorf("%+v", e)
	}
	response, err := http.Post(s.URL+"/pipelines/p/start", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	answer := called(t, r, "pipelines.stats", `{"pipeline_id":"p","timeout_ms":1500}`)
	if gjson.Get(answer, "stats.#").Int() == 0 {
		t.Errorf("no statistics: %s", answer)
	}
	requests := s.Requests()
	if last := requests[len(requests)-1]; last.Path != "/pipelines/p/stats?timeout_ms=1500" {
		t.Errorf("asked for %s", last.Path)
	}
}

// TestBytesGoThrough asserts that numbers, text and escapes reach the Manager as the caller wrote them.
func TestBytesGoThrough(t *testing.T) {
	s := velofluxserver.Start(t)
	r := runtimeOf(t, s.URL, Options{})
	const args = `{"options":{"late":9007199254740993,"x":1.50e2},"sql":"SELECT a /* \u00fc <&> \/ 中 */ FROM user\n","flow_instance_id":null,"id":"p","sinks":[ {"type":"nop","props":{"n":18446744073709551615}} ]}`
	_, _ = r.CallTool(t.Context(), "pipelines.create", json.RawMessage(args))
	const want = `{"id":"p","sql":"SELECT a /* \u00fc <&> \/ 中 */ FROM user\n","sinks":[ {"type":"nop","props":{"n":18446744073709551615}} ],"options":{"late":9007199254740993,"x":1.50e2}}`
	if got := string(s.Requests()[0].Body); got != want {
		t.Errorf("the Manager got\n%s, want\n%s", got, want)
	}
}

func TestArgumentsThatDoNotFit(t *testing.T) {
	s := velofluxserver.Start(t)
	r := runtimeOf(t, s.URL, Options{})
	for _, tc := range []struct{ tool, args, want string }{
		{"streams.list", `{"name":1,"b":2}`, `streams.list has no argument`},
		{"streams.list", `[]`, "must be a JSON object"},
		{"streams.list", `{"a`, "streams.list"},
		{"streams.list", `7`, "must be a JSON object"},
		{"streams.describe", `{}`, `The argument "name" of streams.describe is missing`},
		{"streams.describe", `{"name":null}`, `The argument "name" of streams.describe is missing`},
		{"streams.describe", `{"name":7}`, "The argument name of streams.describe must be a string"},
		{"streams.describe", `{"name":".."}`, ".."},
		{"streams.describe", `{"nam":"user"}`, `Did you mean "name"? Its arguments are name. The argument "name"`},
		{"pipelines.create", `{"id":"p","sql":"SELECT a FROM user"}`, `"sinks"`},
		{"pipelines.create", `{"id":"p","sql":"SELECT a FROM user","sinks":[]}`, "sinks"},
		{"pipelines.create", `{"id":"p","sql":"SELECT a FROM user","sinks":"nop"}`, "sinks"},
		{"pipelines.verify", `{"sql":""}`, "sql"},
		{"pipelines.verify", `{"sql":"SELECT 1","sinks":[]}`, `has no argument "sinks"`},
		{"pipelines.stats", `{"pipeline_id":"p","timeout_ms":0}`, "timeout_ms"},
		{"pipelines.delete", `{"pipeline_id":"../streams/user"}`, ".."},
	} {
		if e := refusedWith(t, r, CodeInvalidParams, tc.tool, tc.args); !strings.Contains(e.Message, tc.want) || e.ExitStatus() != 2 {
			t.Errorf("%s %s: %+v", tc.tool, tc.args, e)
		}
	}
	if asked := s.Requests(); len(asked) > 0 {
		t.Errorf("the Manager was asked %v", asked)
	}
}

func TestNamesOfNoTool(t *testing.T) {
	r := runtimeOf(t, "http://127.0.0.1:1", Options{ReadOnly: true, ExcludeTools: []string{"pipelines.get"}})
	for name, want := range map[string]string{
		"streams.lst":      `Did you mean "streams.list"?`,
		"x":                "catalog.functions, catalog.syntax_capabilities, functions.describe",
		"pipelines.create": "read-only",
		"pipelines_verify": "read-only",
		"pipelines.get":    "exclude-tools",
		"streams_list":     `Did you mean "streams.list"?`,
	} {
		if e := refusedWith(t, r, CodeNotFound, name, `{}`); !strings.Contains(e.Message, want) || e.ExitStatus() != 1 {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

func TestNamesThatAreToldOnce(t *testing.T) {
	r := runtimeOf(t, "http://127.0.0.1:1", Options{ToolNames: NamesBoth, Tools: []string{"streams.list", "pipelines.get"}})
	if e := refusedWith(t, r, CodeNotFound, "x", `{}`); e.Message != `There is no tool "x". The tools are pipelines.get, streams.list` {
		t.Errorf("%+v", e)
	}
}

func TestAnswersThatAreTooLarge(t *testing.T) {
	s := velofluxserver.Start(t)
	r := runtimeOf(t, s.URL, Options{MaxResponse: 500})
	e := refusedWith(t, r, CodeToolFailed, "streams.list", "")
	if !strings.Contains(e.Message, "more than the 500 that are allowed") || !strings.Contains(e.Message, "streams/snapshot") || e.Details["limit"] != int64(500) {
		t.Errorf("%+v", e)
	}
	_, err := r.ReadResource(t.Context(), "veloflux://catalog/functions_digest")
	if e := AsError(err); e.Code != CodeToolFailed || !strings.Contains(e.Message, "more than the 500") {
		t.Errorf("%+v", err)
	}
	called(t, r, "functions.describe", `{"name":"abs"}`)
}

// TestSummaries asserts that the summary of a large answer is smaller and has enough for a model to work with.
func TestSummaries(t *testing.T) {
	s := velofluxserver.Start(t)
	columns := `{"name":"c","data_type":"int64"}`
	for range 2000 {
		columns += `,{"name":"c","data_type":"int64"}`
	}
	s.AddStream(`{"name":"wide","type":"mock","schema":{"type":"json","props":{"columns":[` + columns + `]}}}`)
	r := runtimeOf(t, s.URL, Options{})
	for tool, args := range map[string]string{"streams.list": "{}", "streams.describe": `{"name":"wide"}`} {
		answer := called(t, r, tool, args)
		summary := r.byName[tool].Summary(json.RawMessage(answer))
		if !strings.Contains(summary, "wide") || len(summary) > len(answer)/2 || !strings.Contains(summary, "structured content") {
			t.Errorf("%s: %d bytes of %d: %.300s", tool, len(summary), len(answer), summary)
		}
	}
	if summary := r.byName["streams.describe"].Summary(json.RawMessage(`{"describe":{}}`)); summary != "" {
		t.Errorf("a short answer is put into %q", summary)
	}
}

func TestTraceOfCallsAndReads(t *testing.T) {
	s := velofluxserver.Start(t)
	var mu sync.Mutex
	var lines []string
	r := runtimeOf(t, s.URL, Options{CacheTTL: time.Hour, ToolNames: NamesBoth, Trace: SinkFunc(func(e Entry) error {
		mu.Lock()
		defer mu.Unlock()
		raw, err := json.Marshal(e)
		lines = append(lines, string(raw))
		return err
	})})
	ctx := t.Context()
	_, _ = r.CallTool(ctx, "streams_list", nil)
	_, _ = r.CallTool(ctx, "no.such", json.RawMessage(`{"a":1}`))
	_, _ = r.CallTool(ctx, "pipelines.verify", json.RawMessage(`{"sql":"SELCT 1"}`))
	_, _ = r.CallTool(ctx, "streams.describe", json.RawMessage(`{"nope":1}`))
	_, _ = r.ReadResource(ctx, "veloflux://streams/snapshot")
	_, _ = r.ReadResource(ctx, "veloFlux://streams/snapshot")
	_, _ = r.ReadResource(ctx, "veloflux://streams/nope")
	type entry struct{ kind, name, ok, cached, code, args string }
	for i, want := range []entry{
		{"tool_call", "streams.list", "true", "", "", `{}`},
		{"tool_call", "no.such", "false", "", "not_found", `{"a":1}`},
		{"tool_call", "pipelines.verify", "false", "", "planner_error", `{"sql":"SELCT 1"}`},
		{"tool_call", "streams.describe", "false", "", "invalid_params", `{"nope":1}`},
		{"resource_read", "veloFlux://streams/snapshot", "true", "", "", `{"uri":"veloflux://streams/snapshot"}`},
		{"resource_read", "veloFlux://streams/snapshot", "true", "true", "", `{"uri":"veloFlux://streams/snapshot"}`},
		{"resource_read", "veloflux://streams/nope", "false", "", "not_found", `{"uri":"veloflux://streams/nope"}`},
	} {
		l := gjson.Parse(lines[i])
		got := entry{l.Get("kind").String(), l.Get("name").String(), l.Get("ok").Raw, l.Get("cached").Raw, l.Get("error_code").String(), l.Get("args").Raw}
		if got != want || l.Get("ts_ms").Int() < 1_700_000_000_000 || !l.Get("latency_ms").Exists() || l.Get("error_message").Exists() == l.Get("ok").Bool() {
			t.Errorf("entry %d: %s, want %+v", i, lines[i], want)
		}
	}
	if len(lines) != 7 {
		t.Errorf("%d entries: %v", len(lines), lines)
	}
}
