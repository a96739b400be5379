package mcpserver_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// TestRefusedArgumentsByRevision holds how a call with arguments that do not match is answered: by an error of the protocol
// before revision 2025-11-25, and by a failed result from then on. An unknown tool is always an error of the protocol.
func TestRefusedArgumentsByRevision(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		describe := tool("describe", func(context.Context, *mcpserver.Call) *mcpserver.Result { return text("ran") })
		describe.InputSchema = json.RawMessage(describeSchema)
		unchecked := tool("unchecked", func(context.Context, *mcpserver.Call) *mcpserver.Result {
			return &mcpserver.Result{IsError: true, Text: "refused"}
		})
		unchecked.InputSchema, unchecked.SkipValidation = json.RawMessage(describeSchema), true
		for version, isError := range map[string]bool{"2024-11-05": false, "2025-03-26": false, "2025-06-18": false, "2025-11-25": true, "2026-07-28": true} {
			c := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{describe, unchecked}})
			stateless := version == "2026-07-28"
			if !stateless {
				c.send(hello(version))
				c.answer("0")
			}
			c.send(request(stateless, "1", "tools/call", `"name":"describe","arguments":{"name":5}`))
			line := c.answer("1")
			failure := gjson.Get(line, "error.data")
			if isError {
				failure = gjson.Get(line, "result.structuredContent.error")
			}
			if gjson.Get(line, "result.isError").Bool() != isError || (gjson.Get(line, "error.code").Int() == -32602) == isError {
				t.Errorf("%s: %s", version, line)
			}
			if failure.Get("type").Str != "usage_error" || failure.Get("path").Str != "name" {
				t.Errorf("%s: the fault is %s", version, failure.Raw)
			}
			c.send(request(stateless, "1", "tools/call", `"name":"unchecked","arguments":{"name":5}`))
			if line := c.answer("1"); !gjson.Get(line, "result.isError").Bool() {
				t.Errorf("%s: a tool that checks for itself: %s", version, line)
			}
			c.send(request(stateless, "1", "tools/call", `"name":"descibe","arguments":{}`))
			line = c.answer("1")
			if gjson.Get(line, "error.code").Int() != -32602 || gjson.Get(line, "error.data.suggestions.0").Str != `Did you mean "describe"?` {
				t.Errorf("%s: an unknown tool: %s", version, line)
			}
		}
	})
}

func TestNullArgumentIsNotGiven(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		describe := echo()
		describe.InputSchema = json.RawMessage(describeSchema)
		c := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{describe}})
		c.send(hello("2025-06-18"), call("1", "echo", `{"name":"a","limit":null,"mode":null,"filter":{"of":null}}`))
		if got := gjson.Get(c.answer("1"), "result.structuredContent").Raw; got != `{"filter":{"of":null},"name":"a"}` {
			t.Error(got)
		}
	})
}

func TestToolsHaveTheirMeta(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		kept := echo()
		kept.Meta = map[string]any{"anthropic/alwaysLoad": true}
		plain := echo()
		plain.Name = "plain"
		c := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{kept, plain}})
		c.send(hello("2025-06-18"))
		for _, stateless := range []bool{false, true} {
			c.send(request(stateless, "1", "tools/list", `"x":1`))
			if got := gjson.Get(c.answer("1"), "result.tools.#._meta").Raw; got != `[{"anthropic/alwaysLoad":true}]` {
				t.Errorf("stateless %v: %s", stateless, got)
			}
		}
	})
}

// TestFailureKeepsItsText holds that a summary does not replace the text of a failure.
func TestFailureKeepsItsText(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		failing := tool("failing", func(context.Context, *mcpserver.Call) *mcpserver.Result {
			return &mcpserver.Result{Structured: json.RawMessage(`{"why":"so"}`), Summary: "it failed", IsError: true}
		})
		for _, version := range []string{"2025-03-26", "2025-11-25"} {
			c := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{failing}})
			c.send(hello(version), call("1", "failing", "{}"))
			if got := textAndStructured(c.answer("1")); got != `["{\"why\":\"so\"}",{"why":"so"}]` {
				t.Errorf("%s: %s", version, got)
			}
		}
	})
}
