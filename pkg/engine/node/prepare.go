package node

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/shell"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// Call is a node with its parameters resolved, ready to run.
type Call struct {
	// Params are the resolved parameters. The node's input digest is taken over them.
	Params json.RawMessage
	// Unresolved are the templates that permissive mode left as they were written.
	Unresolved []template.Unresolved
	// Timeout is the parameter timeout of a node whose type does not declare it; 0 if there is none.
	Timeout time.Duration
	// changed names the parameters whose text differs from the file's because templates were resolved in it.
	changed []string
	// A shell command is rendered with its values apart, so that they cannot become code.
	script  *shell.Script
	command string
	values  []string
	// whole is the template that the command consists of, or empty.
	whole string
	// asksStatus is Binding.AsksStatus.
	asksStatus bool
	kind       nodetype.Type
	// locals are the names that only this node's templates have.
	locals map[string]json.RawMessage
	// long is the text of the parameter LongParam if that is not in Params, else nil.
	long *LongText
}

// Binding holds what a node's templates can refer to.
type Binding struct {
	// Scope returns the values of the workflow's inputs and of other nodes.
	Scope template.Scope
	// Stream returns the values of Scope as values of the event stream, in which bytes keep their content type. It may be nil.
	Stream template.Scope
	// Long returns the text that a reference stands for if it is too long to be held in memory, else nil. It may be nil.
	Long func(ref template.Ref) *LongText
	// Known reports whether Scope has a name.
	Known func(root string) bool
	// Locals are names that only this node has, such as the item of its batch. They take precedence over Scope.
	Locals map[string]json.RawMessage
	// Carry replaces values of the node's inputs.
	Carry map[string]json.RawMessage
	// Permissive leaves templates that cannot be resolved as they were written.
	Permissive bool
	// AsksStatus makes every exit status of a shell command other than 0 a failure (see [plan.Plan.AsksStatus]).
	AsksStatus bool
}

// withLocals returns a scope in which the local names take precedence.
func withLocals(locals map[string]json.RawMessage, scope template.Scope) template.Scope {
	if len(locals) == 0 {
		return scope
	}
	return func(ref template.Ref) (json.RawMessage, template.Availability) {
		if v, ok := locals[ref.Root]; ok {
			return v, template.Present
		}
		return scope(ref)
	}
}

// Value resolves a JSON value of a node, such as the items of its batch. If a template cannot be resolved, it returns a
// template_error, also in permissive mode.
func (b *Binding) Value(n *workflow.Node, path string, raw json.RawMessage) (json.RawMessage, error) {
	value, missing := template.Resolve(raw, withLocals(b.Locals, b.Scope))
	if len(missing) == 0 {
		return value, nil
	}
	f := unresolvedFault(n.ID, missing)
	f.Path = path
	return nil, f
}

// Prepare resolves a node's parameters and converts them to the types that its node type declares. It returns a fault if a
// template cannot be resolved, unless the binding is permissive, or if a parameter does not fit.
func Prepare(n *workflow.Node, kind nodetype.Type, b *Binding) (*Call, error) {
	params := map[string]json.RawMessage{}
	if err := json.Unmarshal(n.Params, &params); err != nil {
		return nil, fault.New(fault.Validation, "the parameters of node %q are not an object", n.ID)
	}
	p := &Call{kind: kind}
	var apart []string // parameters that are not resolved here
	if literal := workflow.Literal(n); literal != "" {
		apart = append(apart, literal)
	}
	if kind.Name == "shell" { // its command is code, into which values must not be inserted
		apart = append(apart, "command")
	}
	kept := map[string]json.RawMessage{}
	for _, name := range apart {
		if v, ok := params[name]; ok {
			kept[name] = v
			delete(params, name)
		}
	}
	defaultFromInputs(kind, params, b)
	unresolved := p.resolveInputs(kind, params, b)
	p.takeLong(kind, params, b)
	content := params["content"]
	for _, name := range sortedNames(params) {
		if name == inputsParam {
			continue
		}
		written := params[name]
		params[name], unresolved = p.resolve(name, written, b.Scope, unresolved)
		if textDiffers(params[name], written) {
			p.changed = append(p.changed, name)
		}
	}
	if kind.Name == workflow.SubType && len(b.Carry) > 0 {
		applyCarry(params, b.Carry)
	}
	if command, ok := kept["command"]; ok && kind.Name == "shell" {
		u, err := p.renderCommand(n, command, params, b)
		if err != nil {
			return nil, err
		}
		unresolved = append(unresolved, u...)
	} else {
		maps.Copy(params, kept)
		if len(unresolved) == 0 && n.Type == workflow.CodeType {
			if f := refusedInput(n, params); f != nil {
				return nil, f
			}
		}
	}
	if len(unresolved) > 0 && !b.Permissive {
		return nil, unresolvedFault(n.ID, unresolved)
	}
	p.Unresolved = unresolved
	if kind.Name == "write-file" {
		p.keepBytes(content, params, b.Stream)
	}
	if err := p.takeTimeout(n, params); err != nil {
		return nil, err
	}
	if err := fitParams(n, kind, params); err != nil {
		return nil, err
	}
	if kind.Program != "" { // the program receives the defaults, and other defaults are another input digest
		for _, param := range kind.Params {
			if _, given := params[param.Name]; !given && param.Default != nil {
				params[param.Name] = param.Default
			}
		}
	}
	p.Params = marshalParams(params)
	return p, nil
}

