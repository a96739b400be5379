package node

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"

	"github.com/itchyny/gojq"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/jq"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// runJQ applies a filter to each value of its input. The filter sees no file and no environment.
func runJQ(ctx context.Context, p *Prepared, t *Task) *Result {
	raw, p := large(p, "input")
	in, f := decode[nodetype.JQ](p)
	if f != nil {
		return failed(f, nil)
	}
	limit := in.Timeout.Duration()
	if limit <= 0 {
		return jqFailed(fault.New(fault.Execution, "timeout must be more than 0 seconds").Suggest("Leave timeout out, or give it a number of seconds"))
	}
	in.Input = raw
	ctx, cancel := context.WithTimeoutCause(ctx, limit, &TimeoutError{limit})
	defer cancel()
	ctx, stop := boundMemory(ctx, jqMemory+jqShare*len(raw))
	defer stop()
	values, f := inputValues(&in)
	if f != nil {
		return jqFailed(f)
	}
	filter, f := compileJQ(&in, values, t)
	if f != nil {
		return jqFailed(f)
	}
	results, f := filter.run(ctx)
	if f != nil {
		return jqFailed(f)
	}
	return &Result{Action: workflow.ActionDefault, Outputs: event.Escape(results.outputs())}
}

func jqFailed(f *fault.Fault) *Result {
	return failed(f, struct {
		Error string `json:"error"`
	}{f.Message})
}

// filter is a filter that is ready to run.
type filter struct {
	code   *gojq.Code
	args   []any
	values *jqValues
}

// compileJQ reads a filter. It knows the variables that args gives and no others.
func compileJQ(in *nodetype.JQ, values *jqValues, t *Task) (*filter, *fault.Fault) {
	names := slices.Sorted(maps.Keys(in.Args))
	args := make([]any, len(names))
	for i, name := range names {
		var err error
		if args[i], err = jqValue(in.Args[name]); err != nil {
			return nil, fault.New(fault.Execution, "The value of $%s cannot be read: %v", name, err)
		}
	}
	code, problem := jq.Compile(in.Filter, names, values, func(text []byte) { _, _ = t.Stderr.Write(text) })
	if problem != nil {
		f := fault.New(fault.Execution, "%s", problem.Message)
		f.Suggestions, f.Available = problem.Suggestions, problem.Available
		if t.Place != nil {
			f.File, f.Line, f.Column = t.Place("filter", problem.Offset)
		}
		return nil, f.Detail("filter", excerpt(in.Filter))
	}
	return &filter{code, args, values}, nil
}

// run gives all values that the filter gives for all values of its input.
func (f *filter) run(ctx context.Context) (*jqResults, *fault.Fault) {
	results := &jqResults{}
	for {
		value, more := f.values.Next()
		if !more {
			return results, nil
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
				err = results.add(result)
			}
			if halt, ok := errors.AsType[*gojq.HaltError](err); ok && halt.Value() == nil {
				return results, nil
			}
			if err != nil {
				return nil, f.fault(ctx, err, value)
			}
		}
		if ctx.Err() != nil {
			return nil, f.fault(ctx, ctx.Err(), value)
		}
	}
}

// jqResults is the list of what a filter gave.
type jqResults struct {
	list  []byte
	first int // where the first value ends
	count int
}

// add puts a value at the end.
func (r *jqResults) add(value any) error {
	raw, err := gojq.Marshal(value)
	if err != nil {
		return err
	}
	if len(r.list)+len(raw) > MaxOutput {
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

// outputs are those of a node that did not fail.
func (r *jqResults) outputs() json.RawMessage {
	first, list := []byte("null"), []byte("[]")
	if r.count > 0 {
		first, list = r.list[1:r.first], append(r.list, ']')
	}
	out := make([]byte, 0, len(first)+len(list)+60)
	out = strconv.AppendInt(append(out, `{"count":`...), int64(r.count), 10)
	out = append(append(out, `,"result":`...), first...)
	out = append(append(out, `,"results":`...), list...)
	return append(out, '}')
}

// fault says why a filter failed with one of its input values.
func (f *filter) fault(ctx context.Context, err error, value any) *fault.Fault {
	late, timedOut := errors.AsType[*TimeoutError](context.Cause(ctx))
	switch {
	case timedOut:
		return fault.New(fault.Timeout, "The filter timed out after %s seconds", seconds(late.After)).
			Suggest("See whether it ends at all, as repeat and range(infinite) do not without limit(…) or first(…); else give the node a longer \"timeout\"")
	case errors.Is(err, errTooLong):
		return fault.New(fault.TooLarge, "The filter gives more than the %d MiB that a node puts out", MaxOutput>>20).
			Suggest("See whether it ends at all; else select less, or let a shell node write it to a file: jq '…' > FILE")
	case ctx.Err() != nil:
		if f, ok := errors.AsType[*fault.Fault](context.Cause(ctx)); ok {
			return f
		}
		return fault.New(fault.Execution, "The filter was stopped: %v", context.Cause(ctx)).Suggest("Run it again")
	}
	if halt, ok := errors.AsType[*gojq.HaltError](err); ok {
		return fault.New(fault.Execution, "The filter ended with halt_error: %s", said(halt.Value())).
			Suggest("The filter itself says so: correct what it is given, or take this failure with an edge of action \"error\"").
			Detail("exit_code", halt.ExitCode())
	}
	if thrown, ok := errors.AsType[gojq.ValueError](err); ok {
		return fault.New(fault.Execution, "The filter ended with error: %s", said(thrown.Value())).
			Suggest("The filter itself says so: correct what it is given, or take this failure with an edge of action \"error\"")
	}
	why := err.Error()
	if why == "break" { // so the function input ends where there is no more
		why = "input finds no more values; inputs gives those that there are"
	}
	what := fault.New(fault.Execution, "The filter failed: %s", why)
	if f.values.number > 1 {
		what.Message += ", in value " + strconv.Itoa(f.values.number) + " of the input"
	}
	if f.values.text {
		what.Message += "; the input is text, and no JSON"
		if f.values.why != nil {
			what.Message += ": " + f.values.why.Error()
		}
		return what.Suggest("Give the filter JSON, or let it read the text: fromjson, split, capture")
	}
	return what.Suggest("The filter works on %s: %s. Select what is there, with ? or // for what may be missing", rawjson.Kind(marshalled(value)), gojq.Preview(value))
}

// said is a value that a filter ended with, as a message shows it.
func said(value any) string {
	if text, ok := value.(string); ok {
		return fault.Short(text, maxSaid)
	}
	return fault.Short(string(marshalled(value)), maxSaid)
}

func marshalled(value any) json.RawMessage {
	raw, err := gojq.Marshal(value)
	if err != nil {
		return nil
	}
	return raw
}
