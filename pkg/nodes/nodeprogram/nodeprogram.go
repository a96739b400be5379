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
	params, _, err := read[P](ctx, r, name, limit)
	return params, err
}

// read also returns the answer to the question that the program has asked, or nil.
func read[P any](ctx context.Context, r io.Reader, name string, limit int64) (P, *Answer, error) {
	var params P
	kind, _ := nodetype.Builtin(name)
	source, err := input.Read(ctx, r, "The request on standard input", limit)
	if _, isFault := errors.AsType[*fault.Fault](err); isFault || errors.Is(err, context.Canceled) {
		return params, nil, err
	}
	if err != nil {
		return params, nil, fault.New(fault.Usage, "Cannot read standard input: %v", fault.Reason(err))
	}
	var request struct {
		V      int             `json:"v"`
		Params json.RawMessage `json:"params"`
		Answer *string         `json:"answer"`
		State  json.RawMessage `json:"state"`
	}
	if err := json.Unmarshal(source, &request); err != nil || request.Params == nil {
		return params, nil, fault.New(fault.Usage, "Standard input is not a request").
			Suggest("A workflow runs this program as a node type; --describe lists the parameters").Then(fault.Command("Run it by hand", `echo '{"v":1,"params":{…}}' | %s`, nodetype.ProgramPrefix+name))
	}
	if request.V != version {
		return params, nil, fault.New(fault.Protocol, "The request has version %d, but this program needs version %d", request.V, version).
			Suggest("Install all programs of the suite from the same version, in the same directory")
	}
	if err := json.Unmarshal(kind.Defaults(), &params); err != nil {
		return params, nil, fault.New(fault.Internal, "The defaults of the node type %s cannot be decoded: %v", name, err)
	}
	if err := checkParams(kind, request.Params); err != nil {
		return params, nil, err
	}
	if err := nodetype.Decode(request.Params, &params); err != nil || request.Answer == nil {
		return params, nil, err
	}
	return params, &Answer{*request.Answer, request.State}, nil
}

// Question is what a program asks a person in place of ending.
type Question struct {
	Text string `json:"question"`
	// Choices are the valid answers.
	Choices []string `json:"choices,omitempty"`
	// AnyAnswer makes any other text an answer too. Then no answer denies the run.
	AnyAnswer bool `json:"any_answer,omitempty"`
	// State comes back with the answer.
	State json.RawMessage `json:"state"`
}

// Answer is the answer to a question, with its state.
type Answer struct {
	Text  string
	State json.RawMessage
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
	return ServeAsking(ctx, name, limit, stdin, stdout, func(ctx context.Context, params P, _ *Answer) (*O, *Question, error) {
		outputs, err := do(ctx, params)
		return outputs, nil, err
	})
}

// ServeAsking is Serve for a program that may ask a person. do gets the answer when it is called again, or nil.
func ServeAsking[P, O any](ctx context.Context, name string, limit int64, stdin io.Reader, stdout io.Writer, do func(context.Context, P, *Answer) (*O, *Question, error)) error {
	params, answer, err := read[P](ctx, stdin, name, limit)
	if errors.Is(err, context.Canceled) {
		return err // nothing was asked for yet
	}
	if err != nil {
		return errors.Join(write(stdout, (*O)(nil), "error", fault.From(err)), err)
	}
	outputs, question, err := do(ctx, params, answer)
	switch {
	case err != nil:
		return errors.Join(write(stdout, outputs, "error", fault.From(err)), err)
	case question != nil:
		return write(stdout, outputs, "$ask", question)
	}
	return write(stdout, outputs, "", nil)
}

// write writes outputs, which may be nil, with a further member unless its name is empty.
func write[O any](w io.Writer, outputs *O, name string, member any) error {
	raw, err := rawjson.Marshal(outputs)
	if err == nil && name != "" {
		raw, err = with(raw, name, member)
	}
	if err != nil {
		return fault.New(fault.Internal, "The outputs are not a JSON object: %v", err)
	}
	_, err = w.Write(append(raw, '\n'))
	return err
}

// with returns outputs, which may be null, with a further member.
func with(outputs json.RawMessage, name string, member any) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(outputs, &fields); err != nil {
		return nil, err
	}
	if fields == nil {
		fields = map[string]json.RawMessage{}
	}
	raw, err := rawjson.Marshal(member)
	if err != nil {
		return nil, err
	}
	fields[name] = raw
	return rawjson.Marshal(fields)
}

// Progress writes a line of progress. Lines of progress come before the outputs. A total of 0 means that it is not known.
func Progress(w io.Writer, done, total float64, message string) error {
	return ProgressUsing(w, done, total, message, nil)
}

// ProgressUsing is Progress with the use of language models so far, or nil.
func ProgressUsing(w io.Writer, done, total float64, message string, usage *nodetype.Usage) error {
	step := map[string]any{"done": done, "total": total, "message": message}
	if usage != nil {
		step["llm_usage"] = usage
	}
	raw, err := rawjson.Marshal(map[string]any{"progress": step})
	if err != nil {
		return err
	}
	_, err = w.Write(append(raw, '\n'))
	return err
}
