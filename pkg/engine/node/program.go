package node

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// runProgram runs a node type that is a program of its own (docs/contracts.md, "A node type of your own").
func runProgram(ctx context.Context, p *Call, t *Task) *Result {
	path, err := p.programPath(t)
	if err != nil {
		return failedWithError(fault.From(err))
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	request := slices.Concat([]byte(`{"v":1,"params":`), p.limited(t.Timeout))
	if t.Answer != nil {
		request = slices.Concat(request, []byte(`,"answer":`), rawjson.Quote(t.Answer.Text), []byte(`,"state":`), t.Answer.State)
	}
	request = append(request, "}\n"...)
	stdout, stderr := &programStdout{progress: t.Progress, used: t.Used, object: spool{task: t}}, process.NewTail(maxTail)
	out := t.output(filepath.Base(path), stop, stdout, t.Stdout).limit(MaxOutput, longObjectFault(path))
	diag := t.output(filepath.Base(path), stop, stderr, t.Stderr)
	exit, err := process.Run(ctx, process.Command{
		Path: path, Dir: t.Dir, Env: t.Env, Marks: t.Marks, Stdin: bytes.NewReader(request),
		Stdout: out, Stderr: diag,
	})
	if f := exceeded(out, diag); err == nil && f != nil {
		err = f
	}
	if err != nil {
		stdout.object.discard()
		return failedWithError(p.startFault(path, err))
	}
	e := &programEnd{call: p, program: filepath.Base(path), exit: exit, stderr: tailText([]byte(stderr.String()))}
	text, err := stdout.text()
	if err != nil {
		return &Result{StoreErr: err}
	}
	if e.object, err = parseObject(text); err != nil {
		return failedWithError(e.protocolFault(text, err, t))
	}
	return e.result(t)
}

// limited returns the parameters for the program, with the given limit in place of the default of its own, if it has one.
func (p *Call) limited(limit time.Duration) json.RawMessage {
	if param, ok := p.kind.Param(nodetype.TimeoutParam); limit <= 0 || !ok || param.Type != nodetype.DurationType {
		return p.Params
	}
	var params map[string]json.RawMessage
	if json.Unmarshal(p.Params, &params) != nil {
		return p.Params
	}
	params[nodetype.TimeoutParam] = strconv.AppendFloat(nil, limit.Seconds(), 'f', -1, 64)
	return marshalParams(params)
}

// programPath returns the path of the node type's program. A program of the suite is looked up first in Host.Suite.
func (p *Call) programPath(t *Task) (string, error) {
	name := p.kind.Program
	if filepath.IsAbs(name) {
		return name, nil
	}
	if beside := filepath.Join(t.Suite, name); t.Suite != "" && process.Executable(beside) {
		return beside, nil
	}
	path, err := process.LookPath(name, t.Env, t.Dir)
	if err != nil {
		return "", fault.New(fault.Unavailable, "The program of node type %q, %s, is neither on PATH nor in the folder of pflow-exec", p.kind.Name, name).
			Suggest("Install the whole suite into one folder")
	}
	return path, nil
}

// startFault is the fault of a program that could not be started, or did not end by itself.
func (p *Call) startFault(path string, err error) *fault.Fault {
	if late, ok := errors.AsType[*TimeoutError](err); ok {
		return fault.New(fault.Timeout, "%s %v", filepath.Base(path), late).
			Suggest(`Give the node a longer "timeout", or make it faster`)
	}
	f := fault.From(err)
	if f.Type != fault.NotFound && f.Type != fault.Execution && !errors.Is(err, process.ErrFormat) {
		return f
	}
	info, missing := os.Stat(path)
	switch {
	case missing != nil:
		return fault.New(fault.Unavailable, "The program of node type %q does not exist any more: %s", p.kind.Name, path).
			Then(fault.ByPerson("Install it again, or register its new path", "pflow-sync nodes"))
	case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
		return fault.New(fault.Unavailable, "The program of node type %q cannot be executed: %s", p.kind.Name, path).
			Then(fault.ByPerson("Make it executable", "chmod +x '%s'", path))
	case errors.Is(err, process.ErrFormat):
		return fault.New(fault.Unavailable, "%s is neither a program of this system nor a script with a #! line", path).
			Suggest("Begin a script with a line such as #!/bin/sh or #!/usr/bin/env python3")
	case f.Type == fault.NotFound:
		return fault.New(fault.Unavailable, "The interpreter in the first line of %s does not exist: %s", path, firstLine(path)).
			Suggest("Install it, or correct the line")
	}
	return f
}

// firstLine returns the beginning of the first line of a file.
func firstLine(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return "unreadable"
	}
	defer func() { _ = file.Close() }()
	line, _ := bufio.NewReader(io.LimitReader(file, 256)).ReadString('\n')
	return shorten(strings.TrimSpace(strings.ToValidUTF8(line, "\uFFFD")))
}

