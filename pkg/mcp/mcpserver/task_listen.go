package mcpserver

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

const methodListen = "subscriptions/listen"

// refusedListen returns the error for a subscription to tasks by a client that does not declare the extension, else nil. The SDK does
// not see that tasks are asked for.
func refusedListen(method string, params json.RawMessage) *jsonrpc.Error {
	if method != methodListen || !gjson.GetBytes(params, "notifications.taskIds").Exists() || declaresTasks(gjson.GetBytes(params, "_meta")) {
		return nil
	}
	return protocolError(needsTasks("A subscription to tasks"), jsonrpc.CodeInvalidParams)
}

const (
	methodHeader = "Mcp-Method"
	nameHeader   = "Mcp-Name"
	// maxTaskBody is the most bytes of a request about tasks that CheckTasks reads. The SDK accepts no longer ones by default.
	maxTaskBody = 4 << 20
)

// CheckTasks returns a handler that answers the HTTP requests about tasks that break a rule the SDK does not know, and passes all
// others on to next, the SDK's handler: the header Mcp-Name has the id of the task, and a subscription to tasks needs the extension.
func (s *Server) CheckTasks(next http.Handler) http.Handler {
	if s.config.Tasks == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get(methodHeader) { // of all requests that declare the extension, or the SDK refuses them
		case "tasks/get", "tasks/update", "tasks/cancel", methodListen:
		default:
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(io.LimitReader(r.Body, maxTaskBody))
		if err == nil && json.Valid(body) {
			if refused := refusedTask(r.Header.Get(nameHeader), body); refused != nil {
				answerHTTP(w, gjson.GetBytes(body, "id"), refused)
				return
			}
		}
		r.Body = &again{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
		next.ServeHTTP(w, r)
	})
}

// refusedTask returns the error for a request about tasks with the given header Mcp-Name, or nil.
func refusedTask(name string, body []byte) *jsonrpc.Error {
	request := gjson.GetManyBytes(body, "method", "params", "params.taskId")
	if request[0].Str == methodListen {
		return refusedListen(methodListen, json.RawMessage(request[1].Raw))
	}
	if id := request[2].Str; name != "" && name != id {
		return &jsonrpc.Error{Code: mcp.CodeHeaderMismatch, Message: "The header " + nameHeader + " is " + fault.Truncate(name, maxEcho) + ", but the task is " + fault.Truncate(id, maxEcho)}
	}
	return nil
}

// answerHTTP answers an HTTP request with an error.
func answerHTTP(w http.ResponseWriter, id gjson.Result, e *jsonrpc.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write(compact(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id,omitempty"`
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", json.RawMessage(id.Raw), e}))
}

// again is a body of which the beginning has been read.
type again struct {
	io.Reader
	io.Closer
}
