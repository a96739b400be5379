package stdio

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/pflow-suite/pflow/pkg/mcp/message"
)

// batch collects the answers to the requests that came in one array.
type batch struct {
	open    int
	answers [][]byte
}

// takeBatch does what take does, for an array of messages (a JSON-RPC batch, which revisions of MCP up to 2025-03-26
// allow). All its answers go out in one array.
func (p *pipe) takeBatch(array []byte) {
	var elements []json.RawMessage
	if err := json.Unmarshal(array, &elements); err != nil {
		p.reject(message.NotMessage(array).Encode())
		return
	}
	if len(elements) == 0 {
		p.reject(message.EmptyBatch().Encode())
		return
	}
	b := &batch{open: 1} // counts this loop, so that an early answer does not complete the batch
	var messages []jsonrpc.Message
	var refusals [][]byte
	for _, element := range elements {
		msg, refused := p.accept(element, b)
		if refused != nil {
			refusals = append(refusals, refused)
			continue
		}
		messages = append(messages, msg)
	}
	p.mu.Lock()
	b.answers = append(b.answers, refusals...)
	answer := b.settle()
	p.mu.Unlock()
	if answer != nil {
		p.reject(answer)
	}
	for _, msg := range messages {
		p.deliver(msg)
	}
}

// settle counts one answer off, and returns the array of all answers if it was the last. The pipe's mu must be held.
func (b *batch) settle() []byte {
	b.open--
	if b.open > 0 || len(b.answers) == 0 {
		return nil
	}
	return append(append([]byte{'['}, bytes.Join(b.answers, []byte{','})...), ']')
}
