package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/form"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// elicitation is a request elicitation/create as it was sent, and the attempt that it belongs to if the transport knows that.
type elicitation struct {
	params  json.RawMessage
	attempt *attempt
}

// elicitations are the requests that the SDK has not handed over yet, decoded.
type elicitations struct {
	mu   sync.Mutex
	sent []elicitation
}

// maxElicitations bounds the requests that the SDK refuses, and so never hands over.
const maxElicitations = 100

func (e *elicitations) add(sent elicitation) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sent = append(e.sent[max(0, len(e.sent)-maxElicitations):], sent)
}

// take returns the first request with the given parameters.
func (e *elicitations) take(params *mcp.ElicitParams) (elicitation, bool) {
	schema, err := rawjson.Marshal(params.RequestedSchema)
	if err != nil {
		return elicitation{}, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, sent := range e.sent {
		p := gjson.ParseBytes(sent.params)
		raw := []byte(p.Get("requestedSchema").Raw)
		if len(raw) == 0 {
			raw = []byte("null")
		}
		if p.Get("message").String() == params.Message && bytes.Equal(floats(raw), floats(schema)) {
			e.sent = append(e.sent[:i:i], e.sent[i+1:]...)
			return sent, true
		}
	}
	return elicitation{}, false
}

// floats returns JSON in the form that it has when it is decoded without a type and encoded again.
func floats(raw json.RawMessage) []byte {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	out, _ := rawjson.Marshal(v)
	return out
}

// relatedTask is the member of _meta that names the task of a message.
const relatedTask = "io.modelcontextprotocol/related-task"

// errNotAsked answers a question of a call that has ended.
var errNotAsked = &jsonrpc.Error{Code: -32000, Message: "the call has ended; it is made again with the person's answer"}

// elicit answers elicitation/create: with the reply that the call was given. Without one the call ends with what is asked.
func (s inbox) elicit(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.calls, func() { cancel(context.Cause(s.calls)) })()
	sent, known := s.elicitations.take(req.Params)
	if !known {
		raw, err := rawjson.Marshal(req.Params)
		if err != nil {
			return nil, err
		}
		sent.params = raw
	}
	a := sent.attempt
	if task := gjson.ParseBytes(sent.params).Get("_meta").Map()[relatedTask].Get("taskId").String(); a == nil && task != "" {
		a = s.active.ofTask(task)
	}
	var ended []*attempt
	if a == nil {
		a, ended = s.active.asker(ctx)
	}
	if a == nil {
		s.awaitCancelled(ctx, ended...)
		return nil, errNotAsked
	}
	q, f := parseQuestion(s.name, sent.params)
	if f != nil {
		a.end(f)
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: f.Message}
	}
	reply, ok := a.reply(q)
	if !ok {
		a.cut(&Asked{q})
		s.awaitCancelled(ctx, a)
		return nil, errNotAsked
	}
	result := &mcp.ElicitResult{Action: reply.Action}
	if reply.Action == form.Accept {
		result.Content = reply.values()
	}
	return result, nil
}

// awaitCancelled waits until attempts that were ended are over and the server has been told so. Only then may the server get the error
// for what it has asked. If the error came first, a tool could ask something else, or end while its call is being cancelled, which
// some servers do not survive.
func (s inbox) awaitCancelled(ctx context.Context, attempts ...*attempt) {
	for _, a := range attempts {
		select {
		case <-a.done:
		case <-ctx.Done():
			return
		}
	}
	s.cancels.wait()
}
