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
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
)

// patience is how long a test waits for what has to come.
const patience = 20 * time.Second

// client is the other end of a server's pipes, speaking in raw lines, or in frames.
type client struct {
	t      *testing.T
	in     *os.File
	lines  chan string
	served chan struct{} // closed when the server is done
	err    error
	stop   context.CancelCauseFunc
	atEOF  chan struct{} // closed when the server has seen the end of its input
	passed []string      // lines that answer has passed over
}

// serve starts a server on pipes of the operating system.
func serve(t *testing.T, s *mcpserver.Server) *client {
	t.Helper()
	return serveTo(t, s, func(r *bufio.Reader) (string, error) { return r.ReadString('\n') })
}

// serveTo does so for a client that reads answers in its own way.
func serveTo(t *testing.T, s *mcpserver.Server, read func(*bufio.Reader) (string, error)) *client {
	t.Helper()
	serverIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, serverOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	c := &client{t: t, in: in, lines: make(chan string, 100), served: make(chan struct{}), stop: stop, atEOF: make(chan struct{})}
	go func() {
		defer close(c.served)
		c.err = s.ServeStdio(ctx, &watched{ReadCloser: serverIn, ended: c.atEOF}, serverOut)
	}()
	go func() {
		defer close(c.lines)
		r := bufio.NewReader(out)
		for {
			line, err := read(r)
			if err != nil {
				return
			}
			c.lines <- line
		}
	}()
	t.Cleanup(func() { stop(nil); _ = in.Close(); _ = c.result(); _ = out.Close() })
	return c
}

// watched says when the end of a stream has been read.
type watched struct {
	io.ReadCloser
	once  sync.Once
	ended chan struct{}
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if err != nil {
		w.once.Do(func() { close(w.ended) })
	}
	return n, err
}

func (c *client) send(lines ...string) {
	c.t.Helper()
	c.write(strings.Join(lines, "\n") + "\n")
}

func (c *client) write(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, text); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) eof() { _ = c.in.Close() }

// next is the server's next line; "" when there is none.
func (c *client) next() string {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		if ok && !json.Valid([]byte(line)) {
			c.t.Errorf("not JSON on standard output: %q", line)
		}
		return strings.TrimSuffix(line, "\n")
	case <-time.After(patience):
		c.t.Fatal("no answer")
		return ""
	}
}

// answer is the answer to a request, before or behind others.
func (c *client) answer(id string) string {
	c.t.Helper()
	is := func(line string) bool { return gjson.Get(line, "id").Raw == id }
	if i := slices.IndexFunc(c.passed, is); i >= 0 {
		line := c.passed[i]
		c.passed = slices.Delete(c.passed, i, i+1)
		return line
	}
	for {
		line := c.next()
		if line == "" {
			c.t.Fatalf("the output ended without an answer to %s", id)
		}
		if is(line) {
			return line
		}
		c.passed = append(c.passed, line)
	}
}

// rest is everything that is still to come.
func (c *client) rest() []string {
	c.t.Helper()
	var all []string
	for line := c.next(); line != ""; line = c.next() {
		all = append(all, line)
	}
	return all
}

// result is what ServeStdio returned.
func (c *client) result() error {
	c.t.Helper()
	select {
	case <-c.served:
	case <-time.After(patience):
		c.t.Error("the server goes on")
	}
	return c.err
}

func hello(version string) string {
	return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` +
		"\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}`
}

func call(id, tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
}

func text(s string) *mcpserver.Result { return &mcpserver.Result{Text: s} }

// tool is one that takes anything.
func tool(name string, run func(ctx context.Context, c *mcpserver.Call) *mcpserver.Result) mcpserver.Tool {
	return mcpserver.Tool{Name: name, Description: name, InputSchema: json.RawMessage(`{"type":"object"}`), Call: run}
}

func echo() mcpserver.Tool {
	return tool("echo", func(_ context.Context, c *mcpserver.Call) *mcpserver.Result {
		return &mcpserver.Result{Structured: c.Arguments}
	})
}

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
		c = serve(t, &mcpserver.Server{Name: "s", Tools: []mcpserver.Tool{slow}})
		close(ready)
		c.send(hello("2025-11-25"), call("1", "slow", "{}"), call("2", "slow", "{}"))
		_, _ = io.WriteString(c.in, call(`"three"`, "slow", "{}")) // the last line has no newline
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
			t.Fatalf("ServeStdio = %v", err)
		}
	}
}

