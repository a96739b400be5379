// Package runner runs workflows on request, in three stages:
//
//	Load     reads what a command line names (files, standard input) into a Request
//	Resolve  checks a Request and makes it a Launch: typed inputs, secrets, what is reused, locks held; nothing is written
//	Execute  runs a Launch: journal, followers, stray processes, statistics
//
// A Request holds everything that had to be read, so it can cross to another process: Detach hands it to one, and Serve is
// the other side. What the stages need of the process that they run in is a Host.
package runner

import (
	"context"
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
	// Stdin is read for the input of a workflow that takes standard input. It is nil if there is none, or if something else
	// reads it.
	Stdin *os.File
	// Read returns the content of a file, or of standard input if the name is "-".
	Read func(name string) ([]byte, error)
	// Suite returns the folder in which the programs of the suite are looked for first.
	Suite func() (string, error)
	// Ask asks a person and waits for the answer, which is one of the question's choices, and returns who gave it. It is
	// nil if there is no person to ask: then the run pauses.
	Ask Ask
	Log *slog.Logger
	// Warn tells a person what deserves attention and stops nothing.
	Warn func(format string, args ...any)
	// Advise is called with each warning of a workflow's check.
	Advise func(warning *fault.Fault)
}

// Ask asks a person a question.
type Ask = func(ctx context.Context, q engine.Question) (answer, by string, err error)
