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

// maxShown is the maximum number of bytes that a message shows of a value that a filter ended with.
const maxShown = 2000

// stopped returns why a filter was stopped.
func stopped(ctx context.Context) error {
	cause := context.Cause(ctx)
	if late, ok := errors.AsType[*timeoutError](cause); ok {
		return fault.New(fault.Timeout, "The filter timed out after %s seconds", seconds(late.after)).
			Suggest("Check that the filter ends: repeat and range(infinite) need limit(…) or first(…). Otherwise give the node a longer \"timeout\"")
	}
	return cause
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// failure returns the fault of a filter that failed with an input value.
func (f *filter) failure(ctx context.Context, err error, value any) error {
	const ownError = "The filter raises this error itself: correct its input, or handle the failure with an edge of action \"error\""
	if errors.Is(err, errTooLong) {
		return fault.New(fault.TooLarge, "The outputs have more than %d MiB (the first value counts twice, for result and results)", maxOutputs>>20).
			Suggest("Check that the filter ends; otherwise select less, or write to a file in a shell node: jq '…' > FILE")
	}
	if ctx.Err() != nil {
		return stopped(ctx)
	}
	if halt, ok := errors.AsType[*gojq.HaltError](err); ok {
		return fault.New(fault.Execution, "The filter ended with halt_error: %s", shown(halt.Value())).
			Suggest(ownError).Detail("halt_code", halt.ExitCode())
	}
	if thrown, ok := errors.AsType[gojq.ValueError](err); ok {
		return fault.New(fault.Execution, "The filter ended with error: %s", shown(thrown.Value())).Suggest(ownError)
	}
	return f.values.refused(err, value)
}

// refused returns the fault of a filter that cannot process an input value.
func (v *values) refused(err error, value any) error {
	why := err.Error()
	if why == "break" { // the error of the function input at the end of the input
		why = "input found no more values; inputs returns the remaining ones, if any"
	}
	f := fault.New(fault.Execution, "The filter failed: %s", why)
	if v.number > 1 {
		f.Message += ", in value " + strconv.Itoa(v.number) + " of the input"
	}
	if !v.text {
		return f.Suggest("The input is %s: %s. Select what it has, and use ? or // for what may be missing", rawjson.Kind(marshalled(value)), gojq.Preview(value))
	}
	f.Message += "; the input is text, not JSON"
	if v.notJSON != nil {
		f.Message += ": " + v.notJSON.Error()
	}
	return f.Suggest("Give the filter JSON, or parse the text in the filter with fromjson, split or capture")
}

// shown returns a value for a message, shortened.
func shown(value any) string {
	if text, ok := value.(string); ok {
		return fault.Truncate(text, maxShown)
	}
	return fault.Truncate(string(marshalled(value)), maxShown)
}

func marshalled(value any) json.RawMessage {
	raw, err := gojq.Marshal(value)
	if err != nil {
		return nil
	}
	return raw
}
