package mcpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/stdio"
)

// serveFrames begins a session for a client that reads frames, as strictly as the Language Server Protocol defines them.
func serveFrames(t *testing.T, config mcpserver.Config, framing stdio.Framing) *client {
	t.Helper()
	return serveFramed(t, newServer(t, config), framing, func(r *bufio.Reader) (string, error) {
		header, err := textproto.NewReader(r).ReadMIMEHeader()
		if err != nil {
			return "", err
		}
		length, err := strconv.Atoi(header.Get("Content-Length"))
		if err != nil || len(header) != 1 {
			t.Errorf("header %v", header)
		}
		body := make([]byte, length)
		if _, err = io.ReadFull(r, body); strings.HasSuffix(string(body), "\n") {
			t.Errorf("a line break after %s", body)
		}
		return string(body), err
	})
}

// serveAuto begins a session for a client that reads lines, with a server that looks for the framing.
func serveAuto(t *testing.T, config mcpserver.Config) *client {
	t.Helper()
	return serveFramed(t, newServer(t, config), stdio.FramingAuto, func(r *bufio.Reader) (string, error) { return r.ReadString('\n') })
}

func frame(message string) string {
	return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(message), message)
}

// frames sends each line of the messages as one frame.
func (c *client) frames(messages ...string) {
	c.t.Helper()
	for message := range strings.SplitSeq(strings.Join(messages, "\n"), "\n") {
		c.write(frame(message))
	}
}

func TestContentLengthSession(t *testing.T) {
	for _, framing := range []stdio.Framing{stdio.FramingLSP, stdio.FramingAuto} {
		c := serveFrames(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{echo()}}, framing)
		c.frames(hello("2025-11-25"))
		c.answer("0")
		c.frames(call("1", "echo", `{"t":"流"}`)) // a client that waits gets each answer
		if line := c.answer("1"); gjson.Get(line, "result.structuredContent.t").Str != "流" {
			t.Errorf("%s: %s", framing, line)
		}
		c.frames("[" + call("2", "echo", `{}`) + "," + call("3", "echo", `{}`) + "]")
		if line := c.next(); len(gjson.Parse(line).Array()) != 2 {
			t.Errorf("%s: batch: %s", framing, line)
		}
		c.frames(call("4", "echo", `{}`))
		c.eof()
		if lines := c.rest(); len(lines) != 1 || gjson.Get(lines[0], "id").Raw != "4" {
			t.Errorf("%s: at the end: %v", framing, lines)
		}
		if err := c.result(); err != nil {
			t.Errorf("%s: Serve = %v", framing, err)
		}
	}
}

func TestLineClientOfAServerThatLooks(t *testing.T) {
	c := serveAuto(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{echo()}})
	c.write("\uFEFF \n")
	c.send(hello("2025-11-25"))
	c.answer("0")
	c.write(call("1", "echo", "{}") + "\n")
	c.answer("1")
	c.send("Content-Length: 2", "", "{}") // it is settled
	if line := c.next(); gjson.Get(line, "error.code").Int() != -32700 || strings.Contains(line, "Content-Length") {
		t.Error(line)
	}
	if line := c.next(); gjson.Get(line, "error.code").Int() != -32600 {
		t.Error(line)
	}
}

// TestNoiseDoesNotSettleTheFraming holds that noise is refused once, in the framing of the message after it.
func TestNoiseDoesNotSettleTheFraming(t *testing.T) {
	s := mcpserver.Config{Name: "s"}
	const noise = "bash: warning: setlocale\n[WARN] two lines\n"
	framed, lined, none := serveFrames(t, s, stdio.FramingAuto), serveAuto(t, s), serveAuto(t, s)
	framed.write(noise + frame(strings.Split(hello("2025-11-25"), "\n")[0]))
	lined.write(noise + hello("2025-11-25") + "\n")
	none.write(noise)
	none.eof()
	for name, c := range map[string]*client{"frames": framed, "lines": lined, "noise alone": none} {
		if line := c.next(); gjson.Get(line, "error.code").Int() != -32700 || gjson.Get(line, "id").Raw != "null" || !strings.Contains(line, "(2)") {
			t.Errorf("%s: %s", name, line)
		}
		if c != none {
			c.answer("0")
		} else if lines := c.rest(); len(lines) != 0 {
			t.Errorf("%s: %v", name, lines)
		}
	}
}

