package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/shell"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// codeProgram is the program of a code node: its parameters, its interpreter and its outputs.
type codeProgram struct {
	nodetype.Code
	task     *Task
	language language
	// interpreter is the path of the program that runs it.
	interpreter string
	// name is the file name of its lines in tracebacks.
	name           string
	results        spool
	stdout, stderr Output
	// last has the last lines of both.
	last tail
	// streams are what the program writes to, with their limits: standard output, standard error, and descriptor 3.
	streams [3]*processOutput
}

// runCode runs a program in another language. The value of its variable result comes back on a descriptor of its own, so
// that it cannot be confused with what the program prints.
func runCode(ctx context.Context, p *Call, t *Task) *Result {
	in, f := decode[nodetype.Code](p)
	if f != nil {
		return failed(f, nil)
	}
	c := &codeProgram{
		Code: in, task: t, language: languageOf(in.Language), name: "code of node " + t.Node,
		results: spool{task: t}, stdout: t.capture(), stderr: t.capture(),
	}
	if f := c.validate(); f != nil {
		return c.failed(f)
	}
	ctx, cancel := within(ctx, in.Timeout)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	c.streams = [3]*processOutput{
		t.output("The code", stop, c.stdout, t.Stdout, c.last.stdout()), t.output("The code", stop, c.stderr, t.Stderr, c.last.stderr()),
		t.output("The code", stop, &c.results).limit(MaxOutput+maxReport, longResultFault()),
	}
	command, f := c.command()
	if f != nil {
		return c.failed(f)
	}
	exit, err := process.Run(ctx, command)
	return c.finish(exit, err)
}

// validate returns the fault of parameters that are wrong before anything is started.
func (c *codeProgram) validate() *fault.Fault {
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
			return fault.New(fault.Execution, "%q in \"requires\" is not the name of a module", name).Suggest("Give names only, without versions")
		}
	}
	return nil
}

// command returns the process to start.
func (c *codeProgram) command() (process.Command, *fault.Fault) {
	command := process.Command{
		Dir: c.task.Dir, Env: slices.Clip(c.task.Env), Marks: c.task.Marks,
		Stdout: c.streams[0], Stderr: c.streams[1], Results: c.streams[2],
	}
	command.Env, _ = process.Extend(command.Env, c.Env) // validate has checked it
	if c.Cwd != "" {
		command.Dir = resolvePath(c.task, c.Cwd)
	}
	for _, name := range c.language.programs {
		if path, err := process.LookPath(name, command.Env, command.Dir); err == nil {
			c.interpreter = path
			break
		}
	}
	if c.interpreter == "" {
		return command, fault.New(fault.Unavailable, "Cannot run the code: %s not found on PATH", strings.Join(c.language.programs, " or ")).
			Suggest("Install %s, or add its folder to PATH", c.language.install)
	}
	payload, f := c.language.payload(c)
	command.Path, command.Args, command.Stdin = c.interpreter, c.language.arguments, bytes.NewReader(payload)
	return command, f
}

// refusedInput returns the fault of an input of bash code that bash could run.
func refusedInput(n *workflow.Node, params map[string]json.RawMessage) *fault.Fault {
	var text, language string
	var inputs map[string]json.RawMessage
	if json.Unmarshal(params["language"], &language) != nil || language != "bash" || json.Unmarshal(params["code"], &text) != nil ||
		json.Unmarshal(params["inputs"], &inputs) != nil {
		return nil
	}
	names := fromTemplates(n, "inputs", slices.Sorted(maps.Keys(inputs)))
	script, _ := shell.ParseCode(text, names)
	for _, name := range names {
		if f := script.Refuses("input "+name, template.AsText(inputs[name])); f != nil {
			f.Node, f.Path = n.ID, rawjson.JoinPath("params.inputs", name)
			return f
		}
	}
	return nil
}

