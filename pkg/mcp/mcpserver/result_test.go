package mcpserver_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// A result can have blocks in the form of MCP, and a call can end with an error of the protocol.
func TestBlocksAndErrors(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		answering := func(name string, r *mcpserver.Result) mcpserver.Tool {
			return tool(name, func(context.Context, *mcpserver.Call) *mcpserver.Result { return r })
		}
		c := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{
			answering("image", &mcpserver.Result{Text: "an image", Blocks: []json.RawMessage{json.RawMessage(`{"type":"image","mimeType":"image/png","data":"AA=="}`)}}),
			answering("garbage", &mcpserver.Result{Text: "x", Blocks: []json.RawMessage{json.RawMessage(`{"type":`)}}),
			answering("list", &mcpserver.Result{Text: "x", Blocks: []json.RawMessage{json.RawMessage(`[1]`)}}),
			answering("invalid", &mcpserver.Result{Text: "x", Err: &mcpserver.Error{Kind: mcpserver.Invalid, Message: "no"}}),
			answering("missing", &mcpserver.Result{Err: &mcpserver.Error{Kind: mcpserver.MissingCapability, Data: json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`)}}),
			answering("fault", &mcpserver.Result{Err: fault.New(fault.Usage, "no")}),
		}})
		c.send(hello("2025-11-25"))
		c.answer("0")
		for tool, want := range map[string][2]string{
			"image":   {"result.content", `[{"type":"text","text":"an image"},{"type":"image","mimeType":"image/png","data":"AA=="}]`},
			"garbage": {"result.structuredContent.error.type", `"internal_error"`},
			"list":    {"result.structuredContent.error.type", `"internal_error"`},
			"invalid": {"error", `{"code":-32602,"message":"no"}`},
			"missing": {"error", `{"code":-32021,"message":"","data":{"requiredCapabilities":{"sampling":{}}}}`},
			"fault":   {"error.code", `-32602`},
		} {
			c.send(call("1", tool, `{}`))
			if line := c.answer("1"); gjson.Get(line, want[0]).Raw != want[1] {
				t.Errorf("%s: %s is not %s: %s", tool, want[0], want[1], line)
			}
		}
	})
}
