package mcphttp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcphttp"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// broken is one task, which has failed.
type broken struct{}

func (broken) Task(_ context.Context, r *mcpserver.TaskRequest) (*mcpserver.Task, error) {
	if r.ID != "one" {
		return nil, mcpserver.UnknownTask(r.ID)
	}
	return &mcpserver.Task{ID: r.ID, Status: mcpserver.TaskFailed, Created: time.Now(), Updated: time.Now(), Err: fault.New(fault.Internal, "broken")}, nil
}

func (broken) Update(context.Context, *mcpserver.TaskRequest, map[string]json.RawMessage) error {
	return nil
}
func (broken) Cancel(context.Context, *mcpserver.TaskRequest) error { return nil }

// Requests about tasks have the id in a header, and the error in the state of a task is not that of its request.
func TestTasks(t *testing.T) {
	server, err := mcpserver.New(mcpserver.Config{Name: "s", Tasks: broken{}})
	if err != nil {
		t.Fatal(err)
	}
	client := &mcphttp.Client{Server: server}
	web := httptest.NewServer(mcphttp.New(mcphttp.Config{Client: func(*http.Request) (*mcphttp.Client, error) { return client, nil }}))
	defer web.Close()
	s := &site{T: t, url: web.URL}
	const declared = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	const bare = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for _, c := range []struct {
		method, params, meta, name string
		status                     int
		path, want                 string
	}{
		{"tasks/get", `"taskId":"one"`, declared, "one", 200, "result.error.code", "-32603"},
		{"tasks/get", `"taskId":"one"`, declared, "two", 400, "error.code", "-32020"},
		{"tasks/get", `"taskId":"two"`, declared, "two", 400, "error.code", "-32602"},
		{"tasks/get", `"taskId":"one"`, bare, "one", 400, "error.code", "-32021"},
		{"tasks/cancel", `"taskId":"one"`, declared, "one", 200, "result.resultType", `"complete"`},
		{"subscriptions/listen", `"notifications":{"taskIds":["one"]}`, bare, "", 400, "error.code", "-32021"},
	} {
		for _, accept := range []string{"application/json, text/event-stream", "text/event-stream"} {
			headers := []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", c.method, "Accept", accept}
			if c.name != "" {
				headers = append(headers, "Mcp-Name", c.name)
			}
			a := s.do(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"`+c.method+`","params":{`+c.params+`,"_meta":`+c.meta+`}}`, headers...)
			_, message, _ := strings.Cut(a.body, "{") // the data of the first event
			if strings.HasPrefix(a.body, ": ok") {    // the answer took so long that the stream had begun
				a.status = c.status
			}
			if got := gjson.Get("{"+message, c.path).Raw; a.status != c.status || got != c.want {
				t.Errorf("%s of %s for %q, accepting %s: status %d, %s is %s: %s", c.method, c.params, c.name, accept, a.status, c.path, got, a.body)
			}
		}
	}
}
