package jq

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/itchyny/gojq"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// maxSaid is how many bytes of what a filter ended with stand in its error.
const maxSaid = 2000

// stopped says why a filter did not come to its end.
func stopped(ctx context.Context) error {
	cause := context.Cause(ctx)
	if late, ok := errors.AsType[*timeoutError](cause); ok {
		return fault.New(fault.Timeout, "The filter timed out after %s seconds", seconds(late.after)).
			Suggest("See whether it ends at all, as repeat and range(infinite) do not without limit(…) or first(…); else give the node a longer \"timeout\"")
	}
	return cause
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// failure says why a filter failed with one of its input values.
func (f *filter) failure(ctx context.Context, err error, value any) error {
	const itSaysSo = "The filter itself says so: correct what it is given, or take this failure with an edge of action \"error\""
	if errors.Is(err, errTooLong) {
		return fault.New(fault.TooLarge, "The filter gives more than the %d MiB that a node puts out, where the first value stands twice: in result and in results", maxOutputs>>20).
			Suggest("See whether it ends at all; else select less, or let a shell node write it to a file: jq '…' > FILE")
	}
	if ctx.Err() != nil {
		return stopped(ctx)
	}
	if halt, ok := errors.AsType[*gojq.HaltError](err); ok {
		return fault.New(fault.Execution, "The filter ended with halt_error: %s", said(halt.Value())).
			Suggest(itSaysSo).Detail("halt_code", halt.ExitCode())
	}
	if thrown, ok := errors.AsType[gojq.ValueError](err); ok {
		return fault.New(fault.Execution, "The filter ended with error: %s", said(thrown.Value())).Suggest(itSaysSo)
	}
	return f.values.refused(err, value)
}

// refused is the fault of a filter that cannot do what it says with a value of its input.
func (v *values) refused(err error, value any) error {
	why := err.Error()
	if why == "break" { // so the function input ends where there is no more
		why = "input finds no more values; inputs gives those that there are"
	}
	f := fault.New(fault.Execution, "The filter failed: %s", why)
	if v.number > 1 {
		f.Message += ", in value " + strconv.Itoa(v.number) + " of the input"
	}
	if !v.text {
		return f.Suggest("The filter works on %s: %s. Select what is there, with ? or // for what may be missing", rawjson.Kind(marshalled(value)), gojq.Preview(value))
	}
	f.Message += "; the input is text, and no JSON"
	if v.why != nil {
		f.Message += ": " + v.why.Error()
	}
	return f.Suggest("Give the filter JSON, or let it read the text: fromjson, split, capture")
}

// said is a value that a filter ended with, as a message shows it.
func said(value any) string {
	if text, ok := value.(string); ok {
		return fault.Truncate(text, maxSaid)
	}
	return fault.Truncate(string(marshalled(value)), maxSaid)
}

func marshalled(value any) json.RawMessage {
	raw, err := gojq.Marshal(value)
	if err != nil {
		return nil
	}
	return raw
}
