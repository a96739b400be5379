package suitetools

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/stdio"
)

// session is a client of a server with the tool execute.
type session struct {
	testing.TB
	in  io.WriteCloser
	out *bufio.Reader
	// called receives the result of each call when it has ended, whether it is sent or not.
	called chan *mcpserver.Result
}

// connect serves the tool execute to a client.
func (f *fakes) connect() *session {
	f.Helper()
	s := &session{TB: f.TB, called: make(chan *mcpserver.Result, 10)}
	tool := f.front().execute()
	call := tool.Call
	tool.Call = func(ctx context.Context, c *mcpserver.Call) *mcpserver.Result {
		r := call(ctx, c)
		s.called <- r
		return r
	}
	server, err := mcpserver.New(mcpserver.Config{Name: "test", Version: "1", Tools: []mcpserver.Tool{tool}, Tasks: NewTasks(f.front())})
	if err != nil {
		f.Fatal(err)
	}
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- server.Serve(context.WithoutCancel(f.Context()), &stdio.Transport{In: in, Out: out}) }()
	s.in, s.out = stdin, bufio.NewReader(stdout)
	f.Cleanup(func() {
		_ = stdin.Close()
		_, _ = io.Copy(io.Discard, stdout)
	})
	go func() {
		if err := <-served; err != nil {
			f.Error(err)
		}
		_ = out.Close()
	}()
	s.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	s.next("0")
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s
}

func (s *session) send(line string) {
	s.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.Fatal(err)
	}
}

// next returns the answer to a request, and the notifications before it.
func (s *session) next(id string) (answer gjson.Result, notified []gjson.Result) {
	s.Helper()
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			s.Fatal(err)
		}
		message := gjson.Parse(strings.TrimSpace(line))
		if message.Get("id").Raw == id {
			return message, notified
		}
		notified = append(notified, message)
	}
}

// ping waits until the server has read what was sent before.
func (s *session) ping() {
	s.Helper()
	s.send(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
	s.next(`"ping"`)
}
