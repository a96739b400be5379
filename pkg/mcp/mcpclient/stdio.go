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
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

const (
	// MaxLineLength is the most bytes of a message from a server.
	MaxLineLength = 64 << 20
	// maxUnanswered is the most requests of a server that wait for their answers. The SDK keeps all of them in memory.
	maxUnanswered = 1000
)

// stdioConn is the connection to a stdio server: one JSON-RPC message per line. It is also the SDK's transport, for one
// connection.
type stdioConn struct {
	name   string
	stdin  io.WriteCloser
	stdout io.Reader
	log    *slog.Logger
	// cancels counts the notifications about cancelled requests. It may be nil.
	cancels *cancellations
	// received takes what the server sends of itself, see inbox.received. It may be nil.
	received func(x *pendingRequest, method string, params json.RawMessage) bool
	heard    hearing

	writing  chan struct{} // a semaphore for writers
	incoming chan jsonrpc.Message
	closed   chan struct{}
	close    sync.Once

	ended chan struct{} // closed when nothing more can be read
	err   error         // the reason; set before ended is closed

	mu      sync.Mutex
	pending map[jsonrpc.ID]*pendingRequest
	// unanswered is the number of the server's requests whose answers are not written yet.
	unanswered int
	noisy      bool
}

func newStdioConn(name string, stdin io.WriteCloser, stdout io.Reader, log *slog.Logger) *stdioConn {
	return &stdioConn{
		name: name, stdin: stdin, stdout: stdout, log: log,
		writing: make(chan struct{}, 1), incoming: make(chan jsonrpc.Message),
		closed: make(chan struct{}), ended: make(chan struct{}), pending: map[jsonrpc.ID]*pendingRequest{},
	}
}

// Connect starts reading and returns the connection itself.
func (p *stdioConn) Connect(context.Context) (mcp.Connection, error) {
	go p.readLines()
	return p, nil
}

// SessionID returns "": a stdio connection has no session id.
func (p *stdioConn) SessionID() string { return "" }

// Close ends reads and writes. It does not stop the server process; the session does.
func (p *stdioConn) Close() error {
	p.close.Do(func() { close(p.closed) })
	return nil
}

// Read returns the next message.
func (p *stdioConn) Read(ctx context.Context) (jsonrpc.Message, error) {
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

// readLines reads messages until the server closes its output or writes an invalid message.
func (p *stdioConn) readLines() {
	defer close(p.ended)
	lines := bufio.NewReaderSize(heardReader{p.stdout, &p.heard}, 64<<10)
	for {
		line, err := readLine(lines)
		if err != nil { // a last line without a newline is incomplete and is dropped
			p.err = err
			return
		}
		p.heard.working.Store(true)
		msg, err := p.decode(line)
		p.heard.working.Store(false)
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

// readLine reads a line of at most MaxLineLength bytes, with its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, io.EOF
		case len(line) > MaxLineLength:
			return nil, tooLong()
		}
	}
}

func tooLong() *fault.Fault {
	return fault.New(fault.TooLarge, "The server sent a message of more than %d MiB", MaxLineLength>>20).
		Suggest("Request less data at a time from the tool")
}

func tooManyRequests() *fault.Fault {
	return fault.New(fault.Protocol, "The MCP server sent more than %d requests at a time", maxUnanswered).
		Suggest("It must wait for the answers, and read them; report this to its author")
}

