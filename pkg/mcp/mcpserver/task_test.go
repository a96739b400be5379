package mcpserver_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

const extension = "io.modelcontextprotocol/tasks"

// memory keeps tasks by their ids.
type memory struct {
	mu        sync.Mutex
	tasks     map[string]mcpserver.Task
	replies   map[string]json.RawMessage
	cancelled []string
	elicits   bool
}

func (m *memory) Task(_ context.Context, r *mcpserver.TaskRequest) (*mcpserver.Task, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	task, ok := m.tasks[r.ID]
	if !ok {
		return nil, mcpserver.UnknownTask(r.ID)
	}
	m.elicits = r.Elicits
	return &task, nil
}

func (m *memory) Update(_ context.Context, r *mcpserver.TaskRequest, replies map[string]json.RawMessage) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.replies = replies
	if _, ok := m.tasks[r.ID]; !ok {
		return mcpserver.UnknownTask(r.ID)
	}
	return nil
}

func (m *memory) Cancel(_ context.Context, r *mcpserver.TaskRequest) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cancelled = append(m.cancelled, r.ID)
	return nil
}

// tasksConfig is a server with tasks, each with the name of its status, and the tool slow, whose calls are tasks if the client takes
// them.
func tasksConfig() (mcpserver.Config, *memory) {
	began := time.Date(2026, 11, 23, 4, 5, 6, 0, time.UTC)
	m := &memory{tasks: map[string]mcpserver.Task{
		"working":        {Status: mcpserver.Working, Message: "3 of 7 done", Poll: time.Second},
		"input_required": {Status: mcpserver.InputRequired, InputRequests: json.RawMessage(`{"k":{"method":"elicitation/create"}}`)},
		"completed":      {Status: mcpserver.Completed, TTL: time.Hour, Result: &mcpserver.Result{Structured: json.RawMessage(`{"n":9007199254740993}`)}},
		"unhappy":        {Status: mcpserver.Completed, Result: &mcpserver.Result{Text: "no", IsError: true}},
		"failed":         {Status: mcpserver.TaskFailed, Err: fault.New(fault.Internal, "broken")},
		"cancelled":      {Status: mcpserver.TaskCancelled},
	}}
	for id, task := range m.tasks {
		task.ID, task.Created, task.Updated = id, began, began.Add(1500*time.Millisecond)
		m.tasks[id] = task
	}
	slow := tool("slow", func(_ context.Context, c *mcpserver.Call) *mcpserver.Result {
		if task := m.tasks["working"]; c.TakesTask() {
			return &mcpserver.Result{Task: &task}
		}
		return text("done")
	})
	only := tool("only", func(context.Context, *mcpserver.Call) *mcpserver.Result {
		return &mcpserver.Result{Task: &mcpserver.Task{ID: "x"}}
	})
	return mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{slow, only}, Tasks: m}, m
}

// declaring is a request of a client that declares the extension, and perhaps other capabilities.
func declaring(id, method, params, others string) string {
	return strings.Replace(modern(id, method, params), `clientCapabilities":{}`, `clientCapabilities":{`+others+`"extensions":{"`+extension+`":{}}}`, 1)
}

