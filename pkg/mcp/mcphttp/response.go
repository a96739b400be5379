package mcphttp

import (
	"bytes"
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/message"
)

const (
	// heartbeat is how often a stream has a comment, so that proxies keep it open.
	heartbeat = 15 * time.Second
	// opening is how long a stream waits for its first event, which may be an error with a status of its own, before it begins
	// without one.
	opening = 40 * time.Millisecond
	// writeTime is how long a client may take to read a piece of an answer.
	writeTime = 30 * time.Second
	// piece is how much is written at a time.
	piece = 64 << 10
)

// response stands between the SDK's handlers and the client. It writes the comments of a stream between its events, turns the SDK's
// errors in plain text into errors of JSON-RPC, and gives up a client that does not read.
type response struct {
	w          http.ResponseWriter
	connection *http.ResponseController
	in         *input
	header     http.Header // of the SDK, until it is sent
	// identified is set if events have ids, by which a client can go on after it has lost the stream.
	identified bool

	mu     sync.Mutex
	beats  *time.Timer // nil without a stream
	sent   bool        // the status has been sent
	stream bool        // as the beginning of a stream
	// late is set if the SDK sends an error with a status of its own after the stream has begun.
	late bool
	// plain is the status of an error in plain text, which text collects.
	plain  int
	text   bytes.Buffer
	closed bool
}

// newResponse returns the response to a request. close must be called.
func newResponse(w http.ResponseWriter, stream bool, in *input) *response {
	r := &response{w: w, connection: http.NewResponseController(w), in: in, header: http.Header{}}
	if stream && len(in.ids) > 0 {
		r.mu.Lock() // beat may be called before beats is set
		defer r.mu.Unlock()
		r.beats = time.AfterFunc(opening, r.beat)
	}
	return r
}

// Header returns the header of the SDK.
func (r *response) Header() http.Header { return r.header }

// WriteHeader sends the header, except for an error in plain text.
func (r *response) WriteHeader(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin(status)
}

// begin sends the header of the SDK. The mu must be held.
func (r *response) begin(status int) {
	kind, _, _ := mime.ParseMediaType(r.header.Get("Content-Type"))
	switch {
	case status >= http.StatusBadRequest && kind == "text/plain":
		r.plain = status
	case r.sent:
		r.late = r.late || r.stream && kind != eventStream
	default:
		maps.Copy(r.w.Header(), r.header)
		if r.stream = kind == eventStream; r.stream {
			r.w.Header().Set("X-Accel-Buffering", "no") // nginx would hold events back
		}
		r.sent = true
		r.w.WriteHeader(status)
	}
}

const eventStream = "text/event-stream"

// Write writes a part of the answer.
func (r *response) Write(data []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.sent && r.plain == 0 {
		r.setRetryAfter(data)
		if event, _ := bytes.CutPrefix(data, []byte(eventHead)); isError(event) {
			r.w.Header().Del(sessionHeader) // no session has begun
		}
		r.begin(http.StatusOK)
	}
	switch {
	case r.closed:
		return 0, http.ErrHandlerTimeout
	case r.plain != 0:
		return r.text.Write(data)
	case r.late:
		return len(data), r.event(r.in.plainError(data), "")
	case r.stream:
		if event, ok := bytes.CutPrefix(data, []byte(eventHead)); ok && isError(event) {
			return len(data), r.event(r.in.plainError(event), "")
		}
		return len(data), r.write(data)
	}
	return len(data), r.write(r.in.plainError(data))
}

// eventHead begins each event of the SDK's.
const eventHead = "event: message\ndata: "

// isError reports whether a message of the SDK's, which writes the members in this order, is an error. A result can have such a
// member too, as that of a task that has failed has.
func isError(data []byte) bool {
	head := data[:min(len(data), 400)] // an id can be long
	return bytes.Contains(head, []byte(`,"error":{"code":`)) && gjson.GetBytes(data, "error.code").Exists()
}

// plainError returns an error of the SDK's without the Go types and the input that its text has, and any other message as it is.
func (in *input) plainError(data []byte) []byte {
	if len(in.ids) != 1 || !isError(data) {
		return data
	}
	found := gjson.GetManyBytes(data, "error.code", "error.message", "error.data")
	code, text := mcpserver.Coded(in.method, found[0].Int(), found[1].Str)
	if found[2].Exists() || code == found[0].Int() && text == found[1].Str {
		return data
	}
	return (&message.Refusal{ID: in.ids[0], Code: code, Message: text}).Encode()
}

// FlushError sends what has been written.
func (r *response) FlushError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || !r.sent {
		return nil
	}
	return r.connection.Flush()
}

