package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// asking is a tool that returns how it can ask, or asks if its call has replies or a state.
func asking() mcpserver.Tool {
	form := &mcpserver.Elicitation{Message: "Sure?", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}
	return mcpserver.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`), Call: func(ctx context.Context, call *mcpserver.Call) *mcpserver.Result {
		switch {
		case call.Asking() == mcpserver.Directly:
			reply, err := call.Elicit(ctx, form)
			return text(fmt.Sprint(reply.Action, " ", string(reply.Content), " ", err))
		case call.Asking() == mcpserver.ByResult && call.State == "":
			return &mcpserver.Result{Input: &mcpserver.Input{Elicitations: map[string]*mcpserver.Elicitation{"sure": form}, State: "first"}}
		}
		return text(fmt.Sprint(call.Asking(), " ", call.State, " ", call.Replies["sure"].Action, " ", string(call.Replies["sure"].Content)))
	}}
}

func TestHowACallAsks(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		for _, c := range []struct{ revision, capabilities, want string }{
			{"2025-11-25", `{}`, "   "}, {"2025-11-25", `{"elicitation":{"url":{}}}`, "   "},
		} {
			s := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{asking()}})
			s.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + c.revision + `","capabilities":` + c.capabilities + `,"clientInfo":{"name":"c","version":"1"}}}`)
			s.answer("0")
			// Before 2026-07-28 a request has no state.
			s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","requestState":"forged","inputResponses":{"sure":{"action":"accept"}}}}`)
			if got := gjson.Get(s.answer("1"), "result.content.0.text").Str; got != c.want {
				t.Errorf("%s with %s: %q", c.revision, c.capabilities, got)
			}
		}
	})
}

func TestAResultAsks(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		s := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{asking()}})
		call := func(id, capabilities, more string) gjson.Result {
			s.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"ask"` + more + `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
				`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":` + capabilities + `}}}`)
			return gjson.Get(s.answer(id), "result")
		}
		asked := call("1", `{"elicitation":{}}`, "")
		if asked.Get("resultType").Str != "input_required" || asked.Get("requestState").Str != "first" || asked.Get("content").Exists() ||
			asked.Get("inputRequests.sure.params.requestedSchema.properties.n.type").Str != "integer" || asked.Get("inputRequests.sure.params.mode").Str != "form" {
			t.Error(asked.Raw)
		}
		if got := call("2", `{"elicitation":{}}`, `,"requestState":"first","inputResponses":{"sure":{"action":"accept","content":{"n":3}}}`); got.Get("content.0.text").Str != `by result first accept {"n":3}` {
			t.Error(got.Raw)
		}
		if got := call("3", `{}`, ""); got.Get("resultType").Str != "complete" || got.Get("content.0.text").Str != "   " {
			t.Error(got.Raw)
		}
	})
}
