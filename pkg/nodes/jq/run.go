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

// maxOutputs is the maximum size in bytes of the outputs of a node program (docs/contracts.md, "A node type of your own").
const maxOutputs = 128 << 20

// timeoutError is the cause of a context that ended by the node's parameter timeout.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string { return "timed out after " + e.after.String() }

// Run applies a filter to each value of its input. What the filter prints with debug and stderr goes to stderr. The filter cannot
// read files or the environment, and its time and memory are limited. Run needs a process of its own: it limits the memory of the
// whole process, and leaves behind a goroutine that cannot be interrupted. The error is a *fault.Fault, except that for a context
// that ended it is the cause.
func Run(ctx context.Context, in nodetype.JQ, stderr io.Writer) (*nodetype.JQOutputs, error) {
	limit := in.Timeout.Duration()
	if limit < 0 {
		return nil, fault.New(fault.Execution, nodetype.NoTime).Suggest("Leave timeout out, or give it a number of seconds")
	}
	return run(ctx, &in, limits{limit, baseMemory + inputFactor*len(in.Input)}, stderr)
}

// limits are the limits of a filter: its time, or 0, and the bytes of memory that it may take in addition to the process's.
type limits struct {
	time   time.Duration
	memory int
}

func run(ctx context.Context, in *nodetype.JQ, limit limits, stderr io.Writer) (*nodetype.JQOutputs, error) {
	if limit.time > 0 {
		timed, cancel := context.WithTimeoutCause(ctx, limit.time, &timeoutError{limit.time})
		defer cancel()
		ctx = timed
	}
	ctx, stop := limitMemory(ctx, limit.memory)
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

// evaluate parses the input and the filter, and runs it.
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

// filter is a compiled filter with its variables and input.
type filter struct {
	code   *gojq.Code
	args   []any
	values *values
}

// newFilter compiles a filter. Its only variables are those of the parameter args.
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

// run returns all results of the filter for all values of its input.
func (f *filter) run(ctx context.Context) (*results, error) {
	all := &results{limit: maxOutputs}
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

// results is the list of a filter's results.
type results struct {
	limit int    // bytes of the outputs
	list  []byte // JSON without the closing bracket
	count int
}

// otherOutputs is an upper bound of the bytes that the outputs have in addition to the values.
const otherOutputs = 100

var errTooLong = errors.New("too long")

// add appends a value.
func (r *results) add(value any) error {
	raw, err := gojq.Marshal(value)
	if err != nil {
		return err
	}
	first := 0
	if r.count == 0 { // the outputs have a single value twice
		first = len(raw)
	}
	if len(r.list)+len(raw)+first > r.limit-otherOutputs {
		return errTooLong
	}
	separator := byte(',')
	if r.count == 0 {
		separator = '['
	}
	r.list = append(append(r.list, separator), raw...)
	r.count++
	return nil
}

// outputs returns the outputs of the node. It must be called only once.
func (r *results) outputs() *nodetype.JQOutputs {
	if r.count == 0 {
		return &nodetype.JQOutputs{Result: json.RawMessage("null"), Results: json.RawMessage("[]")}
	}
	out := &nodetype.JQOutputs{Results: append(r.list, ']'), Count: r.count}
	if r.count == 1 {
		out.Result = slices.Clip(r.list[1:])
	}
	return out
}