// write sends bytes piece by piece, so that a slow client has time for a long answer. The mu must be held.
func (r *response) write(data []byte) error {
	for len(data) > 0 {
		part := data[:min(len(data), piece)]
		_ = r.connection.SetWriteDeadline(time.Now().Add(writeTime)) // only a test's recorder cannot
		if _, err := r.w.Write(part); err != nil {
			return err
		}
		data = data[len(part):]
	}
	return nil
}

// event writes a message as an event of the stream, with its id if that is not empty. The mu must be held.
func (r *response) event(data []byte, id string) error {
	text := []byte(eventHead)
	if id != "" {
		text = []byte("id: " + id + "\n" + eventHead)
	}
	text = append(text, bytes.TrimSpace(data)...)
	if err := r.write(append(text, "\n\n"...)); err != nil {
		return err
	}
	return r.connection.Flush()
}

// beat writes a comment. The first one begins the stream if no event has.
func (r *response) beat() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.plain != 0 || r.sent && !r.stream {
		return
	}
	comment := ": heartbeat\n\n"
	if !r.sent {
		comment = ": ok\n\n"
		r.open()
	}
	if r.write([]byte(comment)) == nil && r.connection.Flush() == nil {
		r.beats.Reset(heartbeat)
	}
}

// open begins the stream before the SDK does. The mu must be held.
func (r *response) open() {
	header := r.w.Header()
	header.Set("Content-Type", eventStream)
	header.Set("Cache-Control", "no-cache, no-transform")
	header.Set("X-Accel-Buffering", "no")
	r.sent, r.stream = true, true
	r.w.WriteHeader(http.StatusOK)
}

// send writes a message as an event of the stream, between those of the SDK. The place, if there is one, becomes its id.
func (r *response) send(message json.RawMessage, place string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.plain != 0 || r.sent && !r.stream {
		return
	}
	if !r.sent {
		r.open()
	}
	id := ""
	if r.identified && place != "" {
		id = (&eventID{Request: r.in.ids[0], Token: r.in.token, Place: place}).encode()
	}
	_ = r.event(message, id) // that the client is gone shows by its connection
}

// setRetryAfter tells a client in a header when a limit that it has met passes, if the answer says so. The mu must be held.
func (r *response) setRetryAfter(answer []byte) {
	answer, _ = bytes.CutPrefix(answer, []byte(eventHead))
	if len(answer) > maxRefusal || !bytes.Contains(answer, []byte(`"retry_after_ms"`)) {
		return
	}
	if ms := gjson.GetBytes(answer, "result.structuredContent.error.details.retry_after_ms").Int(); ms > 0 {
		r.w.Header().Set("Retry-After", strconv.FormatInt((ms+999)/1000, 10))
	}
}

// maxRefusal is the most bytes of an answer that can be a refusal for a time.
const maxRefusal = 64 << 10

// close ends the response: nothing is written to the client after it has returned. A client that may not read the answer, because of denied,
// reads that instead, unless the answer has been sent.
func (r *response) close(denied *Denied) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.beats != nil {
		r.beats.Stop()
	}
	switch {
	case denied != nil && !r.sent:
		deny(r.w, denied)
		return
	case denied != nil && r.stream && len(r.in.ids) == 1:
		_ = r.event((&message.Refusal{ID: r.in.ids[0], Code: jsonrpc.CodeInvalidRequest, Message: denied.Message}).Encode(), "")
		return
	case r.plain == 0:
		return
	}
	r.w.Header().Del(sessionHeader)
	status, refused := r.in.refusal(r.plain, strings.TrimSpace(r.text.String()))
	switch {
	case r.sent: // the stream has begun
		_ = r.event(refused.Encode(), "") // that the client is gone needs no report
	case status == http.StatusAccepted:
		r.w.WriteHeader(status)
	default:
		refuseAs(r.w, status, refused)
	}
}

// refusal returns an error of the SDK's in plain text as an error of JSON-RPC, with the HTTP status to send. A request that is
// refused is an answered one, with the status 200. An unknown notification is accepted, as JSON-RPC wants.
func (in *input) refusal(status int, text string) (int, *message.Refusal) {
	refused := &message.Refusal{Code: jsonrpc.CodeInvalidRequest, Message: text}
	if len(in.ids) == 1 {
		refused.ID = json.RawMessage(in.ids[0])
	}
	switch {
	case strings.Contains(text, "JSON RPC not handled"):
		if len(in.ids) == 0 {
			return http.StatusAccepted, refused
		}
		refused.Code, refused.Message, status = jsonrpc.CodeMethodNotFound, "Method not found", http.StatusOK
	case strings.Contains(text, `missing required "params"`):
		refused.Code, refused.Message, status = jsonrpc.CodeInvalidParams, "The params are missing", http.StatusOK
	case strings.Contains(text, "Unsupported protocol version"):
		refused.Code = codeUnsupportedRevision
	}
	return status, refused
}

// codeUnsupportedRevision is the code for a protocol revision that the server does not speak.
const codeUnsupportedRevision = -32022