func TestMalformedFramesAreAnsweredAndPassed(t *testing.T) {
	c := serveFrames(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{echo()}}, stdio.FramingAuto)
	c.frames(hello("2025-11-25"))
	c.answer("0")
	for bad, code := range map[string]int64{
		"Content-Type: x\r\n\r\n":                                        -32700,
		"Content-Length: -1\r\n\r\n":                                     -32700,
		"Content-Length: many\r\n\r\n":                                   -32700,
		"Content-Length: 99999999999\r\n\r\n":                            -32700,
		"Content-Length: 0\r\n\r\n":                                      -32700,
		`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n":                -32700,
		frame(`{"jsonrpc":`):                                             -32700,
		frame(`{"level":"info"}`):                                        -32600,
		frame(strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)): -32600,
		frame("hello\n" + "Content-Length: 1\n"):                         -32700,
	} {
		c.write(bad)
		line := c.next() // before anything else is sent
		if gjson.Get(line, "error.code").Int() != code || gjson.Get(line, "id").Raw != "null" || gjson.Get(line, "error.message").Str == "" {
			t.Errorf("%.80q: %s", bad, line)
		}
		c.write("\n")
		c.frames(call("1", "echo", `{"a":1}`))
		if line := c.answer("1"); gjson.Get(line, "result.structuredContent.a").Int() != 1 {
			t.Errorf("after %q: %s", bad, line)
		}
	}
	c.write("Content-Length: 100\r\n\r\n{")
	c.eof()
	if lines := c.rest(); len(lines) != 1 || gjson.Get(lines[0], "error.code").Int() != -32700 {
		t.Errorf("torn: %v", lines)
	}
	if err := c.result(); err != nil {
		t.Errorf("Serve = %v", err)
	}
}

func TestFrameIsOneWrite(t *testing.T) {
	out := &writes{}
	s := newServer(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{echo()}})
	in := frame(strings.Split(hello("2025-11-25"), "\n")[0]) + frame(`{"jsonrpc":"2.0","method":"notifications/initialized"}`) + frame(call("1", "echo", "{}")) + frame("[]")
	if err := s.Serve(t.Context(), &stdio.Transport{In: io.NopCloser(strings.NewReader(in)), Out: out, Framing: stdio.FramingLSP}); err != nil {
		t.Fatal(err)
	}
	if len(out.all) != 3 {
		t.Errorf("%d writes: %q", len(out.all), out.all)
	}
	for _, w := range out.all {
		if head, body, ok := strings.Cut(w, "\r\n\r\n"); !ok || head != "Content-Length: "+strconv.Itoa(len(body)) || !gjson.Valid(body) {
			t.Errorf("written: %q", w)
		}
	}
}

// writes keeps what is written apart.
type writes struct{ all []string }

func (w *writes) Write(p []byte) (int, error) {
	w.all = append(w.all, string(p))
	return len(p), nil
}

func (*writes) Close() error { return nil }

func TestContentLengthAtTheEndOfInput(t *testing.T) {
	var c *client
	ready := make(chan struct{})
	slow := tool("slow", func(context.Context, *mcpserver.Call) *mcpserver.Result {
		<-ready
		<-c.atEOF
		return text("done")
	})
	c = serveFrames(t, mcpserver.Config{Name: "s", Tools: []mcpserver.Tool{slow}}, stdio.FramingAuto)
	close(ready)
	c.frames(hello("2025-11-25"), call("1", "slow", "{}"), call("2", "slow", "{}"))
	c.eof()
	var done []string
	for _, line := range c.rest() {
		if gjson.Get(line, "result.content.0.text").Str == "done" {
			done = append(done, gjson.Get(line, "id").Raw)
		}
	}
	slices.Sort(done)
	if !slices.Equal(done, []string{"1", "2"}) {
		t.Errorf("answered: %v", done)
	}
}

func TestStopBeforeTheClientSaysAnything(t *testing.T) {
	c := serveAuto(t, mcpserver.Config{Name: "s"})
	c.stop(os.ErrDeadlineExceeded)
	if lines := c.rest(); len(lines) != 0 || c.result() == nil {
		t.Errorf("%v, %v", lines, c.result())
	}
}
