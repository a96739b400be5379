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
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcpclient"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/shell"
	"github.com/pflow-suite/pflow/pkg/template"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// TimeoutError is the cause of a context whose time is over because of a limit that the node's author set.
type TimeoutError struct{ After time.Duration }

func (e *TimeoutError) Error() string {
	return "timed out after " + seconds(e.After) + " seconds"
}

// Host is what a run gives all its nodes.
type Host struct {
	// Dir is the run's working directory, absolute.
	Dir string
	// Env is the environment that nodes' processes get.
	Env []string
	// Suite is the folder in which the programs of the suite are looked for first.
	Suite string
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
	// Capture makes what a process's output is collected in; by default that is held in memory.
	Capture func() *event.Capture
	// Place tells where in the workflow's file a byte of the text of a parameter stands; nil where that is not known.
	Place func(param string, offset int) (file string, line, column int)
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
	// Unkept is set when the outputs could not be kept: then there are none.
	Unkept error
}

// Prepared is a node with its parameters resolved, ready to run.
type Prepared struct {
	// Params are the parameters as the node gets them: what its input digest is taken over.
	Params json.RawMessage
	// Unresolved are the templates that stand as they were written, in permissive mode.
	Unresolved []template.Unresolved
	// Shell parameters carry their values apart, so that they cannot become code.
	script  *shell.Script
	command string
	values  []string
	kind    nodetype.Type
	// locals are the names that only this node's templates know.
	locals map[string]json.RawMessage
}

// Binding is what a node's templates can begin with.
type Binding struct {
	// Scope gives the values of the workflow's inputs and of other nodes.
	Scope template.Scope
	// Known says which names that are.
	Known func(root string) bool
	// Locals are the names that only this node has, such as the item of its batch. They win over the others.
	Locals map[string]json.RawMessage
	// Carry replaces values of the node's inputs.
	Carry map[string]json.RawMessage
	// Permissive lets what cannot be resolved stand as it was written.
	Permissive bool
}

// over gives the scope in which names of the node's own win.
func over(locals map[string]json.RawMessage, scope template.Scope) template.Scope {
	if len(locals) == 0 {
		return scope
	}
	return func(ref template.Ref) (json.RawMessage, template.Standing) {
		if v, ok := locals[ref.Root]; ok {
			return v, template.Present
		}
		return scope(ref)
	}
}

// Value resolves a JSON value of a node, such as the items of its batch. What cannot be resolved is a template_error, also
// when the node is permissive.
func (b *Binding) Value(n *workflow.Node, path string, raw json.RawMessage) (json.RawMessage, error) {
	value, missing := template.Resolve(raw, over(b.Locals, b.Scope))
	if len(missing) == 0 {
		return value, nil
	}
	f := unresolvedFault(n.ID, missing)
	f.Path = path
	return nil, f
}

// Prepare resolves a node's parameters and makes them fit its type. What cannot be resolved or does not fit is a fault,
// unless the binding lets templates stand.
func Prepare(n *workflow.Node, kind nodetype.Type, b *Binding) (*Prepared, error) {
	params := map[string]json.RawMessage{}
	if err := json.Unmarshal(n.Params, &params); err != nil {
		return nil, fault.New(fault.Validation, "the parameters of node %q are no object", n.ID)
	}
	p := &Prepared{kind: kind}
	var apart []string // what must not be resolved as a whole
	if literal := workflow.Literal(n); literal != "" {
		apart = append(apart, literal)
	}
	if kind.Name == "shell" { // its command is code: values must not be put into it
		apart = append(apart, "command")
	}
	kept := map[string]json.RawMessage{}
	for _, name := range apart {
		if v, ok := params[name]; ok {
			kept[name] = v
			delete(params, name)
		}
	}
	fromInputs(kind, params, b)
	unresolved := p.inputs(kind, params, b)
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if name != inputsParam {
			params[name], unresolved = p.resolve(name, params[name], b.Scope, unresolved)
		}
	}
	if kind.Name == workflow.SubType && len(b.Carry) > 0 {
		carryOn(params, b.Carry)
	}
	if command, ok := kept["command"]; ok && kind.Name == "shell" {
		u, err := p.render(n, command, params, b)
		if err != nil {
			return nil, err
		}
		unresolved = append(unresolved, u...)
	} else {
		maps.Copy(params, kept)
	}
	if len(unresolved) > 0 && !b.Permissive {
		return nil, unresolvedFault(n.ID, unresolved)
	}
	p.Unresolved = unresolved
	if err := fit(n, kind, params); err != nil {
		return nil, err
	}
	p.Params = object(params)
	return p, nil
}

