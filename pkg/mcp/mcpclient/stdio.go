package mcpclient

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// MaxLineLength is the most bytes one message of a server may have.
const MaxLineLength = 64 << 20

// pipe is the connection to a stdio server: one JSON-RPC message a line. It is the transport too, for one connection.
type pipe struct {
	name   string
	stdin  io.WriteCloser
	stdout io.Reader
	log    *slog.Logger

	writing  chan struct{} // holds one token: whoever has it writes
	incoming chan jsonrpc.Message
	closed   chan struct{}
	close    sync.Once

	ended chan struct{} // closed when nothing more can be read
	err   error         // why; set before ended is closed

	mu      sync.Mutex
	pending map[jsonrpc.ID]*exchange
	noisy   bool
}

func newPipe(name string, stdin io.WriteCloser, stdout io.Reader, log *slog.Logger) *pipe {
	return &pipe{
		name: name, stdin: stdin, stdout: stdout, log: log,
		writing: make(chan struct{}, 1), incoming: make(chan jsonrpc.Message),
		closed: make(chan struct{}), ended: make(chan struct{}), pending: map[jsonrpc.ID]*exchange{},
	}
}

// Connect starts reading.
func (p *pipe) Connect(context.Context) (mcp.Connection, error) {
	go p.readLines()
	return p, nil
}

// SessionID is empty: a pipe is its own session.
func (p *pipe) SessionID() string { return "" }

// Close ends reads and writes. The process behind the pipe is the session's to stop.
func (p *pipe) Close() error {
	p.close.Do(func() { close(p.closed) })
	return nil
}

// Read gives the next message.
func (p *pipe) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case msg := <-p.incoming:
		return msg, nil
	case <-p.ended:
		return nil, p.err
	case <-p.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// readLines reads until the server is gone or has said what no server may say.
func (p *pipe) readLines() {
	defer close(p.ended)
	lines := bufio.NewReaderSize(p.stdout, 64<<10)
	for {
		line, err := readLine(lines)
		if err != nil { // a last line without its newline was torn off by the server's end
			p.err = err
			return
		}
		msg, err := p.decode(line)
		if err != nil {
			p.err = err
			return
		}
		if msg == nil {
			continue
		}
		select {
		case p.incoming <- msg:
		case <-p.closed:
			p.err = io.EOF
			return
		}
	}
}

// readLine reads a line of at most MaxLineLength bytes.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return bytes.TrimSpace(line), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, io.EOF
		case len(line) > MaxLineLength:
			return nil, fault.New(fault.TooLarge, "The server sent a message of more than %d MiB", MaxLineLength>>20).
				Suggest("Ask the tool for less at a time")
		}
	}
}

// decode makes a message of a line, or nil when there is nothing for the SDK in it.
func (p *pipe) decode(line []byte) (jsonrpc.Message, error) {
	line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	if len(line) == 0 {
		return nil, nil
	}
	if line[0] != '{' {
		p.noise(line)
		return nil, nil
	}
	msg, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		if json.Valid(line) && !gjson.GetBytes(line, "jsonrpc").Exists() { // a log line in JSON
			p.noise(line)
			return nil, nil
		}
		return nil, fault.New(fault.Protocol, "Invalid JSON response from server").
			Detail("server", p.name).Detail("line", excerpt(line)).
			Suggest("The server must write only JSON-RPC to its standard output, one message a line; report it to its author")
	}
	switch m := msg.(type) {
	case *jsonrpc.Response:
		p.settle(m)
	case *jsonrpc.Request:
		if m.Method == "notifications/progress" {
			p.progress(m.Params)
			return nil, nil
		}
	}
	return msg, nil
}

// settle keeps a result's bytes for the one who asked. What the SDK decodes instead is empty, unless the result is no
// final one and the SDK has to act on it.
func (p *pipe) settle(r *jsonrpc.Response) {
	p.mu.Lock()
	x := p.pending[r.ID]
	delete(p.pending, r.ID)
	p.mu.Unlock()
	if x == nil || r.Error != nil {
		return
	}
	x.keep(r.Result)
	if kind := gjson.GetBytes(r.Result, "resultType").Str; kind == "" || kind == "complete" {
		r.Result = json.RawMessage(`{"content":[],"tools":[]}`)
	}
}

func (p *pipe) progress(params json.RawMessage) {
	p.mu.Lock()
	waiting := make([]*exchange, 0, len(p.pending))
	for _, x := range p.pending {
		waiting = append(waiting, x)
	}
	p.mu.Unlock()
	for _, x := range waiting {
		x.report(params)
	}
}

// noise warns once of lines that are no messages.
func (p *pipe) noise(line []byte) {
	if !p.noisy {
		p.noisy = true
		p.log.Warn("MCP server writes other things than JSON-RPC to its standard output; they are skipped", "server", p.name, "line", excerpt(line))
	}
}

// Write sends one message. A server that does not read holds a write up no longer than ctx allows; when that leaves
// half a message behind, the connection is over.
func (p *pipe) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	if call, ok := msg.(*jsonrpc.Request); ok && call.IsCall() {
		if x := exchangeOf(ctx); x != nil {
			p.mu.Lock()
			p.pending[call.ID] = x
			p.mu.Unlock()
		}
	}
	select {
	case p.writing <- struct{}{}:
		defer func() { <-p.writing }()
	case <-p.closed:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return ctx.Err()
	}
	return p.write(ctx, append(data, '\n'))
}

func (p *pipe) write(ctx context.Context, data []byte) error {
	deadline, ok := p.stdin.(interface{ SetWriteDeadline(time.Time) error })
	if !ok {
		_, err := p.stdin.Write(data)
		return err
	}
	expired := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = deadline.SetWriteDeadline(time.Unix(1, 0))
		close(expired)
	})
	n, err := p.stdin.Write(data)
	if !stop() {
		<-expired
		_ = deadline.SetWriteDeadline(time.Time{})
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = ctx.Err()
		if n > 0 {
			_ = p.Close()
			_ = p.stdin.Close()
		}
	}
	return err
}

// forget drops a request that nobody waits for any more.
func (p *pipe) forget(x *exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, other := range p.pending {
		if other == x {
			delete(p.pending, id)
		}
	}
}

// excerpt is the start of what a server wrote, fit to be shown.
func excerpt(line []byte) string {
	const most = 200
	if len(line) <= most {
		return string(bytes.ToValidUTF8(line, []byte("?")))
	}
	return string(bytes.ToValidUTF8(line[:most], nil)) + "…"
}
