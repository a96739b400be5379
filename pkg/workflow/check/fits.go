package check

import (
	"encoding/json"
	"strings"

	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// wholeType is the type that a value must have in the place where a reference stands; ok is false where it becomes part
// of a text, or any type will do.
func (c *checker) wholeType(params map[string]json.RawMessage, u template.Use, kind nodetype.Type) (typ string, ok bool) {
	name, ok := strings.CutPrefix(u.Path, "params.")
	if !ok {
		return "", false
	}
	var text string
	if json.Unmarshal(params[name], &text) != nil {
		return "", false
	}
	expr, ok := template.Whole(text)
	if _, single := expr.Ref(); !ok || !single {
		return "", false
	}
	p, ok := kind.Param(name)
	return p.Type, ok
}

// fits checks that what a reference gives can be what it is used as.
func (c *checker) fits(p place, ref template.Ref, want string) {
	got := c.typeOf(ref)
	if got == "" || fitting(got, want) {
		return
	}
	f := c.at(p, "%s is of type %s, and a value of type %s is needed here", ref, got, want)
	if want == "list" || want == "dict" {
		f.Suggest("Name a value of that type, or JSON text that holds one")
		return
	}
	f.Suggest("Name a value of that type")
}

// typeOf is the declared type of what a reference gives, in the words of node types; empty when that is not known.
func (c *checker) typeOf(ref template.Ref) string {
	if in, ok := c.w.Inputs[ref.Root]; ok {
		if len(ref.Path) > 0 {
			return ""
		}
		return map[string]string{"string": "str", "number": "float", "integer": "int", "boolean": "bool", "object": "dict", "array": "list"}[in.Type]
	}
	i, ok := c.nodes[ref.Root]
	if !ok || len(ref.Path) > 1 {
		return ""
	}
	if len(ref.Path) == 0 {
		return "dict"
	}
	outputs, _, _ := c.outputsOf(&c.w.Nodes[i])
	for _, o := range outputs {
		if o.Name == ref.Path[0].Key {
			return o.Type
		}
	}
	return ""
}

// fitting says whether a value of one type can be one of another. Any value becomes text, and text may spell any value.
func fitting(got, want string) bool {
	switch {
	case got == want, got == "any", want == "any", want == "", got == "str", want == "str":
		return true
	case got == "int" || got == "float":
		return want == "int" || want == "float"
	case got != "bool" && got != "list" && got != "dict": // a type that is not ours
		return true
	}
	return want != "int" && want != "float" && want != "bool" && want != "list" && want != "dict"
}

// subOutputs are what a node that runs a workflow leaves behind.
func subOutputs(n *workflow.Node, w *workflow.Workflow) []nodetype.Output {
	var outputs []nodetype.Output
	for _, name := range sortedNames(w.Outputs) {
		typ := map[string]string{"string": "str", "number": "float", "integer": "int", "boolean": "bool", "object": "dict", "array": "list"}[w.Outputs[name].Type]
		if typ == "" {
			typ = "any"
		}
		outputs = append(outputs, nodetype.Output{Name: outputName(n, name), Type: typ, Description: w.Outputs[name].Description})
	}
	return outputs
}
