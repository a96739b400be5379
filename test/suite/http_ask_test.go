package suite

import (
	"fmt"
	"testing"

	"github.com/tidwall/gjson"
)

// Over HTTP a result asks too, and any server of the home takes the replies. A client of an older revision, which has no session there,
// gets the answer about the paused run.
func TestHTTPAsksByResults(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("home/library/asks.json", asksBeforeDropping)
	d := p.open("--toolsets", "core")
	call := func(params string) gjson.Result {
		t.Helper()
		status, body := d.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute","arguments":{"name":"asks"}`+params+`,"_meta":`+
			`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},`+
			`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`,
			"Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "execute")
		if status != 200 {
			t.Fatalf("%d: %s", status, body)
		}
		return gjson.Get(body, "result")
	}
	asked := call("")
	if asked.Get("resultType").Str != "input_required" || asked.Get("inputRequests.drop.method").Str != "elicitation/create" {
		t.Fatal(asked.Raw)
	}
	stdio := p.launch("pflow-serve")
	if r := stdio.stateless("execute", `{"name":"asks"}`, with(asked.Get("requestState").Str, approve)); r.Get("structuredContent.status").Str != "completed" {
		t.Error(r.Raw)
	}
	_, state := stdio.asked("execute", `{"name":"asks"}`)
	if r := call(with(state, approve)); r.Get("structuredContent.outputs.said").Str != "dropped 2" {
		t.Error(r.Raw)
	}
	if r := call(with(state, approve)); r.Get("structuredContent.error.type").Str != "conflict" || p.runs() != 4 {
		t.Error(r.Raw, p.runs())
	}
	stdio.leave()
	status, body := d.ask(toolCall("2", "execute", `{"name":"asks"}`), "Accept", "application/json", "Mcp-Protocol-Version", "2025-06-18")
	if status != 200 || gjson.Get(body, "result.structuredContent.status").Str != "paused" {
		t.Error(fmt.Sprint(status), body)
	}
}
