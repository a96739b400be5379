package stdio

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

const (
	// maxEcho is the most bytes of the client's text that an error repeats.
	maxEcho = 200
	// maxDepth is how deep a message may be nested for the SDK to decode it.
	maxDepth = 1000
	// checkedDepth is how deep JSON may be nested for encoding/json to check it.
	checkedDepth = 10000
)

// refusal is the answer to a message that the SDK does not get to see; a nil id is null.
func refusal(id json.RawMessage, code int64, message string) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	answer, _ := rawjson.Marshal(struct { // which cannot fail: an id is JSON
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   jsonrpc.Error   `json:"error"`
	}{"2.0", id, jsonrpc.Error{Code: code, Message: message}})
	return answer
}

// notJSON stands for text that is no JSON, and for text that is nested too deep to know.
func notJSON(text []byte, message string) *malformed {
	if !deeper(text, checkedDepth) {
		return &malformed{code: jsonrpc.CodeParseError, message: message}
	}
	return &malformed{id: idOf(gjson.ParseBytes(text)), code: jsonrpc.CodeInvalidRequest, message: wrongMessage("it is " + tooDeep())}
}

// notMessage is the answer to JSON that is no message.
func notMessage(data []byte) []byte {
	m := gjson.ParseBytes(data)
	return refusal(idOf(m), jsonrpc.CodeInvalidRequest, wrongMessage(whyNot(m, data)))
}

func wrongMessage(why string) string {
	return "This is no JSON-RPC 2.0 message: " + why + `; send {"jsonrpc":"2.0","id":1,"method":"…","params":{…}}`
}

func tooDeep() string { return fmt.Sprintf("nested too deep, more than %d levels", maxDepth) }

// whyNot says what is wrong with a message.
func whyNot(m gjson.Result, data []byte) string {
	id, method := m.Get("id"), m.Get("method")
	switch {
	case deeper(data, maxDepth):
		return "it is " + tooDeep()
	case !m.IsObject():
		return "it is no object"
	case m.Get("jsonrpc").Type != gjson.String || m.Get("jsonrpc").Str != "2.0":
		return `its "jsonrpc" is not "2.0"`
	case id.Exists() && id.Type != gjson.String && id.Type != gjson.Number:
		return `its "id" is neither a string nor an integer`
	case method.Exists() && method.Type != gjson.String:
		return `its "method" is no string`
	case !method.Exists() && !answers(m):
		return `it has no "method"`
	case !method.Exists() && !id.Exists():
		return `it answers a request, but has no "id"`
	}
	return "its members are not what the specification has"
}

// idOf is the id to refuse a message under, nil for null. What seems to answer a request has the id of that.
func idOf(m gjson.Result) json.RawMessage {
	if !m.IsObject() || answers(m) && !m.Get("method").Exists() {
		return nil
	}
	if id := m.Get("id"); id.Type == gjson.String || id.Type == gjson.Number {
		return json.RawMessage(id.Raw)
	}
	return nil
}

func answers(m gjson.Result) bool { return m.Get("result").Exists() || m.Get("error").Exists() }

// complete says whether a message that the SDK has decoded is one: the SDK takes what has neither method nor result for
// an answer, and a request whose id is null, which MCP has not, for a notification. That is left to notifications.
func complete(msg jsonrpc.Message, data []byte) bool {
	switch msg := msg.(type) {
	case *jsonrpc.Response:
		return answers(gjson.ParseBytes(data))
	case *jsonrpc.Request:
		return msg.IsCall() || strings.HasPrefix(msg.Method, "notifications/") || !gjson.GetBytes(data, "id").Exists()
	}
	return true
}

// deeper says whether JSON is nested more than so many levels deep. Text that does not begin as JSON is not.
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
