package mcpserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// maxEcho is the maximum number of bytes of the client's text that an error repeats.
const maxEcho = 200

// ErrorKind decides the code of an Error. The empty string means Internal.
type ErrorKind string

const (
	// NotFound is -32602, and -32002 for a resource before revision 2026-07-28.
	NotFound ErrorKind = "not_found"
	// Invalid is -32602.
	Invalid ErrorKind = "invalid"
	// Internal is -32603.
	Internal ErrorKind = "internal"
	// MissingCapability is -32021: the client does not declare a capability that the request needs. Data names it, as in
	// {"requiredCapabilities":{"sampling":{}}}.
	MissingCapability ErrorKind = "missing_capability"
)

// Error is an error of the protocol with data in the server's own form. A server without such a form returns faults.
type Error struct {
	Kind    ErrorKind
	Message string
	// Data is the data of the error, a JSON value; nil omits it.
	Data json.RawMessage
}

func (e *Error) Error() string { return e.Message }

// sendable returns an *Error as it is, and any other error as a fault.
func sendable(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return fault.From(err)
}

// protocolError returns an *Error or a fault as an error of the protocol, and such an error as it is; notFound is the code of NotFound.
func protocolError(err error, notFound int64) *jsonrpc.Error {
	if rpc, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return rpc
	}
	e, own := errors.AsType[*Error](err)
	if !own {
		f := fault.From(err)
		e = &Error{Kind: kindOf(f)}
		return rpcError(e.code(notFound), f)
	}
	rpc := &jsonrpc.Error{Code: e.code(notFound), Message: e.Message}
	if json.Valid(e.Data) { // with anything else the answer could not be encoded
		rpc.Data = e.Data
	}
	return rpc
}

func (e *Error) code(notFound int64) int64 {
	switch e.Kind {
	case NotFound:
		return notFound
	case Invalid:
		return jsonrpc.CodeInvalidParams
	case MissingCapability:
		return mcp.CodeMissingRequiredClientCapabilities
	}
	return jsonrpc.CodeInternalError
}

func kindOf(f *fault.Fault) ErrorKind {
	switch {
	case f.Type == fault.NotFound:
		return NotFound
	case f.ExitStatus() == 2:
		return Invalid
	}
	return Internal
}

// unknown returns the fault for a name that is not in the table.
func unknown(what, name string, known []string) *fault.Fault {
	name = fault.Truncate(name, maxEcho)
	f := fault.New(fault.NotFound, "Unknown %s %q", what, name)
	if near, ok := fault.Nearest(name, known); ok {
		f.Suggest("Did you mean %q?", near)
	}
	return f.Offer(name, known)
}

// rpcError returns a fault as an error of the protocol, with the fault as its data.
func rpcError(code int64, f *fault.Fault) *jsonrpc.Error {
	f.Address(fault.Tools)
	message := f.Error()
	if len(f.Suggestions) > 0 {
		message = fmt.Sprintf("%s. %s", message, f.Suggestions[0])
	}
	return &jsonrpc.Error{Code: code, Message: message, Data: compact(f)}
}

// Coded returns the error of a response in the form of this package's errors. It is for responses that the SDK has encoded without
// this package, see Server.SDK.
func Coded(method string, code int64, text string) (int64, string) {
	var rpc *jsonrpc.Error
	if errors.As(coded(method, errors.New(text)), &rpc) && (code == 0 || strings.HasPrefix(text, "handling '")) {
		return rpc.Code, rpc.Message
	}
	return code, text
}

// coded returns an error of the SDK's with a code and a short text. The SDK's errors for requests at the wrong time, such
// as before initialize, have no code. Its texts repeat the whole input, and the Go types that params do not match.
func coded(method string, err error) error {
	if err == nil {
		return nil
	}
	rpc, ok := errors.AsType[*jsonrpc.Error](err)
	if ok && rpc.Code != 0 && rpc.Message == err.Error() {
		return err
	}
	if strings.HasSuffix(err.Error(), `missing required "params"`) {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "The params of " + fault.Truncate(method, maxEcho) + " are missing"}
	}
	if strings.HasPrefix(err.Error(), "handling '") && strings.Contains(err.Error(), "unmarshaling ") {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: wrongParams(method, err)}
	}
	coded := &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fault.Truncate(err.Error(), maxEcho)}
	if ok && rpc.Code != 0 {
		coded.Code, coded.Data = rpc.Code, rpc.Data
	}
	return coded
}

// wrongParams returns what is wrong with params that the SDK cannot decode.
func wrongParams(method string, err error) string {
	text := "The params of " + fault.Truncate(method, maxEcho) + " do not match the MCP specification"
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && e.Field != "" {
		return fmt.Sprintf("%s: %s has the wrong type", text, e.Field)
	}
	return text
}
