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
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/shell"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// renderCommand parses the shell command and renders its templates as environment variables. It puts the command back among
// the parameters as it was written, with the values beside it.
func (p *Call) renderCommand(n *workflow.Node, raw json.RawMessage, params map[string]json.RawMessage, b *Binding) ([]template.Unresolved, error) {
	if string(bytes.TrimSpace(raw)) == "null" {
		return nil, nil // fitParams reports that it is missing
	}
	var text string
	if fitted, ok := nodetype.Fit("str", raw); !ok || json.Unmarshal(fitted, &text) != nil {
		return nil, fault.New(fault.Internal, "the command is not valid JSON")
	}
	var own nodetype.Texts
	if env, ok := params["env"]; ok {
		_ = json.Unmarshal(env, &own) // fitParams reports what is wrong
	}
	known := func(root string) bool {
		_, local := p.locals[root]
		return local || b.Known(root)
	}
	scope := withLocals(p.locals, b.Scope)
	number := func(e template.Expr) bool {
		value, reason := e.Value(scope)
		kind := rawjson.Kind(value)
		return reason != "" || kind == "a number" || kind == "true or false" || kind == "null" // unresolved, it stays as its author wrote it
	}
	options := shell.Options{Known: known, Number: number, Own: slices.Sorted(maps.Keys(own)), Unsafe: n.UnsafeTemplates}
	options.FromTemplates = fromTemplates(n, "env", options.Own)
	script, problems := shell.Parse(text, options)
	for _, problem := range problems {
		if !problem.Warning {
			return nil, problemFault(n, &problem)
		}
	}
	params["command"] = rawjson.Quote(text)
	var unresolved []template.Unresolved
	values := make([]string, len(script.Vars))
	named := map[string]string{}
	for i, v := range script.Vars {
		value, reason := v.Expr.Value(scope)
		values[i] = template.AsText(value)
		if reason != "" {
			unresolved = append(unresolved, template.Unresolved{Expr: v.Expr, Path: "command", Reason: reason})
			values[i] = v.Expr.String()
		}
		if f := v.Accepts(values[i]); f != nil && (reason == "" || b.Permissive) {
			f.Node, f.Path = n.ID, "params.command"
			return nil, f
		}
		if f := script.Refuses(v.Expr.String(), values[i]); f != nil && !v.Integer && (reason == "" || b.Permissive) {
			f.Node, f.Path = n.ID, "params.command"
			return nil, f
		}
		named[v.Expr.String()] = values[i]
	}
	for _, name := range options.FromTemplates {
		if f := script.Refuses(name+" in env", own[name]); f != nil {
			f.Node, f.Path = n.ID, rawjson.JoinPath("params.env", name)
			return nil, f
		}
	}
	if problem := script.Danger(values); problem != nil {
		return nil, problemFault(n, problem)
	}
	p.script = script
	p.command, p.values = script.Render(values)
	if b.AsksStatus {
		if _, searches := shell.Searches(p.command); searches {
			p.asksStatus = true
			params[statusParam] = json.RawMessage("true")
		}
	}
	if script.Whole {
		p.whole = script.Vars[0].Expr.String()
	}
	if len(named) > 0 {
		raw, err := rawjson.Marshal(named)
		if err != nil {
			return nil, fault.From(err)
		}
		params[templatesParam] = raw
	}
	return unresolved, nil
}

// fromTemplates returns those of the names of a parameter's members whose values come from templates: all, if one template stands for the
// parameter.
func fromTemplates(n *workflow.Node, param string, names []string) []string {
	if len(names) == 0 {
		return nil
	}
	var params, members map[string]json.RawMessage
	_ = json.Unmarshal(n.Params, &params) // Prepare has read them
	if json.Unmarshal(params[param], &members) != nil {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !template.MayHoldTemplate(members[name]) })
}

// problemFault is the fault of a command that must not be run.
func problemFault(n *workflow.Node, problem *shell.Problem) *fault.Fault {
	f := fault.New(fault.Validation, "%s", problem.Message).Suggest("%s", problem.Suggest)
	if problem.Kind == shell.Destructive {
		f.Type = fault.Security
	}
	f.Node, f.Path = n.ID, "params.command"
	return f
}

// templatesParam is the key among a shell node's parameters under which the values of its command's templates are kept, so
// that they are part of the input digest. No parameter can have such a name.
const templatesParam = "${}"

