package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/stdio"
)

func TestOneShotPipesGetEveryAnswer(t *testing.T) {
	for range 30 {
		var c *client
		ready := make(chan struct{})
		slow := tool("slow", func(ctx context.Context, _ *mcpserver.Call) *mcpserver.Result {
			<-ready
			<-c.atEOF // no call is done before the input is
			if ctx.Err() != nil {
				return text("cancelled")
			}
			return text("done")
		})
		c = serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{slow}})
		close(ready)
		c.send(hello("2025-11-25"), call("1", "slow", "{}"), call("2", "slow", "{}"))
		c.write(call(`"three"`, "slow", "{}")) // the last line has no newline
		c.eof()
		var done []string
		for _, line := range c.rest() {
			if gjson.Get(line, "result.content.0.text").Str == "done" {
				done = append(done, gjson.Get(line, "id").Raw)
			}
		}
		slices.Sort(done)
		if got := strings.Join(done, " "); got != `"three" 1 2` {
			t.Fatalf("answered: %s", got)
		}
		if err := c.result(); err != nil {
			t.Fatalf("Serve = %v", err)
		}
	}
}

func TestLinesThatAreNoRequestsAreAnswered(t *testing.T) {
	c := serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{echo()}})
	for _, tc := range []struct {
		name, line, id string
		code           int64
	}{
		{"text", `hello`, "null", -32700},
		{"torn JSON", `{"jsonrpc":"2.0","id":1,"meth`, "null", -32700},
		{"two on a line", `{"jsonrpc":"2.0","id":1,"method":"ping"} {}`, "null", -32700},
		{"LSP framing", `Content-Length: 52`, "null", -32700},
		{"JSON but no JSON-RPC", `{"level":"info"}`, "null", -32600},
		{"other version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, "1", -32600},
		{"no version", `{"id":41,"method":"ping"}`, "41", -32600},
		{"a number for a method", `{"jsonrpc":"2.0","id":42,"method":7}`, "42", -32600},
		{"no method", `{"jsonrpc":"2.0","id":43}`, "43", -32600},
		{"no id and no method", `{"jsonrpc":"2.0"}`, "null", -32600},
		{"an answer of another form", `{"jsonrpc":"2.0","id":44,"error":7}`, "null", -32600},
		{"an answer to nothing", `{"jsonrpc":"2.0","result":7}`, "null", -32600},
		{"null for an id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null", -32600},
		{"too deep for the SDK", `{"jsonrpc":"2.0","id":"d","method":"ping","params":{"a":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}}`, `"d"`, -32600},
		{"too deep for Go", `{"jsonrpc":"2.0","id":"dd","method":"ping","params":{"a":` + strings.Repeat(`{"\"[":[`, 20_000) + strings.Repeat("]}", 20_000) + `}}`, `"dd"`, -32600},
		{"a batch too deep", strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), "null", -32600},
		{"brackets in strings", `{"jsonrpc":"2.0","id":"s","method":"server/discover","params":{"a":"` + strings.Repeat(`\"[`, 2000) + `"}}`, `"s"`, -32601},
		{"a number", `7`, "null", -32600},
		{"odd id", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, "null", -32600},
		{"big id", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "9007199254740993", -32600},
		{"fraction for an id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "1.5", -32600},
		{"empty batch", `[]`, "null", -32600},
		{"torn batch", `[{"jsonrpc":"2.0"`, "null", -32700},
		{"too early", call("6", "echo", "{}"), "6", -32600},
	} {
		c.send("", tc.line)
		line := c.next()
		if got := gjson.Get(line, "error.code").Int(); got != tc.code || gjson.Get(line, "id").Raw != tc.id || gjson.Get(line, "error.message").Str == "" {
			t.Errorf("%s: %s", tc.name, line)
		}
	}
	c.send(hello("2025-11-25"), `{"jsonrpc":"2.0","id":5,"method":"no/such"}`, call("1", "echo", `{"a":1}`))
	if line := c.answer("5"); gjson.Get(line, "error.code").Int() != -32601 {
		t.Errorf("unknown method: %s", line)
	}
	if line := c.answer("1"); gjson.Get(line, "result.structuredContent.a").Int() != 1 {
		t.Errorf("after all that: %s", line)
	}
}

