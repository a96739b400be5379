// Package node is what the node types do, one file each. What they say of themselves is in pkg/nodetype.
package node

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcpclient"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/shell"
	"github.com/pflow-suite/pflow/pkg/template"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Host is what a run gives all its nodes.
type Host struct {
	// Dir is the run's working directory, absolute.
	Dir string
	// Env is the environment that nodes' processes get.
	Env []string
	// Servers holds the MCP servers of the run.
	Servers *mcpclient.Pool
}

// Task is one attempt at a node.
type Task struct {
	Host
	// Node is the node's id.
	Node string
	// Marks are the variables in Env that no other node's processes have: by them those are found that leave their group.
	Marks []string
	// Stdout and Stderr take what the node's process says, as it comes.
	Stdout, Stderr io.Writer
	// Progress takes how far the node is; total is 0 when it is not known.
	Progress func(done, total float64, message string)
}

// Result is how a node ended. Outputs is an object of the event stream (see pkg/event), present also after a failure
// that left something behind.
type Result struct {
	Action  string
	Outputs json.RawMessage
	// Fault is set when the node failed.
	Fault *fault.Fault
}

// Prepared is a node with its parameters resolved, ready to run.
type Prepared struct {
	// Params are the parameters as the node gets them: what its input digest is taken over.
	Params json.RawMessage
	// Unresolved are the templates that stand as they were written, in permissive mode.
	Unresolved []template.Unresolved
	// Shell parameters carry their values apart, so that they cannot become code.
	script *shell.Script
	values []string
	kind   nodetype.Type
}

// Prepare resolves a node's parameters in a scope and makes them fit its type. known says which names templates may
// begin with. What cannot be resolved or does not fit is a fault, unless permissive lets templates stand.
func Prepare(n *workflow.Node, kind nodetype.Type, scope template.Scope, known func(string) bool, permissive bool) (*Prepared, error) {
	params := map[string]json.RawMessage{}
	if err := json.Unmarshal(n.Params, &params); err != nil {
		return nil, fault.New(fault.Validation, "the parameters of node %q are no object", n.ID)
	}
	p := &Prepared{kind: kind}
	var command json.RawMessage
	if kind.Name == "shell" { // its command is code: values must not be put into it
		command = params["command"]
		delete(params, "command")
	}
	var unresolved []template.Unresolved
	for _, name := range slices.Sorted(maps.Keys(params)) {
		value, missing := template.Resolve(params[name], scope)
		for _, u := range missing {
			u.Path = strings.TrimSuffix(strings.Replace(name+"."+u.Path, ".[", "[", 1), ".")
			unresolved = append(unresolved, u)
		}
		params[name] = value
	}
	if command != nil {
		u, err := p.command(command, params, scope, known)
		if err != nil {
			return nil, err
		}
		unresolved = append(unresolved, u...)
	}
	if len(unresolved) > 0 && !permissive {
		return nil, unresolvedFault(n.ID, unresolved)
	}
	p.Unresolved = unresolved
	if err := fit(n.ID, kind, params); err != nil {
		return nil, err
	}
	var err error
	if p.Params, err = rawjson.Marshal(params); err != nil {
		return nil, fault.From(err)
	}
	return p, nil
}

// fit makes every parameter one of its type. A null is a parameter that was not given, but for one of any type and for
// tools, which say themselves what they take.
func fit(node string, kind nodetype.Type, params map[string]json.RawMessage) error {
	var faults []*fault.Fault
	for _, name := range slices.Sorted(maps.Keys(params)) {
		param, ok := kind.Param(name)
		value := bytes.TrimSpace(params[name])
		if !ok || string(value) == "null" && (param.Type == "any" || kind.MCP != nil) {
			continue
		}
		if string(value) == "null" {
			delete(params, name)
			continue
		}
		fitted, ok := nodetype.Fit(param.Type, value)
		if !ok {
			f := fault.New(fault.Execution, "Parameter %q of node %q must be of type %s and came as %s: %s",
				name, node, param.Type, rawjson.Kind(value), excerpt(string(value)))
			f.Node, f.Path = node, "params."+name
			faults = append(faults, f)
			continue
		}
		params[name] = fitted
	}
	for _, param := range kind.Params {
		if _, ok := params[param.Name]; !ok && param.Required {
			f := fault.New(fault.Execution, "Parameter %q of node %q is required and came to nothing", param.Name, node)
			f.Node, f.Path = node, "params."+param.Name
			faults = append(faults, f)
		}
	}
	if f := fault.Join(fault.Execution, "Node "+node, faults); f != nil {
		f.Node = node
		return f
	}
	return nil
}

func unresolvedFault(node string, unresolved []template.Unresolved) *fault.Fault {
	first := unresolved[0]
	f := fault.New(fault.Template, "Template %s not resolved: %s", first.Ref, first.Reason)
	f.Node, f.Path = node, "params."+first.Path
	for _, u := range unresolved {
		if name := u.Ref.Expression(); !slices.Contains(f.Missing, name) {
			f.Missing = append(f.Missing, name)
		}
	}
	if len(f.Missing) > 1 {
		f.Message += "; and " + strings.Join(f.Missing[1:], ", ")
	}
	return f.Suggest("Correct the reference, or the node that it reads; $%s would be the literal text", first.Ref)
}

// Run executes a prepared node once. It never panics and always gives a result; a fault in it says what to do next.
func Run(ctx context.Context, p *Prepared, t *Task) *Result {
	switch {
	case p.kind.MCP != nil:
		return runTool(ctx, p, t)
	case p.kind.Name == "shell":
		return runShell(ctx, p, t)
	case p.kind.Name == "http":
		return runHTTP(ctx, p)
	case p.kind.Name == "read-file":
		return runReadFile(ctx, p, t)
	case p.kind.Name == "write-file":
		return runWriteFile(p, t)
	case p.kind.Name == "echo":
		return runEcho(p)
	}
	return failed(fault.New(fault.Execution, "Node type %q cannot be run by this program", p.kind.Name), nil)
}

// defaultsOf keeps each built-in type's defaults, which are the same for all its nodes.
var defaultsOf sync.Map

// decode reads the parameters into the type's Go form, with the defaults for what was not given.
func decode[T any](p *Prepared) (T, *fault.Fault) {
	var v T
	defaults, ok := defaultsOf.Load(p.kind.Name)
	if !ok {
		defaults, _ = defaultsOf.LoadOrStore(p.kind.Name, p.kind.Defaults())
	}
	given, _ := defaults.(json.RawMessage)
	for _, raw := range []json.RawMessage{given, p.Params} {
		if err := json.Unmarshal(raw, &v); err != nil {
			return v, fault.New(fault.Execution, "the parameters of type %s: %v", p.kind.Name, err)
		}
	}
	return v, nil
}

// completed is a success with the outputs of the type's Go form.
func completed(outputs any) *Result {
	raw, err := rawjson.Marshal(outputs)
	if err != nil {
		return failed(fault.New(fault.Internal, "the outputs are no JSON: %v", err), nil)
	}
	return &Result{Action: workflow.ActionDefault, Outputs: raw}
}

// failed is a failure, with what outputs there are.
func failed(f *fault.Fault, outputs any) *Result {
	r := &Result{Action: workflow.ActionError, Fault: f}
	if outputs != nil {
		r.Outputs, _ = rawjson.Marshal(outputs)
	}
	return r
}

// excerpt is the beginning of a text that may be long.
func excerpt(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}