// decode parses a line as a message. It returns nil if the SDK does not need the message.
func (p *stdioConn) decode(line []byte) (jsonrpc.Message, error) {
	size := int64(max(len(line), minUnasked))
	p.heard.unasked.Add(size)
	line = bytes.TrimPrefix(bytes.TrimSpace(line), []byte("\uFEFF"))
	if len(line) == 0 {
		return nil, nil
	}
	if line[0] != '{' {
		p.noise(line)
		return nil, nil
	}
	msg, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		if deep, ok := deepResponse(line); ok {
			msg, err = deep, nil
		}
	}
	if err != nil {
		if json.Valid(line) && !gjson.GetBytes(line, "jsonrpc").Exists() { // a log line in JSON
			p.noise(line)
			return nil, nil
		}
		return nil, p.invalid(line)
	}
	switch m := msg.(type) {
	case *jsonrpc.Response:
		if m.Error == nil && m.Result == nil {
			return nil, p.invalid(line)
		}
		if p.settle(m) {
			p.heard.unasked.Add(-size)
		}
	case *jsonrpc.Request:
		if m.IsCall() && p.count(1) > maxUnanswered {
			return nil, tooManyRequests()
		}
		if p.received != nil && !p.received(nil, m.Method, m.Params) {
			return nil, nil
		}
	}
	return msg, nil
}

// deepResponse returns the response in a line with a result that is nested deeper than the SDK decodes, 1,000 levels. The SDK does not
// see the result (see settle).
func deepResponse(line []byte) (*jsonrpc.Response, bool) {
	const decoded = 1000
	if rawjson.Depth(line) <= decoded || !json.Valid(line) {
		return nil, false
	}
	m := gjson.ParseBytes(line)
	id, err := jsonrpc.MakeID(m.Get("id").Value())
	if !id.IsValid() || err != nil || m.Get("jsonrpc").Str != "2.0" || m.Get("method").Exists() || m.Get("error").Exists() || !m.Get("result").Exists() {
		return nil, false
	}
	return &jsonrpc.Response{ID: id, Result: json.RawMessage(m.Get("result").Raw)}, true
}

// invalid returns the fault for a line that is not a message.
func (p *stdioConn) invalid(line []byte) *fault.Fault {
	return fault.New(fault.Protocol, "Invalid JSON response from server").
		Detail("server", p.name).Detail("line", shownLine(line)).
		Suggest("The server must write only JSON-RPC to its standard output, one message per line; report this to its author")
}

// settle stores the bytes of a result in its pending request, and reports whether there is such a request. The SDK gets an empty result
// instead to decode, unless it needs the result.
func (p *stdioConn) settle(r *jsonrpc.Response) bool {
	p.mu.Lock()
	x := p.pending[r.ID]
	delete(p.pending, r.ID)
	p.mu.Unlock()
	if x == nil || r.Error != nil {
		return x != nil
	}
	x.keep(r.Result)
	if !x.decoded {
		r.Result = json.RawMessage(`{"content":[],"tools":[]}`)
	}
	return true
}

// count adds to the number of unanswered requests and returns it.
func (p *stdioConn) count(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unanswered += n
	return p.unanswered
}

// noise logs one warning about lines that are not messages.
func (p *stdioConn) noise(line []byte) {
	if !p.noisy {
		p.noisy = true
		p.log.Warn("MCP server writes lines to its standard output that are not JSON-RPC; they are skipped", "server", p.name, "line", shownLine(line))
	}
}

// Write sends one message. If the server does not read it before ctx ends, Write fails. If part of the message was
// written by then, it also closes the connection.
func (p *stdioConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	call, ok := msg.(*jsonrpc.Request)
	if ok && call.Method == cancelled && p.cancels != nil {
		defer p.cancels.add(-1)
	}
	if !ok { // it is the answer to a request of the server
		defer p.count(-1)
	}
	if ok && call.IsCall() {
		if x := pendingRequestOf(ctx); x != nil {
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

func (p *stdioConn) write(ctx context.Context, data []byte) error {
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

// forget removes a request that no caller is waiting for.
func (p *stdioConn) forget(x *pendingRequest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, other := range p.pending {
		if other == x {
			delete(p.pending, id)
		}
	}
}

// shownLine returns the beginning of a line from a server as valid UTF-8.
func shownLine(line []byte) string {
	return strings.ToValidUTF8(fault.Truncate(string(line), 200), "?")
}