func TestIDInUseIsRefusedAndFreeAfterwards(t *testing.T) {
	release := make(chan struct{})
	hold := tool("hold", func(context.Context, *mcpserver.Call) *mcpserver.Result { <-release; return text("held") })
	c := serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{hold}})
	c.send(hello("2025-11-25"), call("1", "hold", "{}"), call("1", "hold", "{}"))
	if line := c.answer("null"); gjson.Get(line, "error.code").Int() != -32600 {
		t.Errorf("second use: %s", line)
	}
	close(release)
	c.answer("1")
	c.send(call("1", "hold", "{}")) // an answered id is free
	if line := c.answer("1"); gjson.Get(line, "result.content.0.text").Str != "held" {
		t.Errorf("third use: %s", line)
	}
}

func TestBatchIsAnsweredAsOne(t *testing.T) {
	c := serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{echo()}})
	c.send(hello("2025-03-26"))
	c.answer("0")
	c.send("[" + call("1", "echo", `{"n":1}`) + `,{"no":"message"},{"jsonrpc":"2.0","method":"notifications/other"},` + call("2", "echo", `{"n":2}`) + "]")
	c.eof()
	lines := c.rest()
	if len(lines) != 1 {
		t.Fatalf("%d lines: %v", len(lines), lines)
	}
	answers := gjson.Parse(lines[0])
	if n := len(answers.Array()); n != 3 {
		t.Fatalf("%d answers: %s", n, lines[0])
	}
	for _, id := range []string{"1", "2"} {
		if got := answers.Get(`#(id==` + id + `).result.structuredContent.n`).Raw; got != id {
			t.Errorf("answer to %s: %s", id, lines[0])
		}
	}
	if !answers.Get(`#(error.code==-32600)`).Exists() {
		t.Errorf("no word on the element that is no message: %s", lines[0])
	}
}

func TestCancelledNotificationEndsTheCall(t *testing.T) {
	started, ended := make(chan struct{}), make(chan struct{})
	wait := tool("wait", func(ctx context.Context, _ *mcpserver.Call) *mcpserver.Result {
		close(started)
		<-ctx.Done()
		close(ended)
		return text("cancelled")
	})
	c := serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{wait}})
	c.send(hello("2025-11-25"), call("1", "wait", "{}"))
	<-started
	c.send(cancelled("1"))
	<-ended
	c.eof()
	if lines := c.rest(); len(lines) != 1 || gjson.Get(lines[0], "id").Raw != "0" {
		t.Errorf("answers: %v", lines)
	}
	if err := c.result(); err != nil {
		t.Errorf("Serve = %v", err)
	}
}

func TestStopLetsCallsAnswer(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		started := make(chan struct{}, 2)
		release := make(chan struct{})
		defer close(release)
		heeds := tool("heeds", func(ctx context.Context, _ *mcpserver.Call) *mcpserver.Result {
			started <- struct{}{}
			<-ctx.Done()
			return text(context.Cause(ctx).Error())
		})
		ignores := tool("ignores", func(context.Context, *mcpserver.Call) *mcpserver.Result {
			started <- struct{}{}
			<-release
			return text("too late")
		})
		c := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{heeds, ignores}})
		c.send(hello("2025-11-25"), call("1", "heeds", "{}"), call("2", "ignores", "{}"))
		<-started
		<-started
		stopped := errors.New("stopped by a signal")
		c.stop(stopped)
		answers := map[string]string{}
		for _, line := range c.rest() {
			answers[gjson.Get(line, "id").Raw] = line
		}
		if got := gjson.Get(answers["1"], "result.content.0.text").Str; got != stopped.Error() {
			t.Errorf("the call that heeds its context: %s", answers["1"])
		}
		if gjson.Get(answers["2"], "error.code").Int() != -32603 {
			t.Errorf("the call that does not: %s", answers["2"])
		}
		if err := c.result(); !errors.Is(err, stopped) {
			t.Errorf("Serve = %v", err)
		}
	})
}

func TestStopOfAnIdleServer(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		c := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{echo()}})
		c.send(hello("2025-11-25"))
		c.answer("0")
		stopped := errors.New("stopped by a signal")
		c.stop(stopped)
		if lines := c.rest(); len(lines) != 0 {
			t.Errorf("it still said %v", lines)
		}
		if err := c.result(); !errors.Is(err, stopped) {
			t.Errorf("Serve = %v", err)
		}
	})
}