// textDiffers reports whether two JSON values have different texts. It does not parse a value that is far longer than the other.
func textDiffers(resolved, written json.RawMessage) bool {
	const longest = 6 // bytes of a character that is escaped
	if bytes.Equal(resolved, written) {
		return false
	}
	return len(resolved) > longest*len(written)+2 || template.AsText(resolved) != template.AsText(written)
}

// takeTimeout removes the parameter timeout, which the node of any type may have, unless the node's type declares it.
func (p *Call) takeTimeout(n *workflow.Node, params map[string]json.RawMessage) error {
	raw, given := params[nodetype.TimeoutParam]
	if _, declared := p.kind.Param(nodetype.TimeoutParam); !given || declared || !p.kind.LimitsTime() {
		return nil
	}
	delete(params, nodetype.TimeoutParam)
	if string(raw) == "null" {
		return nil
	}
	if nodetype.IsLimit(raw) {
		p.Timeout, _ = nodetype.DurationOf(raw)
		return nil
	}
	f := fault.New(fault.Execution, "Parameter %q of node %q must be a duration of more than 0 seconds, got %s%s: %s",
		nodetype.TimeoutParam, n.ID, rawjson.Kind(raw), origin(n, nodetype.TimeoutParam), shorten(string(raw)))
	f.Node, f.Path = n.ID, "params."+nodetype.TimeoutParam
	return f.Suggest("Give a number of seconds, or text such as 500ms, 30s or 5m")
}

// defaultFromInputs sets parameters that are not given to the workflow's inputs of the same names, for parameters whose type
// declares it.
func defaultFromInputs(kind nodetype.Type, params map[string]json.RawMessage, b *Binding) {
	for _, p := range kind.Params {
		if _, given := params[p.Name]; p.Input && !given && b.Known(p.Name) {
			params[p.Name] = rawjson.Quote("${" + p.Name + "}")
		}
	}
}

// inputsParam is the parameter whose members become names for the other parameters of the node.
const inputsParam = "inputs"

// resolveInputs resolves the node's inputs and makes them local names. They stay a parameter only if the node type has one
// of that name.
func (p *Call) resolveInputs(kind nodetype.Type, params map[string]json.RawMessage, b *Binding) (unresolved []template.Unresolved) {
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
	if _, own := kind.Param(inputsParam); own || kind.MCP != nil && len(kind.Params) == 0 { // such a tool declares no parameters
		params[inputsParam] = value
	} else {
		delete(params, inputsParam)
	}
	return unresolved
}

// applyCarry puts the values that a loop carries into the inputs of a sub-workflow, under either of the parameter's two
// names.
func applyCarry(params, carry map[string]json.RawMessage) {
	const otherName = "param_mapping"
	name := inputsParam
	if params[name] == nil && params[otherName] != nil {
		name = otherName
	}
	named := map[string]json.RawMessage{}
	if raw := params[name]; raw != nil && json.Unmarshal(raw, &named) != nil {
		return // fitParams reports what is wrong
	}
	if named == nil { // the parameter was null
		named = map[string]json.RawMessage{}
	}
	maps.Copy(named, carry)
	if merged, err := rawjson.Marshal(named); err == nil {
		params[name] = merged
	}
}

// resolve resolves one parameter. It appends the templates that cannot be resolved to unresolved.
func (p *Call) resolve(name string, raw json.RawMessage, scope template.Scope, unresolved []template.Unresolved) (json.RawMessage, []template.Unresolved) {
	value, missing := template.Resolve(raw, withLocals(p.locals, scope))
	for _, u := range missing {
		u.Path = strings.TrimSuffix(strings.Replace(name+"."+u.Path, ".[", "[", 1), ".")
		unresolved = append(unresolved, u)
	}
	return value, unresolved
}

// Locals returns the names that only this node's templates have, with their values.
func (p *Call) Locals() map[string]json.RawMessage { return p.locals }
