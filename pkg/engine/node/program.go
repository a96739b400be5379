package node

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// runProgram runs a node type that is a program of its own (docs/contracts.md, "A node type of your own").
func runProgram(ctx context.Context, p *Call, t *Task) *Result {
	path, err := p.program(t)
	if err != nil {
		return broken(fault.From(err))
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	request := slices.Concat([]byte(`{"v":1,"params":`), p.Params, []byte("}\n"))
	over := func() { stop(tooLong(path)) }
	said := &answer{progress: t.Progress, over: over}
	stderr := process.NewTail(maxSaid)
	exit, err := process.Run(ctx, process.Command{
		Path: path, Dir: t.Dir, Env: t.Env, Marks: t.Marks, Stdin: bytes.NewReader(request),
		Stdout: io.MultiWriter(said, &limited{t.Stdout, MaxOutput, over}), Stderr: &limited{io.MultiWriter(stderr, t.Stderr), MaxOutput, over},
	})
	if err != nil {
		return broken(p.notRun(path, err))
	}
	e := &ended{prepared: p, program: filepath.Base(path), exit: exit, stderr: saidAtEnd([]byte(stderr.String()))}
	text := said.whole()
	if e.said, err = parsed(text); err != nil {
		return broken(e.garbled(text, err, t))
	}
	return e.result(t)
}

// broken is a failure of which only the reason is left behind.
func broken(f *fault.Fault) *Result {
	return failed(f, map[string]string{errorKey: f.Message})
}

// program is the path of the node type's program. One of the suite is looked for beside the running program first.
func (p *Call) program(t *Task) (string, error) {
	name := p.kind.Program
	if filepath.IsAbs(name) {
		return name, nil
	}
	if beside := filepath.Join(t.Suite, name); t.Suite != "" && process.Executable(beside) {
		return beside, nil
	}
	path, err := process.LookPath(name, t.Env, t.Dir)
	if err != nil {
		return "", fault.New(fault.Unavailable, "The program of node type %q, %s, is neither beside pflow-exec nor on PATH", p.kind.Name, name).
			Suggest("Install the whole suite into one folder")
	}
	return path, nil
}

// notRun is the fault of a program that did not come to its own end.
func (p *Call) notRun(path string, err error) *fault.Fault {
	if late, ok := errors.AsType[*TimeoutError](err); ok {
		return fault.New(fault.Timeout, "%s %v", filepath.Base(path), late).
			Suggest(`Give the node a longer "timeout", or make it finish sooner`)
	}
	f := fault.From(err)
	if f.Type != fault.NotFound && f.Type != fault.Execution && !errors.Is(err, process.ErrFormat) {
		return f
	}
	info, missing := os.Stat(path)
	switch {
	case missing != nil:
		return fault.New(fault.Unavailable, "The program of node type %q is gone: %s", p.kind.Name, path).
			Suggest("Install it again, or make its new place known with: pflow-sync nodes")
	case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
		return fault.New(fault.Unavailable, "The program of node type %q may not be executed: %s", p.kind.Name, path).
			Suggest("Make it executable with: chmod +x '%s'", path)
	case errors.Is(err, process.ErrFormat):
		return fault.New(fault.Unavailable, "%s is no program of this system, and no script whose first line names its interpreter", path).
			Suggest("Begin a script with a line such as #!/bin/sh or #!/usr/bin/env python3")
	case f.Type == fault.NotFound:
		return fault.New(fault.Unavailable, "The interpreter that the first line of %s names is not there: %s", path, firstLine(path)).
			Suggest("Install it, or correct the line")
	}
	return f
}

// firstLine is the beginning of a file.
func firstLine(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return "unreadable"
	}
	defer func() { _ = file.Close() }()
	line, _ := bufio.NewReader(io.LimitReader(file, 256)).ReadString('\n')
	return excerpt(strings.TrimSpace(strings.ToValidUTF8(line, "\uFFFD")))
}

// ended is a program that came to its end: how, and what it said.
type ended struct {
	prepared *Call
	program  string
	exit     process.Exit
	// stderr is the end of what it said there.
	stderr string
	said   *document
}

