package mcpserver_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// watch is a tool whose calls end with their contexts, and the ends of its calls.
func watch() (waiting mcpserver.Tool, entered chan string, ended chan context.Context) {
	entered, ended = make(chan string, 10), make(chan context.Context, 10)
	return tool("wait", func(ctx context.Context, c *mcpserver.Call) *mcpserver.Result {
		entered <- string(c.Arguments)
		<-ctx.Done()
		ended <- ctx
		return text(string(mcpserver.WhyEnded(ctx)))
	}), entered, ended
}

func cancelledFor(id, reason string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"` + reason + `"}}`
}

func TestCallsKnowWhyTheyEnd(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		stopped := errors.New("stopped by a signal")
		for name, tc := range map[string]struct {
			end  func(c *client)
			want mcpserver.End
		}{
			"cancelled":           {func(c *client) { c.send(cancelled("1")) }, mcpserver.Cancelled},
			"with a reason":       {func(c *client) { c.send(cancelledFor("1", "enough")) }, mcpserver.Cancelled},
			"TypeScript timeout":  {func(c *client) { c.send(cancelledFor("1", "McpError: MCP error -32001: Request timed out")) }, mcpserver.Gone},
			"Go timeout":          {func(c *client) { c.send(cancelledFor("1", "context deadline exceeded")) }, mcpserver.Gone},
			"Rust timeout":        {func(c *client) { c.send(cancelledFor("1", "request timeout")) }, mcpserver.Gone},
			"the client is gone":  {func(c *client) { c.leave() }, mcpserver.Gone},
			"the server is ended": {func(c *client) { c.stop(stopped) }, mcpserver.Stopping},
		} {
			waiting, entered, ended := watch()
			c := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{waiting}})
			c.send(hello("2025-11-25"), call("1", "wait", "{}"))
			c.answer("0")
			<-entered
			tc.end(c)
			select {
			case ctx := <-ended:
				if got := mcpserver.WhyEnded(ctx); got != tc.want || tc.want == mcpserver.Stopping && !errors.Is(context.Cause(ctx), stopped) {
					t.Errorf("%s: %q, because %v", name, got, context.Cause(ctx))
				}
			case <-time.After(patience):
				t.Errorf("%s: the call goes on", name)
			}
		}
	})
}

func TestWhyEndedOfOtherContexts(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if got := mcpserver.WhyEnded(ctx); got != "" {
		t.Errorf("before the end: %q", got)
	}
	cancel()
	if got := mcpserver.WhyEnded(ctx); got != "" {
		t.Errorf("no session has ended it: %q", got)
	}
}

// TestSessionsAreApart has two clients on one server: what happens to one does not touch the other's call.
func TestSessionsAreApart(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		for name, end := range map[string]func(c *client){
			"goes away":  func(c *client) { c.leave() },
			"cancels":    func(c *client) { c.send(cancelled("1")) },
			"is stopped": func(c *client) { c.stop(errors.New("stopped")) },
		} {
			waiting, entered, ended := watch()
			s := newServer(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{waiting, echo()}})
			one, other := over(t, s), over(t, s)
			one.send(hello("2025-11-25"))
			other.send(hello("2024-11-05"))
			one.answer("0")
			if line := other.answer("0"); gjson.Get(line, "result.protocolVersion").Str != "2024-11-05" {
				t.Error(line)
			}
			other.send(call("1", "wait", `{"who":"other"}`))
			<-entered
			one.send(call("1", "wait", `{"who":"one"}`))
			<-entered
			end(one)
			<-ended
			other.send(call("2", "echo", "{}"))
			other.answer("2")
			if len(ended) > 0 {
				t.Errorf("one client %s: the call of the other ends for %v", name, context.Cause(<-ended))
			}
			other.send(cancelledFor("1", "enough"))
			if ctx := <-ended; mcpserver.WhyEnded(ctx) != mcpserver.Cancelled {
				t.Errorf("one client %s: the call of the other ends for %v", name, context.Cause(ctx))
			}
		}
	})
}

// TestClientThatLeavesIsNoError holds that the transport's end is the session's.
func TestClientThatLeavesIsNoError(t *testing.T) {
	waiting, entered, ended := watch()
	c := overMemory(t, newServer(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{waiting}}))
	c.send(hello("2025-11-25"), call("1", "wait", "{}"))
	c.answer("0")
	<-entered
	c.leave()
	<-ended
	if err := c.result(); err != nil {
		t.Errorf("Serve = %v", err)
	}
}