// statusParam is a key like templatesParam, for a search whose exit status the workflow asks for: it may end otherwise than without.
const statusParam = "${?}"

// runShell runs a command.
func runShell(ctx context.Context, p *Call, t *Task) (result *Result) {
	stdin, rest := splitParam(p, "stdin")
	in, f := decode[nodetype.Shell](rest)
	if f != nil {
		return notStarted(f)
	}
	if f := validateShell(in); f != nil {
		return notStarted(f)
	}
	ctx, cancel := within(ctx, in.Timeout)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	stdout, stderr := t.capture(), t.capture()
	c, f := p.process(in, t)
	if f != nil {
		return notStarted(f)
	}
	if p.long != nil || len(stdin) > 0 && string(stdin) != "null" {
		text, err := p.openLong(stdin)
		if err != nil {
			return &Result{StoreErr: err}
		}
		defer func() { _ = text.Close() }()
		c.Stdin = text
		defer func() {
			if err := text.Err(); err != nil {
				result = &Result{StoreErr: err}
			}
		}()
	}
	var last tail
	out, diag := t.output("The command", stop, stdout, t.Stdout, last.stdout()), t.output("The command", stop, stderr, t.Stderr, last.stderr())
	c.Stdout, c.Stderr = out, diag
	exit, err := process.Run(ctx, c)
	if c.Name != "" && (errors.Is(err, process.ErrFormat) || err != nil && fault.From(err).Type == fault.NotFound) {
		c.Path, c.Name, c.Args = "/bin/sh", "", []string{"-c", p.command}
		exit, err = process.Run(ctx, c)
	}
	if err != nil && len(p.values) > 0 && fault.From(err).Type == fault.TooLarge { // the script knows which value is too large
		if f := p.script.Fits(append([]string{c.Path}, c.Args...), c.Env); f != nil {
			err = f
		}
	}
	if f := exceeded(out, diag); err == nil && f != nil {
		err = f
	}
	end := shellExit{in: in, exit: exit, err: err, stderr: string(stderr.Tail(maxTail)), tail: last.text(stdout.Binary())}
	if in.TTY {
		end.stderr = string(stdout.Tail(maxTail))
	}
	outputs, storeErr := shellOutputs(in, stdout, stderr, exit.Code)
	if storeErr != nil {
		return &Result{StoreErr: storeErr}
	}
	return p.shellResult(&end, outputs)
}

// validateShell returns the fault of parameters with which no command can be started.
func validateShell(in nodetype.Shell) *fault.Fault {
	if _, f := process.Extend(nil, in.Env); f != nil {
		return f
	}
	return nil
}

// process returns the command to start. A command without shell syntax is executed directly if its program is found, with
// its Name, and any other by a shell. Its standard input is missing.
func (p *Call) process(in nodetype.Shell, t *Task) (process.Command, *fault.Fault) {
	c := process.Command{Path: "/bin/sh", Args: []string{"-c", p.command}, Dir: t.Dir, Env: slices.Clip(t.Env), Marks: t.Marks, TTY: in.TTY}
	c.Env, _ = process.Extend(c.Env, in.Env) // validateShell has checked it
	c.Env = append(c.Env, p.values...)
	if in.Cwd != "" {
		c.Dir = resolvePath(t, in.Cwd)
	}
	if words, ok := shell.Direct(p.command); ok && len(p.values) == 0 {
		if path, ok := findProgram(words[0], c.Env, c.Dir); ok {
			c.Path, c.Name, c.Args = path, words[0], words[1:]
		}
	}
	if p.script.Bash {
		if path, ok := findProgram("bash", c.Env, c.Dir); ok {
			c.Path = path
		} else if len(p.values) > 0 { // another shell could take values for code
			return c, fault.New(fault.NotFound, "Command not found: bash, which the syntax of this command needs").
				Suggest("Install bash, or write the command in the syntax that every sh has")
		}
	}
	return c, nil
}

// findProgram returns the path of an executable program.
func findProgram(name string, env []string, dir string) (string, bool) {
	path, err := process.LookPath(name, env, dir)
	return path, err == nil && process.Executable(path)
}

// resolvePath returns the absolute path of a path that a node names: ~ is the user's home, and a relative path is relative
// to the run's directory.
func resolvePath(t *Task, path string) string {
	return process.Path(path, t.Dir, t.Env)
}

// seconds formats a duration in seconds, without trailing zeros.
func seconds(d time.Duration) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", d.Seconds()), "0"), ".")
}