// programEnd is a program that has ended: how, and what it printed.
type programEnd struct {
	call    *Call
	program string
	exit    process.Exit
	// stderr is the end of its standard error.
	stderr string
	object *printedObject
}

// result returns the node's result.
func (e *programEnd) result(t *Task) *Result {
	r := &Result{Action: workflow.ActionDefault}
	switch action := e.object.action; {
	case e.exit.Code != 0:
		r.Action, r.Fault = workflow.ActionError, e.fault(t)
	case action.Exists() && action.Str == "":
		return failedWithError(fault.New(fault.Protocol, `"$action" of %s must be a string that is not empty, got %s`, e.program, shorten(action.Raw)).
			Suggest(`Give the name of an action, such as "default", or omit "$action"`))
	case action.Str == workflow.ActionError:
		r.Action, r.Fault = workflow.ActionError, e.fault(t)
	case action.Str != "":
		if r.Action = action.Str; !e.call.declares(r.Action) {
			return failedWithError(fault.New(fault.Protocol, `"$action" of %s is not one that it declares: %s`, e.program, shorten(r.Action)).
				Suggest("Its declared actions are %s: add it to what --describe prints", strings.Join(e.call.kind.Actions, ", ")).
				Then(fault.ByPerson("Register what it describes then", "pflow-sync nodes")))
		}
	}
	if ask := e.object.ask; ask.Exists() && r.Fault == nil {
		var f *fault.Fault
		if r.Ask, f = readQuestion(ask, e.program); f != nil {
			return failedWithError(f)
		}
	}
	outputs := e.object.outputs
	switch {
	case r.Fault != nil:
		outputs = slices.DeleteFunc(outputs, func(m namedOutput) bool { return m.key == errorKey })
		outputs = append(outputs, namedOutput{errorKey, rawjson.Quote(r.Fault.Message)})
	case e.object.text != nil && !slices.ContainsFunc(outputs, namedOutput.long):
		r.Outputs = event.Escape(e.object.text) // not copied: it may be long
		return r
	}
	r.Outputs, r.StoreErr = t.storeOutputs(outputs)
	return r
}

// declares reports whether the node type has an action.
func (p *Call) declares(action string) bool {
	return action == workflow.ActionDefault || slices.Contains(p.kind.Actions, action) || slices.Contains(p.kind.Actions, nodetype.AnyAction)
}

// fault returns why the program failed: its own output error, or else the end of its standard error.
func (e *programEnd) fault(t *Task) *fault.Fault {
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
	e.object.overrideFault(f)
	e.call.locate(f, t)
	if e.exit.Code != 0 {
		f.Detail("exit_code", e.exit.Code)
	}
	if len(f.Suggestions) == 0 {
		f.Suggest(`Correct the node's parameters, or handle this failure with an edge of action "error"`)
	}
	return f
}

// locate sets the place in the workflow file of a program's fault: its path names a parameter, and its detail offset a byte
// of that parameter's text. A path that names no parameter is removed.
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
	if n, ok := f.Details["offset"].(float64); ok && inside == name && n < math.MaxInt32 && !slices.Contains(p.changed, name) {
		offset = int(n)
	}
	f.File, f.Line, f.Column = t.Place(inside, offset)
}

// protocolFault is the fault of a program whose standard output is not a JSON object.
func (e *programEnd) protocolFault(text []byte, err error, t *Task) *fault.Fault {
	if e.exit.Code == 0 {
		f := fault.New(fault.Protocol, "%s ended with exit code 0 but %v", e.program, err)
		if e.stderr != "" {
			f.Message += ": " + e.stderr
		}
		return f.Suggest("The program must print one JSON object of outputs to standard output, and everything else to standard error")
	}
	if e.stderr == "" && len(text) > 0 { // the reason may be there
		e.stderr = shortenBytes(text, maxTail)
	}
	e.object = &printedObject{}
	return e.fault(t)
}
