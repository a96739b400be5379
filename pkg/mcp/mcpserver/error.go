package mcpserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// maxEcho is the most bytes of what a client sent that an error repeats.
const maxEcho = 200

// ErrorKind is what an Error is about; it decides the code of the protocol's error. The empty one is Internal.
type ErrorKind string

const (
	// NotFound is -32602, but -32002 for a resource before 2026-07-28.
	NotFound ErrorKind = "not_found"
	// Invalid is -32602.
	Invalid ErrorKind = "invalid"
	// Internal is -32603.
	Internal ErrorKind = "internal"
)

// Error is the protocol's error with the server's own data. Servers whose errors have no form of their own give faults.
type Error struct {
	Kind    ErrorKind
	Message string
	// Data is the error's data, a JSON value; nil leaves it out.
	Data json.RawMessage
}

func (e *Error) Error() string { return e.Message }

// wrong is an error as this package sends it: an *Error as it is, anything else as its fault.
func wrong(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return fault.From(err)
}

// protocolError is the protocol's error of an *Error or a fault; notFound is the code of what is not there.
func protocolError(err error, notFound int64) *jsonrpc.Error {
	e, own := errors.AsType[*Error](err)
	if !own {
		f := fault.From(err)
		e = &Error{Kind: kindOf(f)}
		return rpcError(e.code(notFound), f)
	}
	rpc := &jsonrpc.Error{Code: e.code(notFound), Message: e.Message}
	if json.Valid(e.Data) { // anything else would cost the client its answer
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

// unknown is the fault of a name that is not in the table.
func unknown(what, name string, known []string) *fault.Fault {
	name = fault.Truncate(name, maxEcho)
	f := fault.New(fault.NotFound, "Unknown %s %q", what, name)
	if near, ok := fault.Nearest(name, known); ok {
		f.Suggest("Did you mean %q?", near)
	}
	f.Available = known
	return f
}

// rpcError is a fault as the protocol's error, with the fault as its data.
func rpcError(code int64, f *fault.Fault) *jsonrpc.Error {
	message := f.Error()
	if len(f.Suggestions) > 0 {
		message = fmt.Sprintf("%s. %s", message, f.Suggestions[0])
	}
	return &jsonrpc.Error{Code: code, Message: message, Data: compact(f)}
}

// coded gives an error of the SDK's its code where it has none: those are requests at a wrong time, such as before
// initialize. Its texts repeat what came, whole, and the types of its own that params do not fit.
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

// wrongParams says what is wrong with params that the SDK cannot decode.
func wrongParams(method string, err error) string {
	text := "The params of " + fault.Truncate(method, maxEcho) + " do not have the form that MCP gives them"
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && e.Field != "" {
		return fmt.Sprintf("%s: %s has a wrong type", text, e.Field)
	}
	return text
}
