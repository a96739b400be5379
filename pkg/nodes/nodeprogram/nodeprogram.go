// Package nodeprogram is the protocol of programs that are node types. Such a program prints the registry entry of its type for
// --describe. Otherwise it reads {"v":1,"params":{…}} from standard input and writes its outputs as one JSON object
// (docs/contracts.md, "A node type of your own").
package nodeprogram

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/input"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// version is the version of the protocol.
const version = 1

// MaxRequest is the most bytes of a request of most programs.
const MaxRequest = 64 << 20

// Describe writes the registry entry of a built-in node type, for --describe.
func Describe(w io.Writer, name string) error {
	kind, ok := nodetype.Builtin(name)
	if !ok {
		return fault.New(fault.Internal, "There is no node type %q", name)
	}
	entry, err := kind.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = w.Write(append(entry, '\n'))
	return err
}

// Read reads a request of at most limit bytes and decodes its parameters into P, the struct of the named type. Parameters that are not given have their
// defaults.
func Read[P any](ctx context.Context, r io.Reader, name string, limit int64) (P, error) {
	var params P
	kind, _ := nodetype.Builtin(name)
	source, err := input.Read(ctx, r, "The request on standard input", limit)
	if _, isFault := errors.AsType[*fault.Fault](err); isFault || errors.Is(err, context.Canceled) {
		return params, err
	}
	if err != nil {
		return params, fault.New(fault.Usage, "Cannot read standard input: %v", fault.Reason(err))
	}
	var request struct {
		V      int             `json:"v"`
		Params json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(source, &request); err != nil || request.Params == nil {
		return params, fault.New(fault.Usage, "Standard input is not a request").
			Suggest(`pflow-exec runs this program as a node type. To run it by hand: echo '{"v":1,"params":{…}}' | %s; --describe lists the parameters`, nodetype.ProgramPrefix+name)
	}
	if request.V != version {
		return params, fault.New(fault.Protocol, "The request has version %d, but this program needs version %d", request.V, version).
			Suggest("Install all programs of the suite from the same version, in the same directory")
	}
	if err := json.Unmarshal(kind.Defaults(), &params); err != nil {
		return params, fault.New(fault.Internal, "The defaults of the node type %s cannot be decoded: %v", name, err)
	}
	if err := checkParams(kind, request.Params); err != nil {
		return params, err
	}
	err = nodetype.Decode(request.Params, &params)
	return params, err
}

// checkParams returns a fault for a parameter that the type does not have or whose value it does not allow, and for a missing one.
func checkParams(kind nodetype.Type, raw json.RawMessage) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return fault.New(fault.Usage, "The parameters must be a JSON object")
	}
	for name, value := range given {
		param, ok := kind.Param(name)
		if !ok {
			f := fault.New(fault.Usage, "Unknown parameter %q", name)
			if near, ok := fault.Nearest(name, kind.ParamNames()); ok {
				f.Suggest("Did you mean %q?", near)
			}
			return f
		}
		if !param.Allows(value) {
			return fault.New(fault.Usage, "Parameter %q cannot be %s", name, fault.Truncate(string(value), 80)).Suggest("The allowed values are %s", param.Enum)
		}
	}
	for _, param := range kind.Params {
		if _, ok := given[param.Name]; !ok && param.Required {
			return fault.New(fault.Usage, "Parameter %q is required: %s", param.Name, param.Description)
		}
	}
	return nil
}

// Serve reads a request of at most limit bytes, calls do with its parameters and writes the outputs. It writes an error as the member "error" of the
// outputs, which may be nil, and returns it for the exit status.
func Serve[P, O any](ctx context.Context, name string, limit int64, stdin io.Reader, stdout io.Writer, do func(context.Context, P) (*O, error)) error {
	params, err := Read[P](ctx, stdin, name, limit)
	if errors.Is(err, context.Canceled) {
		return err // nothing was asked for yet
	}
	if err != nil {
		return errors.Join(write(stdout, (*O)(nil), fault.From(err)), err)
	}
	outputs, err := do(ctx, params)
	if err != nil {
		return errors.Join(write(stdout, outputs, fault.From(err)), err)
	}
	return write(stdout, outputs, nil)
}

func write[O any](w io.Writer, outputs *O, f *fault.Fault) error {
	raw, err := rawjson.Marshal(outputs)
	if err == nil && f != nil {
		raw, err = withError(raw, f)
	}
	if err != nil {
		return fault.New(fault.Internal, "The outputs are not a JSON object: %v", err)
	}
	_, err = w.Write(append(raw, '\n'))
	return err
}

// withError returns outputs, which may be null, with a fault as the member "error".
func withError(outputs json.RawMessage, f *fault.Fault) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(outputs, &fields); err != nil {
		return nil, err
	}
	if fields == nil {
		fields = map[string]json.RawMessage{}
	}
	raw, err := rawjson.Marshal(f)
	if err != nil {
		return nil, err
	}
	fields["error"] = raw
	return rawjson.Marshal(fields)
}

// Progress writes a line of progress. Lines of progress come before the outputs. A total of 0 means that it is not known.
func Progress(w io.Writer, done, total float64, message string) error {
	raw, err := rawjson.Marshal(map[string]any{"progress": map[string]any{"done": done, "total": total, "message": message}})
	if err != nil {
		return err
	}
	_, err = w.Write(append(raw, '\n'))
	return err
}
