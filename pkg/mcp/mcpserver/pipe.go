package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// pipe is the connection to a client: JSON-RPC messages, or batches, in one framing. It is the transport too, for one
// connection. The SDK sees only messages that are in order, and the end of the input only when all are answered: at
// that point it drops whatever is not.
type pipe struct {
	in      io.ReadCloser
	out     io.WriteCloser
	framing Framing
	log     *slog.Logger

	incoming chan jsonrpc.Message
	drained  chan struct{} // closed when no request will come and none is unanswered
	closed   chan struct{}
	close    sync.Once

	writing sync.Mutex
	frames  framing // lines until the client's first text is there

	mu         sync.Mutex
	open       map[jsonrpc.ID]*asked // requests whose answer the SDK has not given
	unanswered int                   // of them that are to be answered, and of those whose answer is being written
	over       bool                  // no further request is taken
}

// asked is a request on its way to its answer.
type asked struct {
	method    string
	batch     *batch // nil for one outside a batch
	cancelled bool   // by the client, which gets no answer
}

func newPipe(in io.ReadCloser, out io.WriteCloser, framing Framing, log *slog.Logger) *pipe {
	return &pipe{
		in: in, out: out, framing: framing, frames: &lines{}, log: log, incoming: make(chan jsonrpc.Message),
		drained: make(chan struct{}), closed: make(chan struct{}), open: map[jsonrpc.ID]*asked{},
	}
}

// Connect starts reading.
func (p *pipe) Connect(context.Context) (mcp.Connection, error) {
	go p.readMessages()
	return p, nil
}

// SessionID is empty: a pipe is its own session.
func (p *pipe) SessionID() string { return "" }

// Close closes both streams.
func (p *pipe) Close() error {
	p.close.Do(func() {
		close(p.closed)
		_ = p.in.Close()
		_ = p.out.Close()
	})
	return nil
}

// Read gives the next message, and io.EOF when there will be none and all requests are answered.
func (p *pipe) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case msg := <-p.incoming:
		return msg, nil
	case <-p.drained:
		return nil, io.EOF
	case <-p.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// readMessages takes what the client sends until there is no more.
func (p *pipe) readMessages() {
	defer p.finish()
	frames, noise := p.framing.of(p.in)
	p.writing.Lock()
	p.frames = frames
	p.writing.Unlock()
	if noise > 0 {
		p.log.Debug("lines before the first message were skipped", "lines", noise)
		p.reject(refusal(nil, jsonrpc.CodeParseError, noiseBefore(noise)+frames.expected()))
	}
	for {
		message, err := frames.next()
		if bad, ok := errors.AsType[*malformed](err); ok {
			p.reject(refusal(bad.id, bad.code, bad.message))
			continue
		}
		if len(message) > 0 {
			p.take(message)
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				p.log.Debug("the client's input ended", "error", err)
			}
			return
		}
	}
}

// take hands a message, or those of a batch, to the SDK and answers what is none.
func (p *pipe) take(message []byte) {
	if message[0] == '[' {
		p.takeBatch(message)
		return
	}
	msg, refused := p.accept(message, nil)
	if refused != nil {
		p.reject(refused)
		return
	}
	p.deliver(msg)
}

// accept decodes a message, which is JSON, and notes the request it is, or gives the answer to what cannot be taken. Both
// are nil for what nobody needs to hear of.
func (p *pipe) accept(data []byte, b *batch) (jsonrpc.Message, []byte) {
	msg, err := jsonrpc.DecodeMessage(data)
	if err != nil || !complete(msg, data) {
		return nil, notMessage(data)
	}
	request, ok := msg.(*jsonrpc.Request)
	if !ok {
		return msg, nil
	}
	if !request.IsCall() {
		if request.Method == methodCancelled && !p.cancel(request) {
			return nil, nil
		}
		return msg, nil
	}
	id := gjson.GetBytes(data, "id").Raw
	if n, ok := request.ID.Raw().(int64); ok && id != strconv.FormatInt(n, 10) { // the SDK has rounded it
		return nil, refusal(json.RawMessage(id), jsonrpc.CodeInvalidRequest, "The id "+fault.Truncate(id, maxEcho)+" is no integer up to 2^53; use a smaller integer or a string")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return nil, refusal(json.RawMessage(id), jsonrpc.CodeInternalError, "The server is being stopped")
	}
	if _, taken := p.open[request.ID]; taken {
		return nil, refusal(nil, jsonrpc.CodeInvalidRequest, "The id "+fault.Truncate(id, maxEcho)+" is that of a request which is not done yet; use another")
	}
	p.open[request.ID] = &asked{method: request.Method, batch: b}
	p.unanswered++
	if b != nil {
		b.open++
	}
	return msg, nil
}

func (p *pipe) deliver(msg jsonrpc.Message) {
	if msg == nil {
		return
	}
	select {
	case p.incoming <- msg:
	case <-p.drained:
	case <-p.closed:
	}
}

// Write sends a message of the SDK's. An answer that was given already, in its place, or that the client has cancelled,
// is dropped.
func (p *pipe) Write(_ context.Context, msg jsonrpc.Message) error {
	response, ok := msg.(*jsonrpc.Response)
	if !ok {
		return p.encode(msg)
	}
	p.mu.Lock()
	asked := p.open[response.ID]
	delete(p.open, response.ID) // before it is written: then the client may use the id again
	p.mu.Unlock()
	if asked == nil || asked.cancelled {
		return nil
	}
	defer p.answered()
	response.Error = coded(asked.method, response.Error)
	b := asked.batch
	if b == nil {
		return p.encode(response)
	}
	data, err := jsonrpc.EncodeMessage(response)
	if err != nil {
		return err
	}
	p.mu.Lock()
	b.answers = append(b.answers, data)
	answer := b.settle()
	p.mu.Unlock()
	if answer == nil {
		return nil
	}
	return p.send(answer)
}

// answered counts an answer that is out.
func (p *pipe) answered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unanswered--
	p.checkDrained()
}

// finish takes no more requests.
func (p *pipe) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	p.checkDrained()
}

func (p *pipe) checkDrained() {
	if !p.over || p.unanswered > 0 {
		return
	}
	select {
	case <-p.drained:
	default:
		close(p.drained)
	}
}

// abandon answers what nobody else answers any more.
func (p *pipe) abandon() {
	p.mu.Lock()
	var left []jsonrpc.ID
	for id := range p.open {
		left = append(left, id)
	}
	p.mu.Unlock()
	for _, id := range left {
		_ = p.Write(context.Background(), &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{
			Code: jsonrpc.CodeInternalError, Message: "The server was stopped before the request was answered",
		}})
	}
}

// reject sends an answer from outside the SDK. That it cannot be sent shows at the SDK's next message too.
func (p *pipe) reject(answer []byte) {
	if err := p.send(answer); err != nil {
		p.log.Debug("an answer could not be sent", "error", err)
	}
}

func (p *pipe) encode(msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	return p.send(data)
}

// send writes one message, or the answer to a batch, in one write.
func (p *pipe) send(data []byte) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	_, err := p.out.Write(p.frames.wrap(data))
	return err
}
