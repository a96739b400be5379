package stdio

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/message"
)

// methodListen is the request that is answered only when the session ends.
const methodListen = "subscriptions/listen"

// pipe is the connection of a Transport: JSON-RPC messages, or batches of them, in one framing.
type pipe struct {
	in      io.ReadCloser
	out     io.WriteCloser
	framing Framing
	log     *slog.Logger

	incoming chan jsonrpc.Message
	drained  chan struct{} // closed at the end of the input, when every request that counts is answered
	closed   chan struct{}
	close    sync.Once

	writing sync.Mutex
	frames  framing // lines, until the client's first text shows the framing

	mu         sync.Mutex
	open       map[jsonrpc.ID]*openRequest
	unanswered int  // open requests that are to be answered, and those whose answer is being written
	over       bool // the input has ended
	// asked has the requests of the session that the client has not answered, such as elicitation/create.
	asked map[jsonrpc.ID]bool
}

// openRequest is a request that the session has not answered.
type openRequest struct {
	batch   *batch // nil outside a batch
	lasting bool   // the end of the input does not wait for its answer
	dropped bool   // its answer is not sent
}

func newPipe(in io.ReadCloser, out io.WriteCloser, framing Framing, log *slog.Logger) *pipe {
	return &pipe{
		in: in, out: out, framing: framing, frames: &lines{}, log: log, incoming: make(chan jsonrpc.Message),
		drained: make(chan struct{}), closed: make(chan struct{}), open: map[jsonrpc.ID]*openRequest{}, asked: map[jsonrpc.ID]bool{},
	}
}

// SessionID returns the empty string: a pipe carries one session.
func (p *pipe) SessionID() string { return "" }

// Close closes both streams. Only the first call has an effect.
func (p *pipe) Close() error {
	p.close.Do(func() {
		close(p.closed)
		_ = p.in.Close()
		_ = p.out.Close()
	})
	return nil
}

// Read returns the next message. It returns io.EOF after Close, and at the end of the input once every request is
// answered.
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

// readMessages reads what the client sends until the input ends.
func (p *pipe) readMessages() {
	defer p.finish()
	messages, noise := p.framing.of(p.in)
	p.writing.Lock()
	p.frames = messages
	p.writing.Unlock()
	if noise > 0 {
		p.log.Debug("lines before the first message were skipped", "lines", noise)
		refused := &message.Refusal{Code: jsonrpc.CodeParseError, Message: noiseBefore(noise) + messages.expected()}
		p.reject(refused.Encode())
	}
	_, headers := messages.(*frames)
	begun := !headers
	for {
		text, err := messages.next()
		if bad, ok := errors.AsType[*message.Refusal](err); ok {
			p.reject(bad.Encode())
			continue
		}
		if len(text) > 0 {
			begun = begun || p.begin(text)
			p.take(text)
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				p.log.Debug("the client's input ended", "error", err)
			}
			return
		}
	}
}

// take delivers a message, or the messages of a batch, to the session. It answers what is not a message.
func (p *pipe) take(text []byte) {
	if text[0] == '[' {
		p.takeBatch(text)
		return
	}
	msg, refused := p.accept(text, nil)
	if refused != nil {
		p.reject(refused)
		return
	}
	p.deliver(msg)
}

// accept decodes a message, which is JSON, and records the request that it is. For what cannot be accepted it returns
// the answer instead.
func (p *pipe) accept(data []byte, b *batch) (jsonrpc.Message, []byte) {
	msg, refused := message.Decode(data)
	if refused != nil {
		return nil, refused.Encode()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if response, ok := msg.(*jsonrpc.Response); ok {
		delete(p.asked, response.ID)
	}
	request, ok := msg.(*jsonrpc.Request)
	if !ok || !request.IsCall() {
		return msg, nil
	}
	if p.open[request.ID] != nil {
		id := fault.Truncate(gjson.GetBytes(data, "id").Raw, message.MaxEcho)
		refused := &message.Refusal{Code: jsonrpc.CodeInvalidRequest, Message: "The id " + id + " is in use by a request that has not been answered; use another"}
		return nil, refused.Encode()
	}
	open := &openRequest{batch: b, lasting: request.Method == methodListen}
	if open.lasting {
		open.batch = nil // the other answers of the batch do not wait for this one
	} else {
		p.unanswered++
	}
	if open.batch != nil {
		b.open++
	}
	p.open[request.ID] = open
	return msg, nil
}

func (p *pipe) deliver(msg jsonrpc.Message) {
	select {
	case p.incoming <- msg:
	case <-p.drained:
	case <-p.closed:
	}
}

// Write sends a message of the session. It discards the answer to a request that was dropped or is answered already.
func (p *pipe) Write(_ context.Context, msg jsonrpc.Message) error {
	if request, ok := msg.(*jsonrpc.Request); ok && request.IsCall() {
		return p.ask(request)
	}
	response, ok := msg.(*jsonrpc.Response)
	if !ok {
		return p.encode(msg)
	}
	p.mu.Lock()
	request := p.open[response.ID]
	delete(p.open, response.ID) // before the answer is written: then the client may use the id again
	p.mu.Unlock()
	if request == nil || request.dropped {
		return nil
	}
	defer p.answered(request)
	b := request.batch
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

// ask sends a request of the session. It fails at once if the input has ended, because no answer can come.
func (p *pipe) ask(request *jsonrpc.Request) error {
	p.mu.Lock()
	over := p.over
	if !over {
		p.asked[request.ID] = true
	}
	p.mu.Unlock()
	if over {
		go p.deliver(unanswerable(request.ID))
		return nil
	}
	return p.encode(request)
}

// unanswerable is the answer to a request of the session that the client can no longer answer.
func unanswerable(id jsonrpc.ID) *jsonrpc.Response {
	return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the client's input ended before it answered"}}
}

// Drop declares that the answer to a request is not to be sent, and that the end of the input does not wait for it. The
// id stays in use until the session has answered.
func (p *pipe) Drop(id jsonrpc.ID) {
	p.mu.Lock()
	request := p.open[id]
	if request == nil || request.dropped {
		p.mu.Unlock()
		return
	}
	request.dropped = true
	var rest []byte
	if request.batch != nil {
		rest = request.batch.settle()
	}
	p.mu.Unlock()
	if rest != nil {
		p.reject(rest)
	}
	p.answered(request)
}

// answered counts a request that needs no further answer.
func (p *pipe) answered(request *openRequest) {
	if request.lasting {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unanswered--
	p.checkDrained()
}

// finish records the end of the input.
func (p *pipe) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	for id := range p.asked {
		go p.deliver(unanswerable(id))
	}
	clear(p.asked)
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

// reject sends an answer that does not come from the session. If it cannot be sent, the session's next message fails too.
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

// send writes one message, or the answers to a batch, in one write.
func (p *pipe) send(data []byte) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	_, err := p.out.Write(p.frames.wrap(data))
	return err
}
