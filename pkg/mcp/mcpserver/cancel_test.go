package mcpserver_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

func cancelled(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
}

// stubborn is a tool that ends only when it is let go, whatever its context.
func stubborn(t *testing.T) (busy mcpserver.Tool, entered chan string, release chan struct{}) {
	t.Helper()
	entered, release = make(chan string, 10), make(chan struct{})
	return tool("stubborn", func(_ context.Context, c *mcpserver.Call) *mcpserver.Result {
		entered <- string(c.Arguments)
		<-release
		return text("done")
	}), entered, release
}

func TestCancelledIDIsTakenUntilTheCallEnds(t *testing.T) {
	busy, entered, release := stubborn(t)
	c := serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{busy}})
	c.send(hello("2025-11-25"), call(`"a"`, "stubborn", "{}"))
	<-entered
	c.send(cancelled(`"a"`), cancelled(`"a"`), cancelled(`"b"`), cancelled(`true`), call(`"a"`, "stubborn", "{}"))
	if line := c.answer("null"); gjson.Get(line, "error.code").Int() != -32600 || !strings.Contains(gjson.Get(line, "error.message").Str, `The id "a"`) {
		t.Error(line)
	}
	close(release)
	for again := true; again; { // until it has ended
		c.send(call(`"a"`, "stubborn", "{}"))
		line := c.next()
		again = gjson.Get(line, "id").Raw == "null"
		if !again && gjson.Get(line, "result.content.0.text").Str != "done" {
			t.Error(line)
		}
	}
}

func TestEndOfInputDoesNotWaitForTheCancelled(t *testing.T) {
	busy, entered, release := stubborn(t)
	defer close(release)
	c := serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{busy}})
	c.send(hello("2025-11-25"), call("1", "stubborn", "{}"))
	<-entered
	c.send(cancelled("1"))
	c.eof()
	if lines := c.rest(); len(lines) != 1 || gjson.Get(lines[0], "id").Raw != "0" {
		t.Errorf("answers: %v", lines)
	}
	if err := c.result(); err != nil {
		t.Errorf("Serve = %v", err)
	}
}

func TestCancelledCallOfABatch(t *testing.T) {
	busy, entered, release := stubborn(t)
	defer close(release)
	c := serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{busy, echo()}})
	c.send(hello("2025-03-26"))
	c.answer("0")
	c.send("[" + call("1", "stubborn", "{}") + "," + call("2", "echo", "{}") + "]")
	<-entered
	c.send(cancelled("1"))
	if line := c.next(); gjson.Get(line, "#").Int() != 1 || gjson.Get(line, "0.id").Raw != "2" {
		t.Error(line)
	}
	c.send("["+call("3", "stubborn", "{}")+","+cancelled("3")+"]", `{"jsonrpc":"2.0","id":4,"method":"ping"}`)
	if line := c.next(); gjson.Get(line, "id").Raw != "4" { // a batch without answers has none
		t.Error(line)
	}
}

func TestInitializeCannotBeCancelled(t *testing.T) {
	c := serve(t, mcpserver.Config{Name: "s"})
	c.send("[" + strings.Split(hello("2025-03-26"), "\n")[0] + "," + cancelled("0") + "]")
	if line := c.next(); gjson.Get(line, "0.result.protocolVersion").Str != "2025-03-26" {
		t.Error(line)
	}
}
