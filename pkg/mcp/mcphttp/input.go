package mcphttp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/message"
)

// revisionHeader names the protocol revision that a request follows.
const revisionHeader = "MCP-Protocol-Version"

// lastWithBatches is the last revision of MCP that has batches. It is also the revision of a request that names none.
const lastWithBatches = "2025-03-26"

// input is the body of a POST: a message of JSON-RPC, or a batch of them.
type input struct {
	data []byte
	// ids are the ids of the requests, as the client wrote them.
	ids []json.RawMessage
	// method is that of the last request.
	method string
	// progress reports that a request has a progress token, and listens that one is subscriptions/listen.
	progress, listens bool
	// token is the progress token of the last request, as JSON, or empty.
	token json.RawMessage
	// cancels is set if the message cancels a request.
	cancels *cancellation
}

// cancellation is the content of notifications/cancelled.
type cancellation struct{ request, reason string }

func (in *input) body() io.ReadCloser { return io.NopCloser(bytes.NewReader(in.data)) }

// read reads the body of a request. For a body that is not a message it returns the HTTP status and the error to answer with.
func read(w http.ResponseWriter, r *http.Request) (*input, int, *message.Refusal) {
	invalid := func(status int, text string) (*input, int, *message.Refusal) {
		return nil, status, &message.Refusal{Code: jsonrpc.CodeInvalidRequest, Message: text}
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return invalid(http.StatusUnsupportedMediaType, "The Content-Type must be application/json")
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return invalid(http.StatusUnsupportedMediaType, "The body must not have a Content-Encoding")
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return invalid(http.StatusRequestEntityTooLarge, fmt.Sprintf("The body is longer than %d bytes; send less at a time", maxBody))
	}
	if err != nil {
		return invalid(http.StatusRequestTimeout, "The body did not arrive whole")
	}
	in, refused := parse(data, r.Header.Get(revisionHeader))
	return in, http.StatusBadRequest, refused
}

// parse reads the messages of a body.
func parse(data []byte, revision string) (*input, *message.Refusal) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\uFEFF")))
	if !utf8.Valid(data) || !json.Valid(data) {
		return nil, message.NotJSON(data, "The body is not valid JSON in UTF-8")
	}
	in := &input{data: data}
	if data[0] != '[' {
		return in, in.add(data, true)
	}
	if revision > lastWithBatches {
		return nil, &message.Refusal{Code: jsonrpc.CodeInvalidRequest, Message: "MCP " + lastWithBatches + " is the last revision with batches; send each message by itself"}
	}
	var elements []json.RawMessage
	if err := json.Unmarshal(data, &elements); err != nil {
		return nil, message.NotMessage(data)
	}
	switch {
	case len(elements) == 0:
		return nil, message.EmptyBatch()
	case len(elements) > maxBatch:
		return nil, &message.Refusal{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("The batch has %d messages, more than %d", len(elements), maxBatch)}
	}
	for _, element := range elements {
		if refused := in.add(element, false); refused != nil {
			return nil, refused
		}
	}
	return in, nil
}

// add records what one message is.
func (in *input) add(data []byte, alone bool) *message.Refusal {
	msg, refused := message.Decode(data)
	if refused != nil {
		return refused
	}
	request, ok := msg.(*jsonrpc.Request)
	if !ok {
		return nil
	}
	if !request.IsCall() {
		if alone && request.Method == "notifications/cancelled" {
			params := gjson.ParseBytes(request.Params)
			in.cancels = &cancellation{params.Get("requestId").Raw, params.Get("reason").Str}
		}
		return nil
	}
	id := json.RawMessage(gjson.GetBytes(data, "id").Raw)
	for _, other := range in.ids {
		if bytes.Equal(other, id) {
			return &message.Refusal{ID: id, Code: jsonrpc.CodeInvalidRequest, Message: "Two requests of the batch have the same id"}
		}
	}
	in.ids, in.method = append(in.ids, id), request.Method
	in.token = json.RawMessage(gjson.GetBytes(request.Params, "_meta.progressToken").Raw)
	in.progress = in.progress || len(in.token) > 0
	in.listens = in.listens || request.Method == "subscriptions/listen"
	return nil
}
