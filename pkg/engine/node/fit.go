package node

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// fitParams converts every parameter to its declared type. A null stands for a parameter that is not given, except for a
// parameter of any type and for one of an MCP tool whose schema allows null. The arguments of a tool are checked by its schema.
func fitParams(n *workflow.Node, kind nodetype.Type, params map[string]json.RawMessage) error {
	var faults []*fault.Fault
	schema := toolSchema(kind)
	if schema != nil {
		dropNulls(kind, params)
	}
	for _, name := range sortedNames(params) {
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
			f := fault.New(fault.Execution, "Parameter %q of node %q must be of type %s, got %s%s: %s",
				name, n.ID, param.Type, rawjson.Kind(value), origin(n, name), shorten(string(value)))
			f.Node, f.Path = n.ID, "params."+name
			faults = append(faults, f.Suggest("Give a value of that type, or change the node that it comes from"))
			continue
		}
		if param.Type == nodetype.DurationType && !nodetype.IsLimit(fitted) {
			f := fault.New(fault.Execution, nodetype.NoTime)
			f.Node, f.Path = n.ID, "params."+name
			faults = append(faults, f.Suggest("Give a number of seconds, or text such as 500ms, 30s or 5m"))
			continue
		}
		if kind.MCP == nil && !param.Allows(fitted) {
			f := fault.New(fault.Execution, "Parameter %q of node %q cannot be %s%s", name, n.ID, shorten(string(value)), origin(n, name))
			f.Node, f.Path = n.ID, "params."+name
			faults = append(faults, f.Suggest("It is one of: %s", param.Enum))
			continue
		}
		params[name] = fitted
	}
	for _, param := range kind.Params {
		if _, ok := params[param.Name]; !ok && param.Required {
			f := fault.New(fault.Execution, "Parameter %q of node %q is required and has no value%s", param.Name, n.ID, origin(n, param.Name))
			f.Node, f.Path = n.ID, "params."+param.Name
			faults = append(faults, f.Suggest("Give it a value other than null"))
		}
	}
	if schema != nil && len(faults) == 0 {
		if f := fitArguments(n, kind, params); f != nil {
			return f
		}
	}
	if f := fault.Join(fault.Execution, "Node "+n.ID, faults); f != nil {
		f.Node = n.ID
		return f
	}
	return nil
}

// origin names the templates that a parameter's value came from, for an error message.
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

// unresolvedFault is the fault of a node whose templates cannot be resolved.
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
	return f.Suggest("Correct the reference, or the node that it reads; write $%s for the literal text", first.Expr)
}
