// Package nodeprogram is a node type as a program: what answers --describe with the type's registry entry, and otherwise
// reads {"v":1,"params":{…}} on standard input and writes one JSON object of outputs (docs/contracts.md, "A node
// type of your own").
package nodeprogram

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// version is that of the request.
const version = 1

// maxRequest is the most bytes of a request.
const maxRequest = 256 << 20

// Describe writes the registry entry of a built-in node type, as --describe answers.
func Describe(w io.Writer, name string) error {
	kind, ok := nodetype.Builtin(name)
	if !ok {
		return fault.New(fault.Internal, "there is no node type %q", name)
	}
	entry, err := kind.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = w.Write(append(entry, '\n'))
	return err
}

// Read reads a request into the Go form of the type's parameters, with their defaults for those that are not given.
func Read[P any](r io.Reader, name string) (P, error) {
	var params P
	kind, _ := nodetype.Builtin(name)
	source, err := io.ReadAll(io.LimitReader(r, maxRequest+1))
	if err != nil {
		return params, fault.New(fault.Usage, "Cannot read standard input: %v", err)
	}
	if len(source) > maxRequest {
		return params, fault.New(fault.TooLarge, "The request has more than %d MiB", maxRequest>>20)
	}
	var request struct {
		V      int             `json:"v"`
		Params json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(source, &request); err != nil || request.Params == nil {
		return params, fault.New(fault.Usage, "Standard input holds no request").
			Suggest(`This program is a node type, which pflow-exec runs. By hand: echo '{"v":1,"params":{…}}' | %s; --describe tells its parameters`, nodetype.ProgramPrefix+name)
	}
	if request.V != version {
		return params, fault.New(fault.Protocol, "The request is of version %d, and this program speaks version %d", request.V, version).
			Suggest("Install the programs of the suite in one version, into one folder")
	}
	if err := json.Unmarshal(kind.Defaults(), &params); err != nil {
		return params, fault.New(fault.Internal, "the defaults of type %s: %v", name, err)
	}
	if err := known(kind, request.Params); err != nil {
		return params, err
	}
	err = nodetype.Decode(request.Params, &params)
	return params, err
}

// known refuses parameters that the type does not have, and misses those that it must have.
func known(kind nodetype.Type, raw json.RawMessage) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return fault.New(fault.Usage, "The parameters are no object")
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
			return fault.New(fault.Usage, "Parameter %q cannot be %s", name, fault.Truncate(string(value), 80)).Suggest("It is one of: %s", param.Enum)
		}
	}
	for _, param := range kind.Params {
		if _, ok := given[param.Name]; !ok && param.Required {
			return fault.New(fault.Usage, "Parameter %q is required: %s", param.Name, param.Description)
		}
	}
	return nil
}

// Serve reads a request, does it and writes its outputs. What failed is written too, as {"error":FAULT} beside the outputs
// that there are, and returned for the exit status.
func Serve[P, O any](ctx context.Context, name string, stdin io.Reader, stdout io.Writer, do func(context.Context, P) (*O, error)) error {
	params, err := Read[P](stdin, name)
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
		return fault.New(fault.Internal, "the outputs are no JSON object: %v", err)
	}
	_, err = w.Write(append(raw, '\n'))
	return err
}

// withError are outputs, null for none, with a fault among them.
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

// Progress writes a line of progress, which comes before the outputs; total is 0 when it is not known.
func Progress(w io.Writer, done, total float64, message string) error {
	raw, err := rawjson.Marshal(map[string]any{"progress": map[string]any{"done": done, "total": total, "message": message}})
	if err != nil {
		return err
	}
	_, err = w.Write(append(raw, '\n'))
	return err
}