// result is what the node comes to.
func (e *ended) result(t *Task) *Result {
	r := &Result{Action: workflow.ActionDefault}
	switch action := e.said.action; {
	case e.exit.Code != 0:
		r.Action, r.Fault = workflow.ActionError, e.fault(t)
	case action.Exists() && action.Str == "":
		return broken(fault.New(fault.Protocol, `The "$action" that %s chose is no text: %s`, e.program, excerpt(action.Raw)).
			Suggest(`"$action" is the name of an action, such as "default", or left out`))
	case action.Str == workflow.ActionError:
		r.Action, r.Fault = workflow.ActionError, e.fault(t)
	case action.Str != "":
		if r.Action = action.Str; !e.prepared.declares(r.Action) {
			return broken(fault.New(fault.Protocol, `The "$action" that %s chose is none that it declares: %s`, e.program, excerpt(r.Action)).
				Suggest("Its actions are %s: let --describe tell all of them, and run pflow-sync nodes", strings.Join(e.prepared.kind.Actions, ", ")))
		}
	}
	outputs := e.said.outputs
	switch {
	case r.Fault != nil:
		outputs = slices.DeleteFunc(outputs, func(m programOutput) bool { return m.key == errorKey })
		outputs = append(outputs, programOutput{errorKey, rawjson.Quote(r.Fault.Message)})
	case e.said.text != nil && !slices.ContainsFunc(outputs, programOutput.long):
		r.Outputs = event.Escape(e.said.text) // which may be long, as it is
		return r
	}
	r.Outputs, r.StoreErr = t.keep(outputs)
	return r
}

// declares says whether the type has an action.
func (p *Call) declares(action string) bool {
	return action == workflow.ActionDefault || slices.Contains(p.kind.Actions, action) || slices.Contains(p.kind.Actions, nodetype.AnyAction)
}

// fault is why the program failed: what it says itself under error, else the end of its standard error.
func (e *ended) fault(t *Task) *fault.Fault {
	f := fault.New(fault.Execution, "%s failed with exit code %d", e.program, e.exit.Code)
	switch {
	case e.exit.Code == 0:
		f.Message = e.program + ` ended with action "error"`
	case e.exit.Signal != "":
		f.Message = e.program + " was ended by signal: " + e.exit.Signal
	}
	if e.exit.Code != 0 && e.stderr != "" {
		f.Message += ": " + e.stderr
	}
	e.said.told(f)
	e.prepared.locate(f, t)
	if e.exit.Code != 0 {
		f.Detail("exit_code", e.exit.Code)
	}
	if len(f.Suggestions) == 0 {
		f.Suggest(`Correct the node's parameters, or take this failure with an edge of action "error"`)
	}
	return f
}

// locate makes the parameter that a program's fault is about, and the byte of its text that it may tell beside it, a place
// in the workflow's file. A path that leads to no parameter is taken out.
func (p *Call) locate(f *fault.Fault, t *Task) {
	inside, ok := strings.CutPrefix(f.Path, "params.")
	name := inside
	if i := strings.IndexAny(inside, ".["); i >= 0 {
		name = inside[:i]
	}
	if _, known := p.kind.Param(name); !ok || !known {
		f.Path = ""
		return
	}
	if t.Place == nil {
		return
	}
	offset := -1
	if said, ok := f.Details["offset"].(float64); ok && inside == name && said < math.MaxInt32 && !slices.Contains(p.changed, name) {
		offset = int(said)
	}
	f.File, f.Line, f.Column = t.Place(inside, offset)
}

// garbled is the fault of a program whose standard output is no answer.
func (e *ended) garbled(text []byte, err error, t *Task) *fault.Fault {
	if e.exit.Code == 0 {
		f := fault.New(fault.Protocol, "%s ended well and %v", e.program, err)
		if e.stderr != "" {
			f.Message += ": " + e.stderr
		}
		return f.Suggest("The program must print one JSON object of outputs on standard output, and all else on standard error")
	}
	if e.stderr == "" && len(text) > 0 { // it said there what was wrong
		e.stderr = excerptOf(text, maxSaid)
	}
	e.said = &document{}
	return e.fault(t)
}
