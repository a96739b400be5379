package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
)

// Host is where the commands of a source run.
type Host struct {
	// Dir is their working directory. Paths of programs start from it.
	Dir string
	// Env is their environment.
	Env []string
	// Suite is the folder of the suite's programs. A program that is not on PATH is looked up there.
	Suite string
	// Stderr receives what they write to standard error; nil discards it.
	Stderr io.Writer
	// Progress is called when an execution has reported other progress than before. It may be nil.
	Progress func(done, total float64, message string)
	// Sleep waits for a time, or until ctx ends; nil waits in real time.
	Sleep func(ctx context.Context, d time.Duration)
}

const (
	// commandLimit is how long the commands list and status may take.
	commandLimit = 30 * time.Second
	// maxAnswer is the most bytes that a command may print.
	maxAnswer = 64 << 20
	// maxStderr is the most bytes of standard error in a message.
	maxStderr = 2000
	// commandGrace is the time between SIGTERM and SIGKILL for a command.
	commandGrace = 500 * time.Millisecond
)

// ended is how a command ended, and what it printed.
type ended struct {
	stdout []byte
	stderr string // its end, in harmless characters
	exit   process.Exit
}

// run runs a command, which reads stdin, to its end. The error is a fault if the command cannot be started or prints too much, or
// the cause of ctx.
func (h *Host) run(ctx context.Context, words []string, stdin []byte) (*ended, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	path := words[0]
	if beside := filepath.Join(h.Suite, path); h.Suite != "" && !strings.Contains(path, "/") && process.Executable(beside) {
		if _, err := process.LookPath(path, h.Env, h.Dir); err != nil {
			path = beside
		}
	}
	var stdout bytes.Buffer
	tail := process.NewTail(maxStderr)
	child := process.Command{
		Path: path, Args: words[1:], Dir: h.Dir, Env: h.Env, Stdin: bytes.NewReader(stdin), Stderr: tail, Grace: commandGrace,
		Stdout: writerFunc(func(p []byte) {
			if stdout.Len()+len(p) > maxAnswer {
				end(fault.New(fault.TooLarge, "%s printed more than %d bytes, so it was ended", words[0], maxAnswer))
				return
			}
			stdout.Write(p)
		}),
	}
	if h.Stderr != nil {
		child.Stderr = io.MultiWriter(tail, h.Stderr)
	}
	exit, err := process.Run(ctx, child)
	if f, ok := errors.AsType[*fault.Fault](context.Cause(ctx)); ok {
		return nil, f // even if the command ended by itself
	}
	if err != nil {
		return nil, err
	}
	return &ended{bytes.TrimSpace(stdout.Bytes()), Harmless(strings.TrimSpace(tail.String())), exit}, nil
}

// writerFunc is a writer that never fails.
type writerFunc func(p []byte)

func (w writerFunc) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}

// Harmless returns a text without control characters, except newlines and tabs, and without characters that change the direction
// of what follows.
func Harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// short runs a command that must end within a limit.
func (h *Host) short(ctx context.Context, what string, words []string, stdin []byte, limit time.Duration) (*ended, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fault.New(fault.Timeout, "The command %s took longer than %v, so it was ended", what, limit))
	defer cancel()
	return h.run(ctx, words, stdin)
}

// failed returns the fault of a command that ended with an exit status other than 0, or nil.
func (e *ended) failed(what string) *fault.Fault {
	if e.exit.Code == 0 {
		return nil
	}
	f := fault.New(fault.Execution, "The command %s failed with exit status %d", what, e.exit.Code)
	if e.stderr != "" {
		f.Message += ": " + e.stderr
		f.Detail("stderr", e.stderr)
	}
	return f.Detail("exit_status", e.exit.Code)
}

// document returns what a command printed, which must be JSON. The error is a fault.
func (e *ended) document(what string) (json.RawMessage, error) {
	if f := e.failed(what); f != nil {
		return nil, f
	}
	if !json.Valid(e.stdout) {
		f := fault.New(fault.Protocol, "The command %s printed no JSON: %s", what, Harmless(fault.Truncate(strings.ToValidUTF8(string(e.stdout), "\uFFFD"), maxEcho)))
		if e.stderr != "" {
			f.Detail("stderr", e.stderr)
		}
		return nil, f.Suggest("It must print one JSON document to standard output, and everything else to standard error")
	}
	return e.stdout, nil
}