// fromInputs lets the workflow's inputs stand for parameters of their names that are not given, where the type says so.
func fromInputs(kind nodetype.Type, params map[string]json.RawMessage, b *Binding) {
	for _, p := range kind.Params {
		if _, given := params[p.Name]; p.Input && !given && b.Known(p.Name) {
			params[p.Name] = rawjson.Quote("${" + p.Name + "}")
		}
	}
}

// inputsParam gives names of the node's own to values.
const inputsParam = "inputs"

// inputs resolves the node's own inputs and makes them names for the other templates. They stay a parameter where the
// node's type has one of that name.
func (p *Prepared) inputs(kind nodetype.Type, params map[string]json.RawMessage, b *Binding) (unresolved []template.Unresolved) {
	p.locals = maps.Clone(b.Locals)
	raw, given := params[inputsParam]
	if !given && len(b.Carry) == 0 {
		return nil
	}
	if p.locals == nil {
		p.locals = map[string]json.RawMessage{}
	}
	maps.Copy(p.locals, b.Carry)
	if !given {
		return nil
	}
	outer := *p
	outer.locals = b.Locals
	value, unresolved := outer.resolve(inputsParam, raw, b.Scope, nil)
	var named map[string]json.RawMessage
	if json.Unmarshal(value, &named) == nil && named != nil {
		maps.Copy(named, b.Carry)
		maps.Copy(p.locals, named)
		if merged, err := rawjson.Marshal(named); err == nil {
			value = merged
		}
	}
	if _, own := kind.Param(inputsParam); own || kind.MCP != nil && len(kind.Params) == 0 { // such a tool does not say what it takes
		params[inputsParam] = value
	} else {
		delete(params, inputsParam)
	}
	return unresolved
}

// carryOn gives what a loop carries to the inputs of a sub-workflow, by whichever name they go.
func carryOn(params, carry map[string]json.RawMessage) {
	const otherName = "param_mapping"
	name := inputsParam
	if params[name] == nil && params[otherName] != nil {
		name = otherName
	}
	named := map[string]json.RawMessage{}
	if raw := params[name]; raw != nil && json.Unmarshal(raw, &named) != nil {
		return // fit will say what is wrong
	}
	if named == nil { // it came as null
		named = map[string]json.RawMessage{}
	}
	maps.Copy(named, carry)
	if merged, err := rawjson.Marshal(named); err == nil {
		params[name] = merged
	}
}

// resolve resolves one parameter.
func (p *Prepared) resolve(name string, raw json.RawMessage, scope template.Scope, unresolved []template.Unresolved) (json.RawMessage, []template.Unresolved) {
	value, missing := template.Resolve(raw, over(p.locals, scope))
	for _, u := range missing {
		u.Path = strings.TrimSuffix(strings.Replace(name+"."+u.Path, ".[", "[", 1), ".")
		unresolved = append(unresolved, u)
	}
	return value, unresolved
}

