package mcpserver_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

func TestCustomMethods(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		methods := map[string]mcpserver.Method{
			"acme/echo": func(_ context.Context, r *mcpserver.CustomRequest) (json.RawMessage, error) {
				if r.Params == nil {
					return json.RawMessage(`{"none":true}`), nil
				}
				return json.RawMessage(`{"method":"` + r.Method + `","revision":"` + r.Revision + `","got":` + gjson.GetBytes(r.Params, "give").Raw + `,"_meta":{"a.b":1.50}}`), nil
			},
			"acme/task": func(context.Context, *mcpserver.CustomRequest) (json.RawMessage, error) {
				return json.RawMessage(`{"resultType":"task"}`), nil
			},
			"acme/fault": func(context.Context, *mcpserver.CustomRequest) (json.RawMessage, error) {
				return nil, fault.New(fault.NotFound, "no such task")
			},
			"acme/own": func(context.Context, *mcpserver.CustomRequest) (json.RawMessage, error) {
				return nil, &mcpserver.Error{Kind: mcpserver.Invalid, Message: "no", Data: json.RawMessage(`[1]`)}
			},
			"acme/list": func(context.Context, *mcpserver.CustomRequest) (json.RawMessage, error) {
				return json.RawMessage(`[1]`), nil
			},
			"acme/panic": func(context.Context, *mcpserver.CustomRequest) (json.RawMessage, error) { panic("ouch") },
		}
		c := over.serve(t, mcpserver.Config{Name: "s", Methods: methods})
		c.send(legacy("1", "acme/echo", `"give":1`))
		if line := c.answer("1"); gjson.Get(line, "error.code").Int() != -32600 {
			t.Errorf("before initialize: %s", line)
		}
		c.send(hello("2025-11-25"))
		c.answer("0")
		for _, tc := range []struct{ request, path, want string }{
			{legacy("1", "acme/echo", `"give":9007199254740993`), "result", `{"method":"acme/echo","revision":"2025-11-25","got":9007199254740993,"_meta":{"a.b":1.50}}`},
			{legacy("1", "acme/echo", `"give":"<é>","_meta":{}`), "result.got", `"<é>"`},
			{`{"jsonrpc":"2.0","id":1,"method":"acme/echo"}`, "result", `{"none":true}`},
			{`{"jsonrpc":"2.0","id":1,"method":"acme/echo","params":[1]}`, "error.code", `-32602`},
			{modern("1", "acme/echo", `"give":1,`), "result.revision", `"2026-07-28"`},
			{modern("1", "acme/echo", `"give":1,`), "result.resultType", `"complete"`},
			{modern("1", "acme/echo", `"give":1,`), `result._meta.a\.b`, `1.50`},
			{modern("1", "acme/echo", `"give":1,`), `result._meta.io\.modelcontextprotocol/serverInfo.name`, `"s"`},
			{modern("1", "acme/task", ""), "result.resultType", `"task"`},
			{legacy("1", "acme/task", ""), "result", `{"resultType":"task"}`},
			{legacy("1", "acme/fault", ""), "error", `{"code":-32602,"message":"no such task","data":{"type":"not_found","message":"no such task"}}`},
			{legacy("1", "acme/own", ""), "error", `{"code":-32602,"message":"no","data":[1]}`},
			{legacy("1", "acme/list", ""), "error.code", `-32603`},
			{legacy("1", "acme/panic", ""), "error.data.type", `"internal_error"`},
			{legacy("1", "acme/other", ""), "error.code", `-32601`},
			{modern("1", "acme/other", ""), "error.code", `-32601`},
		} {
			c.send(tc.request)
			if line := c.answer("1"); gjson.Get(line, tc.path).Raw != tc.want {
				t.Errorf("%s: %s is not %s: %s", tc.request, tc.path, tc.want, line)
			}
		}
	})
}

func TestMethodThatMCPHas(t *testing.T) {
	_, err := mcpserver.New(mcpserver.Config{Name: "s", Methods: map[string]mcpserver.Method{"tools/call": nil}})
	if err == nil || fault.From(err).Type != fault.Internal {
		t.Errorf("New = %v", err)
	}
}

func TestCustomMethodCanBeCancelled(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		entered, ended := make(chan struct{}), make(chan mcpserver.End, 1)
		c := over.serve(t, mcpserver.Config{Name: "s", Methods: map[string]mcpserver.Method{
			"acme/wait": func(ctx context.Context, _ *mcpserver.CustomRequest) (json.RawMessage, error) {
				close(entered)
				<-ctx.Done()
				ended <- mcpserver.WhyEnded(ctx)
				return json.RawMessage(`{}`), nil
			},
		}})
		c.send(hello("2025-11-25"), legacy("1", "acme/wait", ""))
		<-entered
		c.send(cancelled("1"))
		if got := <-ended; got != mcpserver.Cancelled {
			t.Errorf("it ends because %q", got)
		}
	})
}
