package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/stdio"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// patience is the longest time for which a test waits. It bounds tests that hang, not what is slow.
const patience = 5 * time.Minute

// client is the other end of a session. It speaks in JSON-RPC messages as text.
type client struct {
	t      *testing.T
	write  func(text string)
	eof    func() // closes the client's output; in memory that closes its input too
	lines  chan string
	served chan struct{} // closed when Serve has returned err
	err    error
	stop   context.CancelCauseFunc  // ends the context of Serve
	atEOF  chan struct{}            // closed when the server has seen the end of its input; stdio only
	drops  bool                     // cancelled requests are not answered
	asSent func(text string) string // JSON as the client sends it
	leave  func()                   // goes away with requests open, which the server notices
	passed []string                 // lines that answer has skipped
}

// connect begins a session with a server over one of the transports.
type connect func(t *testing.T, s *mcpserver.Server) *client

// serve begins a session with a new server.
func (c connect) serve(t *testing.T, config mcpserver.Config) *client {
	t.Helper()
	return c(t, newServer(t, config))
}

func newServer(t *testing.T, config mcpserver.Config) *mcpserver.Server {
	t.Helper()
	s, err := mcpserver.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// overBoth plays a conversation over the transport of package stdio and over the SDK's transport in memory.
func overBoth(t *testing.T, conversation func(t *testing.T, over connect)) {
	t.Run("stdio", func(t *testing.T) { conversation(t, overStdio) })
	t.Run("memory", func(t *testing.T) { conversation(t, overMemory) })
}

// serve begins a session over stdio with a new server, in lines.
func serve(t *testing.T, config mcpserver.Config) *client {
	t.Helper()
	return connect(overStdio).serve(t, config)
}

func overStdio(t *testing.T, s *mcpserver.Server) *client {
	t.Helper()
	return serveFramed(t, s, stdio.FramingNewline, func(r *bufio.Reader) (string, error) { return r.ReadString('\n') })
}

// serveFramed begins a session on pipes of the operating system, for a client with its own way to read answers.
func serveFramed(t *testing.T, s *mcpserver.Server, framing stdio.Framing, read func(*bufio.Reader) (string, error)) *client {
	t.Helper()
	serverIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, serverOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t)
	c.drops, c.asSent = true, func(text string) string { return text }
	c.eof = func() { _ = in.Close() }
	c.leave = func() {
		_ = out.Close()
		c.write(`{"jsonrpc":"2.0","id":"left","method":"ping"}` + "\n") // cannot be answered
	}
	c.write = func(text string) {
		if _, err := io.WriteString(in, text); err != nil {
			t.Fatal(err)
		}
	}
	c.serve(s, &stdio.Transport{In: &watched{ReadCloser: serverIn, ended: c.atEOF}, Out: serverOut, Framing: framing})
	r := bufio.NewReader(out)
	go c.receive(func() (string, error) { return read(r) })
	t.Cleanup(func() { _ = out.Close() })
	return c
}

func overMemory(t *testing.T, s *mcpserver.Server) *client {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	c := newClient(t)
	c.serve(s, there)
	connection, err := here.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.eof = func() { _ = connection.Close() }
	c.leave = c.eof
	c.asSent = func(text string) string { return string(rawjson.Compact(json.RawMessage(text))) } // the SDK's client encodes it again
	c.write = func(text string) {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			msg, err := jsonrpc.DecodeMessage([]byte(line))
			if err == nil {
				err = connection.Write(t.Context(), msg)
			}
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
	}
	go c.receive(func() (string, error) {
		msg, err := connection.Read(context.Background())
		if err != nil {
			return "", err
		}
		line, err := jsonrpc.EncodeMessage(msg)
		return string(line), err
	})
	return c
}

func newClient(t *testing.T) *client {
	return &client{t: t, lines: make(chan string, 100), served: make(chan struct{}), atEOF: make(chan struct{})}
}

// serve has the server serve the client until the test ends.
func (c *client) serve(s *mcpserver.Server, transport mcp.Transport) {
	ctx, stop := context.WithCancelCause(c.t.Context())
	c.stop = stop
	go func() {
		defer close(c.served)
		c.err = s.Serve(ctx, transport)
	}()
	c.t.Cleanup(func() { stop(nil); c.eof(); _ = c.result() })
}

// receive passes on what the server sends.
func (c *client) receive(read func() (string, error)) {
	defer close(c.lines)
	for {
		line, err := read()
		if err != nil {
			return
		}
		c.lines <- line
	}
}

// watched closes ended when the end of a stream has been read.
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

// next returns the server's next line, and "" if the output has ended.
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

// answer returns the answer to a request, which may come before or after others.
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

// rest returns all lines until the output ends.
func (c *client) rest() []string {
	c.t.Helper()
	var all []string
	for line := c.next(); line != ""; line = c.next() {
		all = append(all, line)
	}
	return all
}

// result waits until Serve returns, and returns its error.
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