func TestLinesThatAreNoRequestsAreAnswered(t *testing.T) {
	c := serve(t, &mcpserver.Server{Name: "s", Tools: []mcpserver.Tool{echo()}})
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
	c := serve(t, &mcpserver.Server{Name: "s", Tools: []mcpserver.Tool{hold}})
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
	c := serve(t, &mcpserver.Server{Name: "s", Tools: []mcpserver.Tool{echo()}})
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
	c := serve(t, &mcpserver.Server{Name: "s", Tools: []mcpserver.Tool{wait}})
	c.send(hello("2025-11-25"), call("1", "wait", "{}"))
	<-started
	c.send(cancelled("1"))
	<-ended
	c.eof()
	if lines := c.rest(); len(lines) != 1 || gjson.Get(lines[0], "id").Raw != "0" {
		t.Errorf("answers: %v", lines)
	}
	if err := c.result(); err != nil {
		t.Errorf("ServeStdio = %v", err)
	}
}

func TestStopLetsCallsAnswer(t *testing.T) {
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
	c := serve(t, &mcpserver.Server{Name: "s", Tools: []mcpserver.Tool{heeds, ignores}})
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
		t.Errorf("ServeStdio = %v", err)
	}
}

func TestStopOfAnIdleServer(t *testing.T) {
	c := serve(t, &mcpserver.Server{Name: "s", Tools: []mcpserver.Tool{echo()}})
	c.send(hello("2025-11-25"))
	c.answer("0")
	stopped := errors.New("stopped by a signal")
	c.stop(stopped)
	if lines := c.rest(); len(lines) != 0 {
		t.Errorf("it still said %v", lines)
	}
	if err := c.result(); !errors.Is(err, stopped) {
		t.Errorf("ServeStdio = %v", err)
	}
}

func TestClientThatGoesAwayEndsCalls(t *testing.T) {
	serverIn, in, _ := os.Pipe()
	out, serverOut, _ := os.Pipe()
	t.Cleanup(func() { _ = in.Close() })
	ended := make(chan struct{})
	wait := tool("wait", func(ctx context.Context, _ *mcpserver.Call) *mcpserver.Result {
		<-ctx.Done()
		close(ended)
		return text("")
	})
	served := make(chan error, 1)
	go func() {
		served <- (&mcpserver.Server{Name: "s", Tools: []mcpserver.Tool{wait}}).ServeStdio(t.Context(), serverIn, serverOut)
	}()
	_, _ = io.WriteString(in, hello("2025-11-25")+"\n")
	_, _ = bufio.NewReader(out).ReadString('\n')
	_ = out.Close()
	_, _ = io.WriteString(in, call("1", "wait", "{}")+"\n"+`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`+"\n")
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
	crash := tool("crash", func(context.Context, *mcpserver.Call) *mcpserver.Result { panic("ouch") })
	nothing := tool("nothing", func(context.Context, *mcpserver.Call) *mcpserver.Result { return nil })
	garbled := tool("garbled", func(context.Context, *mcpserver.Call) *mcpserver.Result {
		return &mcpserver.Result{Structured: json.RawMessage(`{"a":`)}
	})
	list := tool("list", func(context.Context, *mcpserver.Call) *mcpserver.Result {
		return &mcpserver.Result{Structured: json.RawMessage(`[1]`)}
	})
	crashing := mcpserver.Resource{URI: "x://crash", Name: "crash", Read: func(context.Context, string) (*mcpserver.Content, error) { panic("ouch") }}
	c := serve(t, &mcpserver.Server{Name: "s", Tools: []mcpserver.Tool{crash, nothing, garbled, list, echo()}, Resources: []mcpserver.Resource{crashing}})
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
}

func nowhere(context.Context, string) (*mcpserver.Content, error) { return nil, nil }

func TestTableThatCannotBeServed(t *testing.T) {
	for name, s := range map[string]*mcpserver.Server{
		"no schema": {Name: "s", Tools: []mcpserver.Tool{{Name: "x"}}},
		"twins":     {Name: "s", Tools: []mcpserver.Tool{echo(), echo()}},
		"bad URI":   {Name: "s", Resources: []mcpserver.Resource{{URI: "x://{", Read: nowhere}}},
		"no reader": {Name: "s", Resources: []mcpserver.Resource{{URI: "x://a", Name: "a"}}},
		"framing":   {Name: "s", Framing: "xml"},
	} {
		in, _ := io.Pipe()
		_, out := io.Pipe()
		if err := s.ServeStdio(t.Context(), in, out); err == nil || fault.From(err).Type != fault.Internal {
			t.Errorf("%s: %v", name, err)
		}
	}
}
