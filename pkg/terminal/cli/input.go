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
	switch name {
	case "":
		return nil, fault.New(fault.Usage, "The name of a file must not be empty").Suggest("Give a file, or - for standard input")
	case "-":
		if err := a.takeStdin(); err != nil {
			return nil, err
		}
		what = "standard input"
		b, err = input.Read(a.Context, a.Stdin, "Standard input", limit)
	default:
		b, err = input.File(a.Context, name, name, limit)
	}
	if err != nil {
		return b, readFault(name, what, err)
	}
	return b, nil
}

// OpenArgument opens the file that an argument names, or standard input for "-". Only one argument may name standard input. A
// read that waits ends with the app's context.
func (a *App) OpenArgument(name string) (io.ReadCloser, error) {
	if name == "-" {
		if err := a.takeStdin(); err != nil {
			return nil, err
		}
		return io.NopCloser(input.Reader(a.Context, a.Stdin)), nil
	}
	f, err := input.Open(a.Context, name)
	if err != nil {
		return nil, readFault(name, name, err)
	}
	return &openArgument{input.Reader(a.Context, f), f}, nil
}

type openArgument struct {
	io.Reader
	io.Closer
}

// takeStdin notes that an argument reads standard input. It returns a usage_error if another one does.
func (a *App) takeStdin() error {
	if a.stdinTaken {
		return fault.New(fault.Usage, "Two arguments read standard input, which can be read only once").Suggest("Give one of them as a file")
	}
	a.stdinTaken = true
	return nil
}

// readFault returns the fault of an argument that cannot be read; what is how a sentence names it.
func readFault(name, what string, err error) error {
	if _, isFault := errors.AsType[*fault.Fault](err); isFault || errors.Is(err, context.Canceled) {
		return err
	}
	if errors.Is(err, os.ErrNotExist) {
		return fault.Known(fault.NotFound, "FileNotFoundError", "There is no file %s", name)
	}
	return fault.New(fault.Usage, "Cannot read %s: %v", what, fault.Reason(err))
}
