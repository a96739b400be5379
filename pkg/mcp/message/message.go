// Package message decides what counts as a JSON-RPC message of MCP, and how the rest is refused. It is the same for all transports.
package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

const (
	// MaxEcho is the most bytes of the client's text that an error repeats.
	MaxEcho = 200
	// maxDepth is the deepest nesting that the SDK decodes.
	maxDepth = 1000
	// checkedDepth is the deepest nesting that encoding/json validates.
	checkedDepth = 10000
)

// Refusal is why text is not a message that can be served, as the error that answers it.
type Refusal struct {
	// ID is the id of the request as the client wrote it. It is nil if it cannot be read, or is not that of a request.
	ID      json.RawMessage
	Code    int64
	Message string
}

func (r *Refusal) Error() string { return r.Message }

// Encode returns the answer, a message without a line end. An id that is nil is sent as null.
func (r *Refusal) Encode() []byte {
	id := r.ID
	if id == nil {
		id = json.RawMessage("null")
	}
	answer, _ := rawjson.Marshal(struct { // which cannot fail: an id is JSON
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   jsonrpc.Error   `json:"error"`
	}{"2.0", id, jsonrpc.Error{Code: r.Code, Message: r.Message}})
	return answer
}

// Decode returns the message that JSON text is, or why it cannot be served: it is no message, or the SDK would round its id.
func Decode(data []byte) (jsonrpc.Message, *Refusal) {
	msg, err := jsonrpc.DecodeMessage(data)
	if err != nil || !complete(msg, data) {
		return nil, NotMessage(data)
	}
	request, ok := msg.(*jsonrpc.Request)
	if !ok || !request.IsCall() {
		return msg, nil
	}
	id := gjson.GetBytes(data, "id").Raw
	if n, ok := request.ID.Raw().(int64); ok && id != strconv.FormatInt(n, 10) {
		return nil, &Refusal{
			ID: json.RawMessage(id), Code: jsonrpc.CodeInvalidRequest,
			Message: "The id " + fault.Truncate(id, MaxEcho) + " is not an integer up to 2^53; use a smaller integer or a string",
		}
	}
	return msg, nil
}

// NotJSON returns the refusal of text that is not valid JSON, with its message, or that is nested too deep to validate.
func NotJSON(text []byte, message string) *Refusal {
	if !deeper(text, checkedDepth) {
		return &Refusal{Code: jsonrpc.CodeParseError, Message: message}
	}
	return &Refusal{ID: idOf(gjson.ParseBytes(text)), Code: jsonrpc.CodeInvalidRequest, Message: wrongMessage("it is " + tooDeep())}
}

// EmptyBatch returns the refusal of an array without messages.
func EmptyBatch() *Refusal {
	return &Refusal{Code: jsonrpc.CodeInvalidRequest, Message: "The batch is empty; send a request"}
}

// NotMessage returns the refusal of JSON that is not a message.
func NotMessage(data []byte) *Refusal {
	m := gjson.ParseBytes(data)
	return &Refusal{ID: idOf(m), Code: jsonrpc.CodeInvalidRequest, Message: wrongMessage(whyNot(m, data))}
}

func wrongMessage(why string) string {
	return "This is not a JSON-RPC 2.0 message: " + why + `; send {"jsonrpc":"2.0","id":1,"method":"…","params":{…}}`
}

func tooDeep() string { return fmt.Sprintf("nested too deep, more than %d levels", maxDepth) }

// whyNot returns what is wrong with a message.
func whyNot(m gjson.Result, data []byte) string {
	id, method := m.Get("id"), m.Get("method")
	switch {
	case deeper(data, maxDepth):
		return "it is " + tooDeep()
	case !m.IsObject():
		return "it is not an object"
	case m.Get("jsonrpc").Type != gjson.String || m.Get("jsonrpc").Str != "2.0":
		return `its "jsonrpc" is not "2.0"`
	case id.Exists() && id.Type != gjson.String && id.Type != gjson.Number:
		return `its "id" is neither a string nor an integer`
	case method.Exists() && method.Type != gjson.String:
		return `its "method" is not a string`
	case !method.Exists() && !answers(m):
		return `it has no "method"`
	case !method.Exists() && !id.Exists():
		return `it answers a request, but has no "id"`
	}
	return "its members do not match the specification"
}

// idOf returns the id to refuse a message under, or nil for null. The id of a message that seems to be an answer is that of
// another request.
func idOf(m gjson.Result) json.RawMessage {
	if !m.IsObject() || answers(m) && !m.Get("method").Exists() {
		return nil
	}
	if id := m.Get("id"); id.Type == gjson.String || id.Type == gjson.Number {
		return json.RawMessage(id.Raw)
	}
	return nil
}

// MaxHead is how many bytes of a message that is too long are to be searched for its id.
const MaxHead = 4 << 10

// RequestID returns the id of a request of which only the first bytes are known, or nil if its id or its method is not among them.
func RequestID(head []byte) (id json.RawMessage) {
	members, isRequest := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(head, []byte("\uFEFF")))), false
	if open, err := members.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	for {
		var value json.RawMessage
		name, err := members.Token()
		if err != nil || members.Decode(&value) != nil { // also the member that head ends in
			break
		}
		switch name {
		case "id":
			id = value
		case "method":
			isRequest = true
		}
	}
	if kind := gjson.ParseBytes(id).Type; !isRequest || kind != gjson.String && kind != gjson.Number {
		return nil
	}
	return id
}

func answers(m gjson.Result) bool { return m.Get("result").Exists() || m.Get("error").Exists() }

// complete reports whether a message that the SDK has decoded is a whole one. The SDK takes an object without method and
// result for an answer, and a request whose id is null, which MCP does not have, for a notification. Only notifications
// may have such an id.
func complete(msg jsonrpc.Message, data []byte) bool {
	switch msg := msg.(type) {
	case *jsonrpc.Response:
		return answers(gjson.ParseBytes(data))
	case *jsonrpc.Request:
		return msg.IsCall() || strings.HasPrefix(msg.Method, "notifications/") || !gjson.GetBytes(data, "id").Exists()
	}
	return true
}

// deeper reports whether JSON is nested more than so many levels deep. It reports false for text that does not begin with
// an object or an array.
func deeper(data []byte, most int) bool {
	if len(data) == 0 || data[0] != '{' && data[0] != '[' {
		return false
	}
	depth, quoted, escaped := 0, false, false
	for _, c := range data {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > most {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
