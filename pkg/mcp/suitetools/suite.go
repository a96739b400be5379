// Package suitetools defines the tools and resources of pflow-serve as a table of commands. Each call starts programs of
// the suite: this package knows about workflows, node types and runs only what they print.
package suitetools

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/process"
)

// Suite starts the other programs.
type Suite struct {
	// Dir is the folder of the running program, with links resolved. The other programs are looked up there first.
	Dir string
	// Env is the environment of the programs; they are looked up in its PATH too.
	Env []string
	// Home is the home of the programs. Its settings have secrets, which are not logged.
	Home *home.Home
	// Version is the version that all of them should have.
	Version string
	Log     *slog.Logger

	// execute runs commands in place of their programs, in tests whose clock is not that of the programs.
	execute func(context.Context, command) (*outcome, error)

	once    sync.Once
	slots   chan struct{} // one for each short command that may run
	checked sync.Map      // program → true once its version has been checked
}

// MaxProcesses returns how many short commands run at the same time while others wait.
func MaxProcesses() int { return min(32, runtime.GOMAXPROCS(0)+4) }

// command is one start of a program: its arguments, and what it reads.
type command struct {
	program string
	args    []string
	stdin   []byte
	// trace has the variables of traceOf.
	trace []string
	// onLine is called with each line of output as it is printed, and stdout receives the output. If both are nil, it is collected.
	onLine func(line []byte)
	stdout io.Writer
	// long commands do not count among the short ones.
	long bool
	// uninterrupted commands run to their end once they have begun.
	uninterrupted bool
}

// run starts a command and waits for its end. The error is a fault if it cannot be started, or the cause of ctx.
func (s *Suite) run(ctx context.Context, c command) (*outcome, error) {
	if s.execute != nil {
		return s.execute(ctx, c)
	}
	if !c.long {
		s.once.Do(func() { s.slots = make(chan struct{}, MaxProcesses()) })
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	path, err := s.find(c.program)
	if err != nil {
		return nil, err
	}
	s.checkVersion(ctx, c.program, path)
	args := append([]string{"--hints=tools"}, c.args...)
	s.logCommand(ctx, path, args)
	if c.uninterrupted {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, exceeded := tooMuch(ctx, c.program)
	defer exceeded()
	stderr := process.NewTail(4 << 10)
	child := process.Command{Path: path, Args: args, Env: inTrace(s.Env, c.trace), Stderr: stderr}
	if c.stdin != nil {
		child.Stdin = bytes.NewReader(c.stdin)
	}
	output := collector{exceeded: exceeded}
	child.Stdout = &output
	switch {
	case c.onLine != nil:
		child.Stdout = &lineWriter{onLine: c.onLine, exceeded: exceeded}
	case c.stdout != nil:
		child.Stdout = c.stdout
	}
	exit, err := process.Run(ctx, child)
	if f, ok := errors.AsType[*fault.Fault](context.Cause(ctx)); ok {
		return nil, f // even if the command ended by itself
	}
	if err != nil {
		if f, ok := errors.AsType[*fault.Fault](err); ok { // a client knows the programs by name
			f.Message = strings.ReplaceAll(f.Message, path, c.program)
		}
		return nil, err
	}
	return &outcome{output: bytes.TrimSpace(output.Bytes()), exit: exit.Code, stderr: stderr.String()}, nil
}

// tooMuch returns a context that exceeded ends because a program prints too much.
func tooMuch(ctx context.Context, program string) (_ context.Context, exceeded func()) {
	ctx, end := context.WithCancelCause(ctx)
	return ctx, func() {
		end(fault.New(fault.TooLarge, "%s printed more than %d bytes, so it was ended", program, maxOutput))
	}
}

// find returns the path of a program, which is beside the running one or on PATH.
func (s *Suite) find(program string) (string, error) {
	if beside := filepath.Join(s.Dir, program); process.Executable(beside) {
		return beside, nil
	}
	path, err := process.LookPath(program, s.Env, "")
	if err != nil {
		return "", fault.New(fault.Unavailable, "The program %s is neither beside pflow-serve nor on PATH", program).
			Suggest("Install the whole suite into one folder")
	}
	return path, nil
}

// checkVersion logs a warning, once for each program, if it has another version.
func (s *Suite) checkVersion(ctx context.Context, program, path string) {
	if _, seen := s.checked.LoadOrStore(program, true); seen {
		return
	}
	ctx, exceeded := tooMuch(ctx, program)
	defer exceeded()
	out := collector{exceeded: exceeded}
	if _, err := process.Run(ctx, process.Command{Path: path, Args: []string{"--version"}, Env: s.Env, Stdout: &out}); err != nil {
		return // the command itself reports what is wrong
	}
	got := ""
	if words := strings.Fields(out.String()); len(words) > 1 {
		got = words[1]
	}
	if got != s.Version {
		s.Log.Warn("a program of the suite has another version", "program", program, "version", got, "want", s.Version)
	}
}