// finish returns the result of the ended program; err is set if it was stopped or could not be started.
func (c *codeProgram) finish(exit process.Exit, err error) *Result {
	stderr := c.stderr.Tail(maxTail)
	written, storeErr := c.results.content()
	if storeErr != nil {
		c.stdout.Discard()
		c.stderr.Discard()
		return &Result{StoreErr: storeErr}
	}
	r := c.language.report(written)
	if over := exceeded(c.streams[:]...); err == nil && over != nil {
		err = over
	}
	f := c.fault(r, exit, err, stderr)
	var result json.RawMessage
	if f == nil {
		result, f = c.result(r)
	}
	action := workflow.ActionDefault
	if f == nil && r.Next == workflow.ActionError {
		f = fault.New(fault.Execution, "The code ended with action error").Suggest("Handle it with an edge of action \"error\", or correct the code's next")
		c.locate(f, &r)
	}
	if f != nil {
		action = workflow.ActionError
	} else if r.Next != "" {
		action = r.Next
	}
	done := c.nodeResult(action, result, f)
	if warning := c.inexact(result); warning != "" && f == nil {
		done.Warnings = []string{warning}
	}
	return done
}

// inexact returns a warning about a whole number to which JavaScript cannot count, of the inputs or else of the result.
func (c *codeProgram) inexact(result json.RawMessage) string {
	if c.Language != "node" {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(c.Inputs)) {
		if path, number, found := rawjson.FindNumber(c.Inputs[name], beyondJavaScript); found {
			return fmt.Sprintf("the number %s in %s has more digits than JavaScript keeps, so the code may have got another; pass it as text", number,
				rawjson.AppendPath(rawjson.JoinPath("inputs", name), path))
		}
	}
	if path, number, found := rawjson.FindNumber(result, beyondJavaScript); found {
		return fmt.Sprintf("the number %s in %s has more digits than JavaScript keeps, so it may be another than the code meant; make it text, or compute with BigInt",
			number, rawjson.AppendPath("result", path))
	}
	return ""
}

// beyondJavaScript reports whether a number is written as a whole number of 2^53 or more: there JavaScript takes several for one.
func beyondJavaScript(number string) bool {
	digits := strings.TrimPrefix(number, "-")
	return !strings.ContainsAny(digits, ".eE") && (len(digits) > len(inexactFrom) || len(digits) == len(inexactFrom) && digits >= inexactFrom)
}

// inexactFrom is 2^53.
const inexactFrom = "9007199254740992"

// result returns the program's result as a value of the event stream.
func (c *codeProgram) result(r report) (json.RawMessage, *fault.Fault) {
	switch {
	case c.language.rawText:
		return event.String(r.result), nil
	case !json.Valid(r.result):
		return nil, fault.New(fault.Execution, "The result is not valid JSON: something else was written to descriptor 3, or it is nested too deeply").
			Suggest("Do not use descriptor 3 in the code")
	}
	if path, key, twice := rawjson.DuplicateKey(r.result); twice {
		f := fault.New(fault.Execution, "The result cannot be written as JSON: %s has two keys that are %q there", rawjson.AppendPath("result", path), fault.Truncate(key, maxQuoted)).
			Suggest("Make the keys of a dict text, each once: JSON writes 1 and \"1\" as one key")
		c.locate(f, &report{Line: lastAssignment(c.Code.Code)})
		return nil, f
	}
	return event.Escape(r.result), nil
}

// longResultFault is the fault of a program whose result is longer than MaxOutput.
func longResultFault() *fault.Fault {
	return fault.New(fault.TooLarge, "The result has more than %d MiB", MaxOutput>>20).Suggest("Write large data to a file and assign its path to result")
}

// failed is the result of a program that was not started.
func (c *codeProgram) failed(f *fault.Fault) *Result {
	return c.nodeResult(workflow.ActionError, nil, f)
}

// nodeResult returns the result of the node, with what the program printed.
func (c *codeProgram) nodeResult(action string, result json.RawMessage, f *fault.Fault) *Result {
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
		return failed(fault.New(fault.Internal, "the outputs cannot be written as JSON: %v", err), nil)
	}
	return &Result{Action: action, Outputs: raw, Fault: f}
}
