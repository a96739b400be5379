package mcpserver

import (
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// refusal is the answer to a message that the SDK does not get to see; a nil id is null.
func refusal(id json.RawMessage, code int64, message string) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	return compact(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   jsonrpc.Error   `json:"error"`
	}{"2.0", id, jsonrpc.Error{Code: code, Message: message}})
}

// coded gives an error of the SDK's its code where it has none: those are requests at a wrong time, such as before
// initialize.
func coded(err error) error {
	if rpc, ok := errors.AsType[*jsonrpc.Error](err); err == nil || ok && rpc.Code != 0 {
		return err
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
}