// fit makes every parameter one of its type. A null is a parameter that was not given, but for one of any type and for
// tools, which say themselves what they take.
func fit(n *workflow.Node, kind nodetype.Type, params map[string]json.RawMessage) error {
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
			f := fault.New(fault.Execution, "Parameter %q of node %q must be of type %s and came as %s%s: %s",
				name, n.ID, param.Type, rawjson.Kind(value), origin(n, name), excerpt(string(value)))
			f.Node, f.Path = n.ID, "params."+name
			faults = append(faults, f)
			continue
		}
		if kind.MCP == nil && !param.Allows(fitted) {
			f := fault.New(fault.Execution, "Parameter %q of node %q cannot be %s%s", name, n.ID, excerpt(string(value)), origin(n, name))
			f.Node, f.Path = n.ID, "params."+name
			faults = append(faults, f.Suggest("It is one of: %s", param.Enum))
			continue
		}
		params[name] = fitted
	}
	for _, param := range kind.Params {
		if _, ok := params[param.Name]; !ok && param.Required {
			f := fault.New(fault.Execution, "Parameter %q of node %q is required and came to nothing%s", param.Name, n.ID, origin(n, param.Name))
			f.Node, f.Path = n.ID, "params."+param.Name
			faults = append(faults, f)
		}
	}
	if f := fault.Join(fault.Execution, "Node "+n.ID, faults); f != nil {
		f.Node = n.ID
		return f
	}
	return nil
}

// origin says which templates a parameter's value came from.
func origin(n *workflow.Node, param string) string {
	var from []string
	uses, _ := template.Uses(json.RawMessage(gjson.GetBytes(n.Params, gjson.Escape(param)).Raw))
	for _, u := range uses {
		if name := u.Ref.String(); !slices.Contains(from, name) {
			from = append(from, name)
		}
	}
	if len(from) == 0 {
		return ""
	}
	return " from " + strings.Join(from, ", ")
}

func unresolvedFault(node string, unresolved []template.Unresolved) *fault.Fault {
	first := unresolved[0]
	f := fault.New(fault.Template, "Template %s not resolved: %s", first.Expr, first.Reason)
	f.Node, f.Path = node, "params."+first.Path
	for _, u := range unresolved {
		if name := u.Expr.Expression(); !slices.Contains(f.Missing, name) {
			f.Missing = append(f.Missing, name)
		}
	}
	if len(f.Missing) > 1 {
		f.Message += "; and " + strings.Join(f.Missing[1:], ", ")
	}
	return f.Suggest("Correct the reference, or the node that it reads; $%s would be the literal text", first.Expr)
}

// runners run the built-in types, but for those that a program runs and for workflow, which the engine does.
var runners = map[string]func(context.Context, *Prepared, *Task) *Result{
	"code":        runCode,
	"copy-file":   runCopyFile,
	"delete-file": runDeleteFile,
	"echo":        runEcho,
	"http":        runHTTP,
	"jq":          runJQ,
	"move-file":   runMoveFile,
	"read-file":   runReadFile,
	"shell":       runShell,
	"write-file":  runWriteFile,
}

// Run executes a prepared node once. It never panics and always gives a result; a fault in it says what to do next.
func Run(ctx context.Context, p *Prepared, t *Task) *Result {
	switch run, builtin := runners[p.kind.Name]; {
	case p.kind.MCP != nil:
		return runTool(ctx, p, t)
	case p.kind.Program != "":
		return runProgram(ctx, p, t)
	case builtin:
		return run(ctx, p, t)
	}
	return failed(fault.New(fault.Execution, "Node type %q cannot be run by this program", p.kind.Name), nil)
}

// defaultsOf keeps each built-in type's Go form with its defaults, which are the same for all its nodes. They are texts,
// numbers, true and false, so that a copy has nothing in common with it.
var defaultsOf sync.Map

// decode reads the parameters into the type's Go form, with the defaults for what was not given.
func decode[T any](p *Prepared) (T, *fault.Fault) {
	defaults, ok := defaultsOf.Load(p.kind.Name)
	if !ok {
		var v T
		if err := json.Unmarshal(p.kind.Defaults(), &v); err != nil {
			return v, fault.New(fault.Internal, "the defaults of type %s: %v", p.kind.Name, err)
		}
		defaults, _ = defaultsOf.LoadOrStore(p.kind.Name, v)
	}
	v, _ := defaults.(T)
	if err := json.Unmarshal(p.Params, &v); err != nil {
		return v, fault.New(fault.Execution, "the parameters of type %s: %v", p.kind.Name, err)
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
func excerpt(s string) string { return fault.Short(s, 80) }

// Locals are the names that only this node's templates know, with their values.
func (p *Prepared) Locals() map[string]json.RawMessage { return p.locals }
