package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/proc"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/shell"
	"github.com/pflow-suite/pflow/pkg/template"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// MaxOutput is the most bytes of a process's standard output, and of its standard error, that become a node's outputs.
const MaxOutput = 128 << 20

// render renders the shell command and puts it back among the parameters, as it was written, with the values beside it.
func (p *Prepared) render(n *workflow.Node, raw json.RawMessage, params map[string]json.RawMessage, b *Binding) ([]template.Unresolved, error) {
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
			f := fault.New(fault.Validation, "%s", problem.Message).Suggest("%s", problem.Suggest)
			f.Node, f.Path = n.ID, "params.command"
			return nil, f
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

// templatesParam stands among a shell node's parameters for the values that its command's templates have; no parameter
// may have such a name.
const templatesParam = "${}"

// runShell runs a command.
func runShell(ctx context.Context, p *Prepared, t *Task) *Result {
	in, f := decode[nodetype.Shell](p)
	if f != nil {
		return failed(f, nil)
	}
	for k, v := range in.Env {
		if k == "" || strings.ContainsAny(k, "=\x00") || strings.ContainsRune(v, 0) {
			return failed(fault.New(fault.Execution, "The environment cannot hold the variable %q: its name is empty or has a =, or there is a NUL byte in it", k).
				Suggest("Correct \"env\", or give the value to the command as standard input"), nil)
		}
	}
	stdout, stderr := t.capture(), t.capture()
	c := p.process(in, t)
	c.Stdout, c.Stderr = io.MultiWriter(stdout, t.Stdout), io.MultiWriter(stderr, t.Stderr)
	deadline := in.Timeout.Duration()
	if deadline <= 0 {
		return failed(fault.New(fault.Execution, "timeout must be more than 0 seconds"), nil)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, deadline, &TimeoutError{deadline})
	defer cancel()
	exit, err := proc.Run(ctx, c)
	if c.Path != "/bin/sh" && (errors.Is(err, proc.ErrFormat) || err != nil && fault.From(err).Type == fault.NotFound) {
		c.Path, c.Name, c.Args = "/bin/sh", "", []string{"-c", p.command}
		exit, err = proc.Run(ctx, c)
	}
	if err != nil && len(p.values) > 0 && fault.From(err).Type == fault.TooLarge { // which value it is only the script can tell
		if f := p.script.Fits(append([]string{c.Path}, c.Args...), c.Env); f != nil {
			err = f
		}
	}
	tail := stderr.End(maxSaid)
	out, unkept := shellOutputs(in, stdout, stderr, exit.Code)
	if unkept != nil {
		return &Result{Unkept: unkept}
	}
	if err == nil && (stdout.Over() || stderr.Over()) {
		err = fault.New(fault.TooLarge, "The command printed more than %d MiB", MaxOutput>>20).Suggest("Write large data to a file and pass its path on")
	}
	late, timedOut := errors.AsType[*TimeoutError](err)
	switch {
	case timedOut:
		out.ExitCode = -1
		f = fault.New(fault.Timeout, "Command timed out after %s seconds", seconds(late.After)).
			Suggest("Give the node a longer \"timeout\" (in seconds), or make the command finish sooner")
	case err != nil:
		f = fault.From(err)
	case exit.Code != 0 && !in.IgnoreErrors:
		f = exitFault(exit, tail)
	default:
		return &Result{Action: workflow.ActionDefault, Outputs: out.JSON()}
	}
	out.Error = f.Message
	return &Result{Action: workflow.ActionError, Fault: f, Outputs: out.JSON()}
}

// process is the command to start: executed directly when it has no shell syntax and its program is there, else by sh.
func (p *Prepared) process(in nodetype.Shell, t *Task) proc.Command {
	c := proc.Command{Path: "/bin/sh", Args: []string{"-c", p.command}, Dir: t.Dir, Env: slices.Clip(t.Env), Marks: t.Marks}
	for k, v := range in.Env {
		c.Env = append(c.Env, k+"="+v)
	}
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

// programs are where programs were found before, by their names and the PATH. One that is no longer there is found by sh.
var programs sync.Map

// found finds a program that may be executed.
func found(name string, env []string, dir string) (string, bool) {
	key := [3]string{name, proc.Getenv(env, "PATH")}
	if strings.ContainsRune(name, '/') {
		key = [3]string{name, "", dir}
	}
	if path, ok := programs.Load(key); ok {
		path, ok := path.(string)
		return path, ok
	}
	path, err := proc.Look(name, env, dir)
	if err != nil || !proc.Executable(path) {
		return "", false
	}
	programs.Store(key, path)
	return path, true
}

// under is a path as a node names it: ~ is the user's home, and what is relative is relative to the run's directory.
func under(t *Task, path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		if home := proc.Getenv(t.Env, "HOME"); home != "" {
			path = home + rest
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(t.Dir, path)
	}
	return path
}

// shellOutputs are what a command printed. The error is one of keeping that.
func shellOutputs(in nodetype.Shell, stdout, stderr *event.Capture, code int) (*nodetype.ShellOutputs, error) {
	o, err := stdout.Value(in.StripNewline)
	e, failed := stderr.Value(false)
	return &nodetype.ShellOutputs{
		Stdout: nodetype.Binary(o), StdoutIsBinary: stdout.Binary(),
		Stderr: nodetype.Binary(e), StderrIsBinary: stderr.Binary(),
		ExitCode: code,
	}, errors.Join(err, failed)
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

// maxSaid is how many bytes of the end of what a failed command said stand in its error.
const maxSaid = 2000

// exitFault is the fault of a command that failed; stderr is the end of what it said.
func exitFault(exit proc.Exit, stderr []byte) *fault.Fault {
	said := strings.TrimSpace(strings.ToValidUTF8(string(stderr), "\uFFFD"))
	if len(stderr) == maxSaid { // a part of a secret that was cut in two is known by where it stands
		said = "…" + said
	}
	what := fmt.Sprintf("Command failed with exit code %d", exit.Code)
	if exit.Signal != "" {
		what = fmt.Sprintf("Command was ended by signal: %s", exit.Signal)
	}
	f := fault.New(fault.Execution, "%s", what)
	if said != "" {
		f.Message += ": " + said
	}
	f.Detail("exit_code", exit.Code)
	switch exit.Code {
	case 126:
		f.Suggest("The program is there but may not be executed: check its permissions")
	case 127:
		f.Suggest("A program in the command was not found: install it, or correct its name or PATH")
	default:
		f.Suggest("Correct the command, or set \"ignore_errors\": true if this exit status is no failure, or take it with an edge of action \"error\"")
	}
	return f
}

func seconds(d time.Duration) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", d.Seconds()), "0"), ".")
}
