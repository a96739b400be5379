package suite

import (
	"testing"

	"github.com/tidwall/gjson"
)

// Over HTTP a run is a task too, and any server of the home knows it.
func TestHTTPServesTasks(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.draft("long", gated())
	d, other := p.open("--toolsets", "core"), p.open("--toolsets", "core")
	ask := func(d *door, method, name, params string) (int, gjson.Result) {
		t.Helper()
		status, body := d.ask(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`,
			"Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", name)
		return status, gjson.Parse(body)
	}
	status, created := ask(d, "tools/call", "execute", `"name":"execute","arguments":{"name":"long","wait_seconds":0}`)
	id := created.Get("result.taskId").Str
	if status != 200 || id == "" || created.Get("result.resultType").Str != "task" {
		t.Fatal(status, created)
	}
	open := g.reached()
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait()
	if status, task := ask(other, "tasks/get", id, `"taskId":"`+id+`"`); status != 200 || task.Get("result.status").Str != "working" {
		t.Error(status, task)
	}
	if status, refused := ask(other, "tasks/get", "other", `"taskId":"`+id+`"`); status != 400 || refused.Get("error.code").Int() != -32020 {
		t.Error(status, refused)
	}
	open()
	p.eventually("the task has ended", func() bool {
		_, task := ask(other, "tasks/get", id, `"taskId":"`+id+`"`)
		return task.Get("result.status").Str == "completed"
	})
	stdio := p.connect("pflow-serve")
	if task := stdio.task(id); task.Get("result.structuredContent.status").Str != "completed" || p.read("ran.txt") != "a\nb\nc\n" {
		t.Errorf("%s; %q ran", task, p.read("ran.txt"))
	}
	stdio.leave()
}
