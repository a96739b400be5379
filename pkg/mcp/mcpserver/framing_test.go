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
)

// serveFrames starts a server for a client that reads frames, as strictly as the Language Server Protocol has them.
func serveFrames(t *testing.T, s *mcpserver.Server) *client {
	t.Helper()
	return serveTo(t, s, func(r *bufio.Reader) (string, error) {
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
			t.Errorf("a line break behind %s", body)
		}
		return string(body), err
	})
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
	for _, framing := range []mcpserver.Framing{mcpserver.FramingLSP, mcpserver.FramingAuto} {
		c := serveFrames(t, &mcpserver.Server{Name: "s", Tools: []mcpserver.Tool{echo()}, Framing: framing})
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
			t.Errorf("%s: ServeStdio = %v", framing, err)
		}
	}
}

func TestLineClientOfAServerThatLooks(t *testing.T) {
	c := serve(t, &mcpserver.Server{Name: "s", Tools: []mcpserver.Tool{echo()}, Framing: mcpserver.FramingAuto})
	c.write("\uFEFF \n")
	c.send(hello("2025-11-25"))
	c.answer("0")
	c.write(call("1", "echo", "{}") + "\n")
	c.answer("1")
	c.send("Content-Length: 2", "", "{}") // it is settled
	if line := c.next(); gjson.Get(line, "error.code").Int() != -32700 || !strings.Contains(line, "a line") {
		t.Error(line)
	}
	if line := c.next(); gjson.Get(line, "error.code").Int() != -32600 {
		t.Error(line)
	}
}

// TestNoiseDoesNotSettleTheFraming holds that it is refused once, in the framing of what comes behind it.
func TestNoiseDoesNotSettleTheFraming(t *testing.T) {
	s := &mcpserver.Server{Name: "s", Framing: mcpserver.FramingAuto}
	const noise = "bash: warning: setlocale\n[WARN] two lines\n"
	framed, lined, none := serveFrames(t, s), serve(t, s), serve(t, s)
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
	c := serveFrames(t, &mcpserver.Server{Name: "s", Tools: []mcpserver.Tool{echo()}, Framing: mcpserver.FramingAuto})
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
		t.Errorf("ServeStdio = %v", err)
	}
}

func TestFrameIsOneWrite(t *testing.T) {
	out := &writes{}
	s := &mcpserver.Server{Name: "s", Tools: []mcpserver.Tool{echo()}, Framing: mcpserver.FramingLSP}
	in := frame(strings.Split(hello("2025-11-25"), "\n")[0]) + frame(`{"jsonrpc":"2.0","method":"notifications/initialized"}`) + frame(call("1", "echo", "{}")) + frame("[]")
	if err := s.ServeStdio(t.Context(), io.NopCloser(strings.NewReader(in)), out); err != nil {
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
	c = serveFrames(t, &mcpserver.Server{Name: "s", Tools: []mcpserver.Tool{slow}, Framing: mcpserver.FramingAuto})
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
	c := serve(t, &mcpserver.Server{Name: "s", Framing: mcpserver.FramingAuto})
	c.stop(os.ErrDeadlineExceeded)
	if lines := c.rest(); len(lines) != 0 || c.result() == nil {
		t.Errorf("%v, %v", lines, c.result())
	}
}
