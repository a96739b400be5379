package cli

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/input"
)

// ReadArgument reads the file that an argument names, or standard input for "-". Only one argument may name standard input.
// What has more than limit bytes is a validation_error. A read that waits ends with the app's context.
func (a *App) ReadArgument(name string, limit int64) ([]byte, error) {
	var b []byte
	var err error
	what := name
	switch {
	case name == "":
		return nil, fault.New(fault.Usage, "The name of a file must not be empty").Suggest("Give a file, or - for standard input")
	case name == "-" && a.stdinTaken:
		return nil, fault.New(fault.Usage, "Two arguments read standard input, which can be read only once").Suggest("Give one of them as a file")
	case name == "-":
		a.stdinTaken, what = true, "standard input"
		b, err = input.Read(a.Context, a.Stdin, "Standard input", limit)
	default:
		b, err = input.File(a.Context, name, name, limit)
	}
	if _, isFault := errors.AsType[*fault.Fault](err); err == nil || isFault || errors.Is(err, context.Canceled) {
		return b, err
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "FileNotFoundError: there is no file %s", name)
	}
	return nil, fault.New(fault.Usage, "Cannot read %s: %v", what, fault.Reason(err))
}

// Stream returns standard input as a stream of at most input.MaxStream bytes. A read that waits ends with the app's context.
func (a *App) Stream() io.Reader {
	return input.Limit(input.Reader(a.Context, a.Stdin), "The stream on standard input", input.MaxStream)
}
