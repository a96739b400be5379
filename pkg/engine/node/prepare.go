package node

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/shell"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// Call is a node with its parameters resolved, ready to run.
type Call struct {
	// Params are the parameters as the node gets them: what its input digest is taken over.
	Params json.RawMessage
	// Unresolved are the templates that stand as they were written, in permissive mode.
	Unresolved []template.Unresolved
	// changed are the parameters whose text is not the one that stands in the file, for there are templates in it.
	changed []string
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
	return func(ref template.Ref) (json.RawMessage, template.Availability) {
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
func Prepare(n *workflow.Node, kind nodetype.Type, b *Binding) (*Call, error) {
	params := map[string]json.RawMessage{}
	if err := json.Unmarshal(n.Params, &params); err != nil {
		return nil, fault.New(fault.Validation, "the parameters of node %q are no object", n.ID)
	}
	p := &Call{kind: kind}
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
		if name == inputsParam {
			continue
		}
		written := params[name]
		params[name], unresolved = p.resolve(name, written, b.Scope, unresolved)
		if !bytes.Equal(params[name], written) && template.AsText(params[name]) != template.AsText(written) {
			p.changed = append(p.changed, name)
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
	if kind.Program != "" { // it is given its defaults: with others it is not the same node
		for _, param := range kind.Params {
			if _, given := params[param.Name]; !given && param.Default != nil {
				params[param.Name] = param.Default
			}
		}
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
func (p *Call) inputs(kind nodetype.Type, params map[string]json.RawMessage, b *Binding) (unresolved []template.Unresolved) {
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
func (p *Call) resolve(name string, raw json.RawMessage, scope template.Scope, unresolved []template.Unresolved) (json.RawMessage, []template.Unresolved) {
	value, missing := template.Resolve(raw, over(p.locals, scope))
	for _, u := range missing {
		u.Path = strings.TrimSuffix(strings.Replace(name+"."+u.Path, ".[", "[", 1), ".")
		unresolved = append(unresolved, u)
	}
	return value, unresolved
}

// Locals are the names that only this node's templates know, with their values.
func (p *Call) Locals() map[string]json.RawMessage { return p.locals }
