// Package suitetools is pflow-serve's tools: a table of commands. Each call starts programs of the suite; whatever this
// package knows of workflows, node types and runs comes through a pipe.
package suitetools

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
)

// Suite starts the other programs.
type Suite struct {
	// Dir is the folder of the running program, links resolved: its siblings are looked for there first.
	Dir string
	// Env is the environment that they get; its PATH is the second place.
	Env []string
	// Version is the version that all of them should have.
	Version string
	Log     *slog.Logger

	once   sync.Once
	places chan struct{}
	known  sync.Map // program → true once its version has been looked at
}

// MaxProcesses is how many short commands run at the same time; others wait.
func MaxProcesses() int { return min(32, runtime.GOMAXPROCS(0)+4) }

// command is one start of a program: its arguments, and what it reads.
type command struct {
	program string
	args    []string
	stdin   []byte
	// each takes every line of output as it comes; without it the output is collected.
	each func(line []byte)
	// long commands do not count among the short ones.
	long bool
	// whole commands are not cut short once they have begun.
	whole bool
}

// answer is what a command gave: the last line or the whole of its output, and its exit status.
type answer struct {
	output []byte
	exit   int
	stderr string
}

// run starts a command and waits for its end. The error is a fault of starting it or the cause of ctx.
func (s *Suite) run(ctx context.Context, c command) (*answer, error) {
	if !c.long {
		s.once.Do(func() { s.places = make(chan struct{}, MaxProcesses()) })
		select {
		case s.places <- struct{}{}:
			defer func() { <-s.places }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	path, err := s.find(c.program)
	if err != nil {
		return nil, err
	}
	s.checkVersion(ctx, c.program, path)
	s.Log.Debug("starting", "program", c.program, "args", c.args)
	stderr := process.NewTail(4 << 10)
	child := process.Command{Path: path, Args: c.args, Env: s.Env, Stderr: stderr}
	if c.stdin != nil {
		child.Stdin = bytes.NewReader(c.stdin)
	}
	var output bytes.Buffer
	child.Stdout = &output
	if c.each != nil {
		child.Stdout = &lines{each: c.each}
	}
	if c.whole {
		ctx = context.WithoutCancel(ctx)
	}
	exit, err := process.Run(ctx, child)
	if err != nil {
		return nil, err
	}
	return &answer{output: bytes.TrimSpace(output.Bytes()), exit: exit.Code, stderr: stderr.String()}, nil
}

// find looks for a program beside the running one, then on PATH.
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

// checkVersion warns, once for each program, when it is of another version.
func (s *Suite) checkVersion(ctx context.Context, program, path string) {
	if _, seen := s.known.LoadOrStore(program, true); seen {
		return
	}
	var out bytes.Buffer
	if _, err := process.Run(ctx, process.Command{Path: path, Args: []string{"--version"}, Env: s.Env, Stdout: &out}); err != nil {
		return // what is wrong shows when it is called in earnest
	}
	if got := strings.TrimSpace(strings.TrimPrefix(out.String(), program)); got != s.Version {
		s.Log.Warn("a program of the suite has another version", "program", program, "version", got, "want", s.Version)
	}
}

// lines passes on every whole line that is written to it.
type lines struct {
	each func(line []byte)
	rest []byte
}

func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		i := bytes.IndexByte(l.rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		l.each(l.rest[:i])
		l.rest = l.rest[i+1:]
	}
}

// document is a command's answer as JSON, or the fault of a program that gave none.
func (a *answer) document(program string) (json.RawMessage, *fault.Fault) {
	if json.Valid(a.output) {
		return a.output, nil
	}
	f := fault.New(fault.Protocol, "%s gave no JSON (exit status %d)", program, a.exit)
	if said := strings.TrimSpace(a.stderr); said != "" {
		f.Detail("stderr", said)
	}
	return nil, f
}
