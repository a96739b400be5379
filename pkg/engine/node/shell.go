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

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/shell"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// MaxOutput is the most bytes of a process's standard output, and of its standard error, that become a node's outputs.
const MaxOutput = 128 << 20

// render renders the shell command and puts it back among the parameters, as it was written, with the values beside it.
func (p *Call) render(n *workflow.Node, raw json.RawMessage, params map[string]json.RawMessage, b *Binding) ([]template.Unresolved, error) {
	if string(bytes.TrimSpace(raw)) == "null" {
		return nil, nil // fit will say that there is none
	}
	var text string
	if fitted, ok := nodetype.Fit("str", raw); !ok || json.Unmarshal(fitted, &text) != nil {
		return nil, fault.New(fault.Internal, "the command is no JSON")
	}
	var own nodetype.Texts
	if env, ok := params["env"]; ok {
		_ = json.Unmarshal(env, &own) // fit will say what is wrong
	}
	known := func(root string) bool {
		_, local := p.locals[root]
		return local || b.Known(root)
	}
	script, problems := shell.Parse(text, shell.Options{Known: known, Own: slices.Collect(maps.Keys(own)), Unsafe: n.UnsafeTemplates})
	for _, problem := range problems {
		if !problem.Warning {
			return nil, refused(n, &problem)
		}
	}
	params["command"] = rawjson.Quote(text)
	var unresolved []template.Unresolved
	values := make([]string, len(script.Vars))
	named := map[string]string{}
	scope := over(p.locals, b.Scope)
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
		named[v.Expr.String()] = values[i]
	}
	if problem := script.Danger(values); problem != nil {
		return nil, refused(n, problem)
	}
	p.script = script
	p.command, p.values = script.Render(values)
	if len(named) > 0 {
		raw, err := rawjson.Marshal(named)
		if err != nil {
			return nil, fault.From(err)
		}
		params[templatesParam] = raw
	}
	return unresolved, nil
}

// refused is the fault of a command that is not run.
func refused(n *workflow.Node, problem *shell.Problem) *fault.Fault {
	f := fault.New(fault.Validation, "%s", problem.Message).Suggest("%s", problem.Suggest)
	if problem.Dangerous {
		f.Type = fault.Security
	}
	f.Node, f.Path = n.ID, "params.command"
	return f
}

// templatesParam stands among a shell node's parameters for the values that its command's templates have; no parameter
// may have such a name.
const templatesParam = "${}"

// runShell runs a command.
func runShell(ctx context.Context, p *Call, t *Task) *Result {
	in, f := decode[nodetype.Shell](p)
	if f != nil {
		return unstarted(f)
	}
	if f := startable(in); f != nil {
		return unstarted(f)
	}
	deadline := in.Timeout.Duration()
	ctx, cancel := context.WithTimeoutCause(ctx, deadline, &TimeoutError{deadline})
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	stdout, stderr := t.capture(), t.capture()
	c := p.process(in, t)
	over := func() { stop(overflow("command")) }
	c.Stdout, c.Stderr = &printed{stdout, t.Stdout, over}, &printed{stderr, t.Stderr, over}
	exit, err := process.Run(ctx, c)
	if c.Path != "/bin/sh" && (errors.Is(err, process.ErrFormat) || err != nil && fault.From(err).Type == fault.NotFound) {
		c.Path, c.Name, c.Args = "/bin/sh", "", []string{"-c", p.command}
		exit, err = process.Run(ctx, c)
	}
	if err != nil && len(p.values) > 0 && fault.From(err).Type == fault.TooLarge { // which value it is only the script can tell
		if f := p.script.Fits(append([]string{c.Path}, c.Args...), c.Env); f != nil {
			err = f
		}
	}
	if err == nil && (stdout.Truncated() || stderr.Truncated()) { // it ended before it was ended
		err = overflow("command")
	}
	said := shellEnding{in: in, exit: exit, err: err, stderr: stderr.Tail(maxSaid)}
	if in.TTY {
		said.stderr = stdout.Tail(maxSaid)
	}
	out, unkept := shellOutputs(in, stdout, stderr, exit.Code)
	if unkept != nil {
		return &Result{StoreErr: unkept}
	}
	return p.judge(&said, out)
}

// startable says why a command cannot be started; nil if it can.
func startable(in nodetype.Shell) *fault.Fault {
	if _, f := process.Extend(nil, in.Env); f != nil {
		return f
	}
	if in.Timeout.Duration() <= 0 {
		return fault.New(fault.Execution, nodetype.NoTime).Suggest("Give the node a \"timeout\" in seconds, or leave it out: it is 30 then")
	}
	return nil
}

// process is the command to start: executed directly when it has no shell syntax and its program is there, else by sh.
func (p *Call) process(in nodetype.Shell, t *Task) process.Command {
	c := process.Command{Path: "/bin/sh", Args: []string{"-c", p.command}, Dir: t.Dir, Env: slices.Clip(t.Env), Marks: t.Marks, TTY: in.TTY}
	c.Env, _ = process.Extend(c.Env, in.Env) // startable has seen that it can
	c.Env = append(c.Env, p.values...)
	if in.Cwd != "" {
		c.Dir = under(t, in.Cwd)
	}
	if words, ok := shell.Direct(p.command); ok && len(p.values) == 0 {
		if path, ok := found(words[0], c.Env, c.Dir); ok {
			c.Path, c.Name, c.Args = path, words[0], words[1:]
		}
	}
	if len(in.Stdin) > 0 && string(in.Stdin) != "null" {
		c.Stdin = strings.NewReader(template.AsText(in.Stdin))
	}
	return c
}

// found finds a program that may be executed.
func found(name string, env []string, dir string) (string, bool) {
	path, err := process.LookPath(name, env, dir)
	return path, err == nil && process.Executable(path)
}

// under is a path as a node names it: ~ is the user's home, and what is relative is relative to the run's directory.
func under(t *Task, path string) string {
	return process.Path(path, t.Dir, t.Env)
}

// capture is what an output of the task's process is collected in.
func (t *Task) capture() *event.Capture {
	c := &event.Capture{}
	if t.Capture != nil {
		c = t.Capture()
	}
	c.Limit = MaxOutput
	return c
}

func seconds(d time.Duration) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", d.Seconds()), "0"), ".")
}