func TestClientThatGoesAwayEndsCalls(t *testing.T) {
	serverIn, in, _ := os.Pipe()
	out, serverOut, _ := os.Pipe()
	t.Cleanup(func() { _ = in.Close() })
	entered, ended := make(chan struct{}), make(chan struct{})
	wait := tool("wait", func(ctx context.Context, _ *mcpserver.Call) *mcpserver.Result {
		close(entered)
		<-ctx.Done()
		close(ended)
		return text("")
	})
	served := make(chan error, 1)
	go func() {
		served <- newServer(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{wait}}).Serve(t.Context(), &stdio.Transport{In: serverIn, Out: serverOut})
	}()
	_, _ = io.WriteString(in, hello("2025-11-25")+"\n")
	_, _ = bufio.NewReader(out).ReadString('\n')
	_ = out.Close()
	_, _ = io.WriteString(in, call("1", "wait", "{}")+"\n")
	<-entered
	_, _ = io.WriteString(in, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`+"\n")
	select {
	case err := <-served:
		if err == nil {
			t.Error("no error though the answers could not be written")
		}
		<-ended
	case <-time.After(patience):
		t.Fatal("the server goes on without a client")
	}
}

func TestPanicIsAnAnswer(t *testing.T) {
	overBoth(t, func(t *testing.T, over connect) {
		crash := tool("crash", func(context.Context, *mcpserver.Call) *mcpserver.Result { panic("ouch") })
		nothing := tool("nothing", func(context.Context, *mcpserver.Call) *mcpserver.Result { return nil })
		garbled := tool("garbled", func(context.Context, *mcpserver.Call) *mcpserver.Result {
			return &mcpserver.Result{Structured: json.RawMessage(`{"a":`)}
		})
		list := tool("list", func(context.Context, *mcpserver.Call) *mcpserver.Result {
			return &mcpserver.Result{Structured: json.RawMessage(`[1]`)}
		})
		crashing := mcpserver.Resource{URI: "x://crash", Name: "crash", Read: func(context.Context, string) (*mcpserver.Content, error) { panic("ouch") }}
		c := over.serve(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{crash, nothing, garbled, list, echo()}, Resources: []mcpserver.Resource{crashing}})
		c.send(hello("2025-11-25"))
		for _, name := range []string{"crash", "nothing", "garbled", "list"} {
			c.send(call("1", name, "{}"))
			line := c.answer("1")
			if got := gjson.Get(line, "result.structuredContent.error.type").Str; got != "internal_error" || !gjson.Get(line, "result.isError").Bool() {
				t.Errorf("%s: %s", name, line)
			}
		}
		c.send(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"x://crash"}}`)
		if line := c.answer("2"); gjson.Get(line, "error.code").Int() != -32603 || gjson.Get(line, "error.data.type").Str != "internal_error" {
			t.Errorf("resource: %s", line)
		}
		c.send(call("3", "echo", `{}`))
		if line := c.answer("3"); gjson.Get(line, "result.isError").Bool() {
			t.Errorf("afterwards: %s", line)
		}
	})
}

func nowhere(context.Context, string) (*mcpserver.Content, error) { return nil, nil }

func TestTableThatCannotBeServed(t *testing.T) {
	for name, s := range map[string]mcpserver.Config{
		"no schema": {Name: "s", Tools: []mcpserver.Tool{{Name: "x"}}},
		"twins":     {Name: "s", Tools: []mcpserver.Tool{echo(), echo()}},
		"bad URI":   {Name: "s", Resources: []mcpserver.Resource{{URI: "x://{", Read: nowhere}}},
		"no reader": {Name: "s", Resources: []mcpserver.Resource{{URI: "x://a", Name: "a"}}},
	} {
		if _, err := mcpserver.New(s); err == nil || fault.From(err).Type != fault.Internal {
			t.Errorf("%s: %v", name, err)
		}
	}
	in, _ := io.Pipe()
	_, out := io.Pipe()
	if err := newServer(t, mcpserver.Config{Name: "s"}).Serve(t.Context(), &stdio.Transport{In: in, Out: out, Framing: "xml"}); err == nil || fault.From(err).Type != fault.Internal {
		t.Errorf("framing: %v", err)
	}
}