func TestTasks(t *testing.T) {
	const missing = `{"code":-32021,"message":"tasks/get needs the client capability io.modelcontextprotocol/tasks","data":{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}`
	const times = `"createdAt":"2026-11-23T04:05:06Z","lastUpdatedAt":"2026-11-23T04:05:07.5Z"`
	overBoth(t, func(t *testing.T, over connect) {
		config, m := tasksConfig()
		c := over.serve(t, config)
		const call, id = `"name":"slow","arguments":{},`, `"taskId":"working",`
		for _, tc := range []struct{ request, path, want string }{
			{modern("1", "server/discover", ""), `result.capabilities.extensions`, `{"` + extension + `":{}}`},
			{declaring("1", "tools/call", call, ""), "result", `{"resultType":"task","taskId":"working","status":"working","statusMessage":"3 of 7 done",` + times + `,"ttlMs":null,"pollIntervalMs":1000}`},
			{modern("1", "tools/call", call), "result.content.0.text", `"done"`},
			{modern("1", "tools/call", call), "result.resultType", `"complete"`},
			{modern("1", "tools/call", `"name":"only",`), "error.code", `-32021`},
			{declaring("1", "tools/call", `"name":"only",`, ""), "result.taskId", `"x"`},
			{modern("1", "tasks/get", id), "error", missing},
			{modern("1", "tasks/update", id+`"inputResponses":{},`), "error.code", `-32021`},
			{modern("1", "tasks/cancel", id), "error.code", `-32021`},
			{declaring("1", "tasks/get", id, ""), "result", `{"resultType":"complete","taskId":"working","status":"working","statusMessage":"3 of 7 done",` + times + `,"ttlMs":null,"pollIntervalMs":1000}`},
			{declaring("1", "tasks/get", `"taskId":"input_required",`, ""), "result.inputRequests", `{"k":{"method":"elicitation/create"}}`},
			{declaring("1", "tasks/get", `"taskId":"completed",`, ""), "result.result", `{"content":[{"type":"text","text":"{\"n\":9007199254740993}"}],"structuredContent":{"n":9007199254740993},"resultType":"complete"}`},
			{declaring("1", "tasks/get", `"taskId":"completed",`, ""), "result.ttlMs", `3600000`},
			{declaring("1", "tasks/get", `"taskId":"unhappy",`, ""), "result.status", `"completed"`},
			{declaring("1", "tasks/get", `"taskId":"unhappy",`, ""), "result.result.isError", `true`},
			{declaring("1", "tasks/get", `"taskId":"failed",`, ""), "result.error", `{"code":-32603,"message":"broken","data":{"type":"internal_error","message":"broken"}}`},
			{declaring("1", "tasks/get", `"taskId":"cancelled",`, ""), "result.result", ""},
			{declaring("1", "tasks/get", `"taskId":"other",`, ""), "error.code", `-32602`},
			{declaring("1", "tasks/get", `"taskId":7,`, ""), "error.code", `-32602`},
			{declaring("1", "tasks/get", ``, ""), "error.code", `-32602`},
			{declaring("1", "tasks/update", id, ""), "error.code", `-32602`},
			{declaring("1", "tasks/update", id+`"inputResponses":[],`, ""), "error.code", `-32602`},
			{declaring("1", "tasks/update", id+`"inputResponses":{"k":{"action":"accept"}},`, ""), "result", `{"resultType":"complete"}`},
			{declaring("1", "tasks/update", `"taskId":"other","inputResponses":{},`, ""), "error.code", `-32602`},
			{declaring("1", "tasks/cancel", id, ""), "result", `{"resultType":"complete"}`},
			{declaring("1", "tasks/list", "", ""), "error.code", `-32601`},
			{declaring("1", "tasks/result", id, ""), "error.code", `-32601`},
			{modern("1", "subscriptions/listen", `"notifications":{"taskIds":["working"]},`), "error.code", `-32021`},
		} {
			c.send(tc.request)
			line := c.answer("1")
			got := gjson.Get(line, tc.path)
			if raw := withoutServer(got.Raw); raw != tc.want {
				t.Errorf("%s: %s is %s, not %s: %s", tc.request, tc.path, raw, tc.want, line)
			}
		}
		if string(m.replies["k"]) != "" || !slices.Equal(m.cancelled, []string{"working"}) { // the last update was refused
			t.Errorf("replies %s, cancelled %q", slices.Collect(maps.Values(m.replies)), m.cancelled)
		}
		if c.send(declaring("1", "tasks/get", id, `"elicitation":{},`)); gjson.Get(c.answer("1"), "error").Exists() || !m.elicits {
			t.Error("a client that elicits does not")
		}
	})
}

// withoutServer returns the text of a result without the _meta that names the server.
func withoutServer(raw string) string {
	if meta := gjson.Get(raw, "_meta"); meta.Exists() {
		return strings.Replace(raw, `,"_meta":`+meta.Raw, "", 1)
	}
	return raw
}

