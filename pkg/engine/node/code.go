package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// codeProgram is a code node's program on its way: what it is, what runs it, and what came of it.
type codeProgram struct {
	nodetype.Code
	task     *Task
	language language
	// interpreter is the path of what runs it.
	interpreter string
	// name is how its lines are named in tracebacks.
	name           string
	results        *bounded
	stdout, stderr *event.Capture
	// over is called when the program prints too much.
	over func()
}

// runCode runs a program in another language. What it assigns to result comes back on a descriptor of its own, so that
// nothing it prints is taken for it.
func runCode(ctx context.Context, p *Call, t *Task) *Result {
	in, f := decode[nodetype.Code](p)
	if f != nil {
		return failed(f, nil)
	}
	c := &codeProgram{
		Code: in, task: t, language: languageOf(in.Language), name: "code of node " + t.Node,
		results: &bounded{most: MaxOutput + maxReport}, stdout: t.capture(), stderr: t.capture(),
	}
	if f := c.refused(); f != nil {
		return c.failed(f)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, in.Timeout.Duration(), &TimeoutError{in.Timeout.Duration()})
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	c.over = func() { stop(overflow("code")) }
	command, f := c.command()
	if f != nil {
		return c.failed(f)
	}
	exit, err := process.Run(ctx, command)
	return c.ended(exit, err)
}

// refused is the fault of what can be told to be wrong before anything is started.
func (c *codeProgram) refused() *fault.Fault {
	if c.Timeout <= 0 {
		return fault.New(fault.Execution, nodetype.NoTime).Suggest("Give it in seconds, such as 30")
	}
	if _, f := process.Extend(nil, c.Env); f != nil {
		return f
	}
	for _, name := range slices.Sorted(maps.Keys(c.Inputs)) {
		if why, next := nodetype.CodeName(c.Language, name); why != "" {
			return fault.New(fault.Execution, "Input %q %s", name, why).Suggest("%s", next)
		}
	}
	for _, name := range c.Requires {
		if name == "" || strings.ContainsAny(name, "\"\\ ") || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) {
			return fault.New(fault.Execution, "%q among \"requires\" is no name of a module", name).Suggest("Give names alone, without a version")
		}
	}
	return nil
}

// command is the process to start.
func (c *codeProgram) command() (process.Command, *fault.Fault) {
	command := process.Command{
		Dir: c.task.Dir, Env: slices.Clip(c.task.Env), Marks: c.task.Marks, Results: c.results,
		Stdout: &printed{c.stdout, c.task.Stdout, c.over}, Stderr: &printed{c.stderr, c.task.Stderr, c.over},
	}
	command.Env, _ = process.Extend(command.Env, c.Env) // refused has seen that it can
	if c.Cwd != "" {
		command.Dir = under(c.task, c.Cwd)
	}
	for _, name := range c.language.programs {
		if path, err := process.LookPath(name, command.Env, command.Dir); err == nil {
			c.interpreter = path
			break
		}
	}
	if c.interpreter == "" {
		return command, fault.New(fault.Unavailable, "There is no %s on PATH to run the code", strings.Join(c.language.programs, " or ")).
			Suggest("Install %s, or add its folder to PATH", c.language.install)
	}
	payload, f := c.language.payload(c)
	command.Path, command.Args, command.Stdin = c.interpreter, c.language.arguments, bytes.NewReader(payload)
	return command, f
}

// ended is the result of the program once its process has ended; err is why that could not end by itself.
func (c *codeProgram) ended(exit process.Exit, err error) *Result {
	said := c.stderr.Tail(maxSaid)
	r := c.language.report(c.results.data)
	f := c.fault(r, exit, err, said)
	var result json.RawMessage
	if f == nil {
		result, f = c.result(r)
	}
	action := workflow.ActionDefault
	if f == nil && r.Next == workflow.ActionError {
		f = fault.New(fault.Execution, "The code ended with action error").Suggest("Take it with an edge of action \"error\", or correct the code's next")
		c.locate(f, &r)
	}
	if f != nil {
		action = workflow.ActionError
	} else if r.Next != "" {
		action = r.Next
	}
	return c.outcome(action, result, f)
}

// result is what the program assigned to result, as a value of the stream.
func (c *codeProgram) result(r report) (json.RawMessage, *fault.Fault) {
	switch {
	case c.stdout.Truncated() || c.stderr.Truncated():
		return nil, overflow("code") // it ended before it was ended
	case c.results.over:
		return nil, fault.New(fault.TooLarge, "The result has more than %d MiB", MaxOutput>>20).Suggest("Write large data to a file and make its path the result")
	case c.language.text:
		return event.String(r.result), nil
	case !json.Valid(r.result):
		return nil, fault.New(fault.Execution, "The result is no JSON: something else was written to descriptor 3, or it is nested too deeply").
			Suggest("Let the code leave descriptor 3 alone")
	}
	return event.Escape(r.result), nil
}

// failed is the outcome of a program that was not started.
func (c *codeProgram) failed(f *fault.Fault) *Result { return c.outcome(workflow.ActionError, nil, f) }

func (c *codeProgram) outcome(action string, result json.RawMessage, f *fault.Fault) *Result {
	stdout, err := c.stdout.Value(false)
	stderr, other := c.stderr.Value(false)
	if err := errors.Join(err, other); err != nil {
		return &Result{StoreErr: err}
	}
	out := nodetype.CodeOutputs{Result: result, Stdout: nodetype.Binary(stdout), Stderr: nodetype.Binary(stderr)}
	if f != nil {
		out.Error = f.Message
	}
	raw, err := rawjson.Marshal(out)
	if err != nil {
		return failed(fault.New(fault.Internal, "the outputs are no JSON: %v", err), nil)
	}
	return &Result{Action: action, Outputs: raw, Fault: f}
}

// bounded holds what is written to it, up to a limit.
type bounded struct {
	data []byte
	most int
	over bool
}

// Write never fails: what is too much is told by over.
func (b *bounded) Write(p []byte) (int, error) {
	n := len(p)
	if room := b.most - len(b.data); n > room {
		b.over, p = true, p[:room]
	}
	b.data = append(b.data, p...)
	return n, nil
}
