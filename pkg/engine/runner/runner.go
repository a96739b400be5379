// Package runner runs workflows on request, in three stages:
//
//	Load     reads the files and the standard input that a command line names into a Request
//	Resolve  checks a Request and returns a Launch: typed inputs, secrets, the run to go on from, locks; it writes nothing
//	Execute  runs a Launch: the journal, its followers, stray processes, statistics
//
// A Request needs no more reading, so it can cross to another process: Detach sends it to one, which calls Serve. A Host is
// what the stages need of the process that they run in.
package runner

import (
	"context"
	"io"
	"log/slog"
	"os"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

// Host is the process in which runs are loaded, resolved and executed.
type Host struct {
	Home *home.Home
	// Env is the environment as NAME=VALUE. Of two values of one name the later counts.
	Env []string
	// Stdin is read for the input of a workflow that takes standard input. It is nil if something else reads it.
	Stdin *os.File
	// Read returns the content of a file, or of standard input if the name is "-". More than limit bytes are a validation_error.
	Read func(name string, limit int64) ([]byte, error)
	// Open returns the content of a file, or of standard input if the name is "-", as it comes.
	Open func(name string) (io.ReadCloser, error)
	// Suite returns the folder in which the programs of the suite are looked for first.
	Suite func() (string, error)
	// Ask asks a person and waits for the answer, which is one of the question's choices, and returns who gave it. It is
	// nil if there is no person to ask: then the run pauses.
	Ask Ask
	Log *slog.Logger
	// Warn prints a warning for people.
	Warn func(format string, args ...any)
	// Advise is called with each warning of a workflow's check.
	Advise func(warning *fault.Fault)
}

// Ask asks a person a question.
type Ask = func(ctx context.Context, q engine.Question) (answer, by string, err error)