// TestTasksNeedTheirRevision holds that the sessions of earlier revisions know nothing of the extension.
func TestTasksNeedTheirRevision(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		config, _ := tasksConfig()
		c := over.serve(t, config)
		c.send(strings.Replace(hello("2025-11-25"), `"capabilities":{}`, `"capabilities":{"extensions":{"`+extension+`":{}}}`, 1))
		if line := c.answer("0"); gjson.Get(line, "result.capabilities.extensions").Exists() {
			t.Errorf("initialize: %s", line)
		}
		const meta = `"_meta":{"io.modelcontextprotocol/clientCapabilities":{"extensions":{"` + extension + `":{}}}}`
		c.send(legacy("1", "tools/call", `"name":"slow",`+meta))
		if line := c.answer("1"); gjson.Get(line, "result.content.0.text").Str != "done" {
			t.Errorf("the call: %s", line)
		}
		c.send(legacy("2", "tasks/get", `"taskId":"working",`+meta))
		if line := c.answer("2"); gjson.Get(line, "error.code").Int() != -32601 {
			t.Errorf("tasks/get: %s", line)
		}
	})
}

func TestServerWithoutTasks(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		c := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{echo()}})
		for request, path := range map[string]string{
			declaring("1", "server/discover", "", ""):                                 `result.capabilities.extensions`,
			declaring("1", "tools/call", `"name":"echo",`, ""):                        `result.taskId`,
			modern("1", "subscriptions/listen", `"notifications":{"taskIds":["x"]},`): `error`,
		} {
			c.send(request)
			if line := c.answer("1"); gjson.Get(line, path).Exists() {
				t.Errorf("%s: %s", request, line)
			}
		}
		c.send(declaring("1", "tasks/get", `"taskId":"x",`, ""))
		if line := c.answer("1"); gjson.Get(line, "error.code").Int() != -32601 {
			t.Errorf("tasks/get: %s", line)
		}
	})
}

// TestTasksOverHTTP holds the rules that concern the headers and the status of the HTTP transport.
func TestTasksOverHTTP(t *testing.T) {
	config, _ := tasksConfig()
	s := newServer(t, config)
	web := httptest.NewServer(s.CheckTasks(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.SDK() }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})))
	defer web.Close()
	const id = `"taskId":"working",`
	for _, tc := range []struct {
		request, method, name string
		status                int
		path, want            string
	}{
		{declaring("1", "tasks/get", id, ""), "tasks/get", "working", 200, "result.status", `"working"`},
		{declaring("1", "tasks/get", id, ""), "tasks/get", "", 200, "result.status", `"working"`},
		{declaring("1", "tasks/get", id, ""), "tasks/get", "other", 400, "error.code", `-32020`},
		{declaring(`"a"`, "tasks/update", id+`"inputResponses":{},`, ""), "tasks/update", "other", 400, "id", `"a"`},
		{declaring("1", "tasks/cancel", id, ""), "tasks/cancel", "working", 200, "result.resultType", `"complete"`},
		{declaring("1", "tasks/get", id, ""), "tasks/cancel", "working", 400, "error.code", `-32020`},
		{declaring("1", "tasks/get", `"taskId":"other",`, ""), "tasks/get", "other", 400, "error.code", `-32602`},
		{modern("1", "tasks/get", id), "tasks/get", "working", 400, "error.code", `-32021`},
		{modern("1", "subscriptions/listen", `"notifications":{"taskIds":["working"]},`), "subscriptions/listen", "", 400, "error.code", `-32021`},
		{declaring("1", "tools/call", `"name":"slow",`, ""), "tools/call", "slow", 200, "result.taskId", `"working"`},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL, strings.NewReader(tc.request))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": tc.method, "Mcp-Name": tc.name,
		} {
			if value != "" {
				request.Header.Set(name, value)
			}
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != tc.status || gjson.GetBytes(body, tc.path).Raw != tc.want {
			t.Errorf("%s with %q: status %d, %s is not %s: %s, %v", tc.request, tc.name, response.StatusCode, tc.path, tc.want, body, err)
		}
	}
}
