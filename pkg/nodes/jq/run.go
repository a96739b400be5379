package jq

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/itchyny/gojq"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// maxOutputs is how many bytes a program may put out that is a node type (docs/contracts.md, "Running it").
const maxOutputs = 128 << 20

// timeoutError is the cause of a context whose time is over because of the node's parameter timeout.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string { return "timed out after " + e.after.String() }

// Run applies a filter to each value of its input. What the filter prints with debug and stderr goes to stderr. The filter
// sees no file and no environment; its time and its memory have a bound. It is for a process of its own: the bound is one of the
// process, and what cannot be interrupted is left behind. Every error is a *fault.Fault, but for that of a context which
// ended: then it is the cause.
func Run(ctx context.Context, in nodetype.JQ, stderr io.Writer) (*nodetype.JQOutputs, error) {
	limit := in.Timeout.Duration()
	if limit <= 0 {
		return nil, fault.New(fault.Execution, nodetype.NoTime).Suggest("Leave timeout out, or give it a number of seconds")
	}
	return run(ctx, &in, bounds{limit, memory + share*len(in.Input)}, stderr)
}

// bounds are how long a filter may take, and how many bytes more than the process has.
type bounds struct {
	time   time.Duration
	memory int
}

func run(ctx context.Context, in *nodetype.JQ, within bounds, stderr io.Writer) (*nodetype.JQOutputs, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, within.time, &timeoutError{within.time})
	defer cancel()
	ctx, stop := boundMemory(ctx, within.memory)
	defer stop()
	type ending struct {
		outputs *nodetype.JQOutputs
		err     error
	}
	ended := make(chan ending, 1)
	go func() {
		outputs, err := evaluate(ctx, in, stderr)
		ended <- ending{outputs, err}
	}()
	select {
	case e := <-ended:
		return e.outputs, e.err
	case <-ctx.Done():
		return nil, stopped(ctx)
	}
}

// evaluate reads the input and the filter, and runs it.
func evaluate(ctx context.Context, in *nodetype.JQ, stderr io.Writer) (*nodetype.JQOutputs, error) {
	values, err := inputValues(in)
	if err != nil {
		return nil, err
	}
	filter, err := newFilter(in, values, stderr)
	if err != nil {
		return nil, err
	}
	results, err := filter.run(ctx)
	if err != nil {
		return nil, err
	}
	return results.outputs(), nil
}

// filter is a filter that is ready to run.
type filter struct {
	code   *gojq.Code
	args   []any
	values *values
}

// newFilter reads a filter. It knows the variables that args gives and no others.
func newFilter(in *nodetype.JQ, values *values, stderr io.Writer) (*filter, error) {
	names := slices.Sorted(maps.Keys(in.Args))
	args := make([]any, len(names))
	for i, name := range names {
		var err error
		if args[i], err = decoded(in.Args[name]); err != nil {
			return nil, fault.New(fault.Execution, "The value of $%s cannot be read: %v", name, err)
		}
	}
	code, f := compile(in.Filter, names, values, func(text []byte) { _, _ = stderr.Write(text) })
	if f != nil {
		return nil, f.Detail("filter", fault.Truncate(in.Filter, 80))
	}
	return &filter{code, args, values}, nil
}

// run gives all values that the filter gives for all values of its input.
func (f *filter) run(ctx context.Context) (*results, error) {
	all := &results{most: maxOutputs}
	for {
		value, more := f.values.Next()
		if !more {
			return all, nil
		}
		if err, wrong := value.(error); wrong {
			return nil, f.values.fault(err)
		}
		for iter := f.code.RunWithContext(ctx, value, f.args...); ; {
			result, more := iter.Next()
			if !more {
				break
			}
			err, wrong := result.(error)
			if !wrong {
				err = all.add(result)
			}
			if halt, ok := errors.AsType[*gojq.HaltError](err); ok && halt.ExitCode() == 0 {
				return all, nil
			}
			if err != nil {
				return nil, f.failure(ctx, err, value)
			}
		}
		if ctx.Err() != nil {
			return nil, stopped(ctx)
		}
	}
}

// results is the list of what a filter gave.
type results struct {
	most  int // bytes of the outputs
	list  []byte
	first int // where the first value ends
	count int
}

// otherOutputs is more bytes than the outputs have besides the values.
const otherOutputs = 100

var errTooLong = errors.New("too long")

// add puts a value at the end.
func (r *results) add(value any) error {
	raw, err := gojq.Marshal(value)
	if err != nil {
		return err
	}
	first := r.first // the first value is put out twice
	if r.count == 0 {
		first = len(raw)
	}
	if len(r.list)+len(raw)+first > r.most-otherOutputs {
		return errTooLong
	}
	separator := byte(',')
	if r.count == 0 {
		separator = '['
	}
	r.list = append(append(r.list, separator), raw...)
	if r.count++; r.count == 1 {
		r.first = len(r.list)
	}
	return nil
}

// outputs are those of a node that did not fail. It is called once.
func (r *results) outputs() *nodetype.JQOutputs {
	if r.count == 0 {
		return &nodetype.JQOutputs{Result: json.RawMessage("null"), Results: json.RawMessage("[]")}
	}
	return &nodetype.JQOutputs{Result: r.list[1:r.first:r.first], Results: append(r.list, ']'), Count: r.count}
}
