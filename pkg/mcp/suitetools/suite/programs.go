// Package suite starts the other programs of the suite as commands and reads what they print.
package suite

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/process"
)

// Programs starts the other programs of the suite.
type Programs struct {
	// Dir is the folder of the running program, with links resolved. The other programs are looked up there first.
	Dir string
	// Env is the environment of the programs; they are looked up in its PATH too.
	Env []string
	// Home is the home of the programs. Its settings have secrets, which are not logged.
	Home *home.Home
	// Version is the version that all of them should have.
	Version string
	Log     *slog.Logger

	// Execute runs commands in place of their programs, in tests whose clock is not that of the programs. It may be nil.
	Execute func(context.Context, Command) (*Outcome, error)

	reserved map[string][]string // variables by the only program that has them

	once    sync.Once
	slots   chan struct{} // one for each short command that may run
	checked sync.Map      // program → true once its version has been checked
	kept    sync.Map      // command line → *kept
}

// MaxProcesses returns how many short commands run at the same time while others wait.
func MaxProcesses() int { return min(32, runtime.GOMAXPROCS(0)+4) }

// Command is one start of a program: its arguments, and what it reads.
type Command struct {
	Program string
	Args    []string
	Stdin   []byte
	// Reader is who reads what the program prints; empty for fault.Tools.
	Reader fault.Reader
	// Input is what the program reads in place of Stdin; nil if that is used.
	Input io.Reader
	// Kept commands are requests to one process, which all commands with these arguments share and which is started when it is needed.
	// Stdin has the JSON of the request, and the output is the document with which the program answers it.
	Kept bool
	// Caller has the variables of CallerOf. A kept program gets the runs around the call with the request.
	Caller []string
	// OnLine is called with each line of output as it is printed, and Stdout receives the output. If both are nil, it is collected.
	OnLine func(line []byte)
	Stdout io.Writer
	// Long commands do not count among the short ones.
	Long bool
	// Uninterrupted commands run to their end once they have begun.
	Uninterrupted bool
}

// Reserve leaves a variable of Env to one program, and to none if program is "". It is called before the first command.
func (s *Programs) Reserve(variable, program string) {
	value, ok := process.LookupEnv(s.Env, variable)
	s.Env = process.Environment(s.Env, variable)
	if !ok || program == "" {
		return
	}
	if s.reserved == nil {
		s.reserved = map[string][]string{}
	}
	s.reserved[program] = append(s.reserved[program], variable+"="+value)
}

// Run starts a command and waits for its end, or has a kept program answer it. The error is a fault if it cannot be started, or the cause of
// ctx.
func (s *Programs) Run(ctx context.Context, c Command) (*Outcome, error) {
	if s.Execute != nil {
		return s.Execute(ctx, c)
	}
	if !c.Long {
		s.once.Do(func() { s.slots = make(chan struct{}, MaxProcesses()) })
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if c.Uninterrupted {
		ctx = context.WithoutCancel(ctx)
	}
	if c.Kept {
		return s.ask(ctx, c)
	}
	path, err := s.find(c.Program)
	if err != nil {
		return nil, err
	}
	s.checkVersion(ctx, c.Program, path)
	args := append([]string{"--hints=" + string(cmp.Or(c.Reader, fault.Tools))}, c.Args...)
	s.logCommand(ctx, path, args)
	ctx, exceeded := tooMuch(ctx, c.Program)
	defer exceeded()
	stderr := process.NewTail(4 << 10)
	env := slices.Concat(s.Env, s.reserved[c.Program])
	child := process.Command{Path: path, Args: args, Env: calledBy(env, c.Caller), Stdin: c.Input, Stderr: stderr}
	if c.Stdin != nil {
		child.Stdin = bytes.NewReader(c.Stdin)
	}
	output := collector{exceeded: exceeded}
	child.Stdout = &output
	switch {
	case c.OnLine != nil:
		child.Stdout = &lineWriter{onLine: c.OnLine, exceeded: exceeded}
	case c.Stdout != nil:
		child.Stdout = c.Stdout
	}
	exit, err := process.Run(ctx, child)
	if f, ok := errors.AsType[*fault.Fault](context.Cause(ctx)); ok {
		return nil, f // even if the command ended by itself
	}
	if err != nil {
		if f, ok := errors.AsType[*fault.Fault](err); ok { // a client knows the programs by name
			f.Message = strings.ReplaceAll(f.Message, path, c.Program)
		}
		return nil, err
	}
	return &Outcome{Output: bytes.TrimSpace(output.Bytes()), Exit: exit.Code, Stderr: stderr.String()}, nil
}

// tooMuch returns a context that exceeded ends because a program prints too much.
func tooMuch(ctx context.Context, program string) (_ context.Context, exceeded func()) {
	ctx, end := context.WithCancelCause(ctx)
	return ctx, func() {
		end(fault.New(fault.TooLarge, "%s printed more than %d bytes, so it was ended", program, maxOutput))
	}
}

// find returns the path of a program, which is beside the running one or on PATH.
func (s *Programs) find(program string) (string, error) {
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
func (s *Programs) checkVersion(ctx context.Context, program, path string) {
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
