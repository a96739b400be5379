package check

import (
	"encoding/json"
	"strings"

	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// wholeType returns the type that the value of a use must have; ok is false if the value becomes part of a text, or may have
// any type.
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

// fits checks that the value of a reference can have the type that is needed.
func (c *checker) fits(p place, ref template.Ref, want string) {
	got := c.typeOf(ref)
	if got == "" || fitting(got, want) {
		return
	}
	f := c.at(p, "%s is of type %s, but a value of type %s is needed here", ref, got, want)
	if want == "list" || want == "dict" {
		f.Suggest("Use a value of type %s, or text that holds one as JSON", want)
		return
	}
	f.Suggest("Use a value of type %s", want)
}

// typeOf returns the declared type of a reference's value, in the words of node types, or "" if it is not known.
func (c *checker) typeOf(ref template.Ref) string {
	if in, ok := c.w.Inputs[ref.Root]; ok {
		if len(ref.Path) > 0 {
			return ""
		}
		return typeWords()[in.Type]
	}
	i, ok := c.nodes[ref.Root]
	if !ok {
		return ""
	}
	part, known := c.partOf(&c.w.Nodes[i], ref.Path)
	if typ := part.Type(); known && typ != "any" {
		return typ
	}
	if len(ref.Path) > 1 {
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

// fitting reports whether a value of one type can be used as another. Any value can become text, and text can spell any
// value.
func fitting(got, want string) bool {
	switch {
	case got == want, got == "any", want == "any", want == "", got == "str", want == "str":
		return true
	case got == "int" || got == "float":
		return want == "int" || want == "float" || want == nodetype.DurationType
	case got != "bool" && got != "list" && got != "dict": // a type of an MCP tool
		return true
	}
	return want != "int" && want != "float" && want != nodetype.DurationType && want != "bool" && want != "list" && want != "dict"
}

// typeWords are the types of inputs and outputs in the words of node types.
func typeWords() map[string]string {
	return map[string]string{"string": "str", "number": "float", "integer": "int", "boolean": "bool", "object": "dict", "array": "list"}
}

// outputType checks that the value of an output can have the type that is declared for it.
func (c *checker) outputType(name, at string) {
	declared := c.w.Outputs[name]
	if !declared.KnownType() {
		f := c.warn(at+".type", "Output %q has the type %q, which does not exist, so its value is not checked", name, declared.Type)
		c.instead(f, declared.Type, "A type is one of", workflow.InputTypes())
		return
	}
	typ := declared.ValueType()
	expr, ok := template.Whole(template.Source(declared.Source))
	ref, single := expr.Ref()
	if typ == "" || !ok || !single {
		return
	}
	got, want := c.typeOf(ref), typeWords()[typ]
	if got == "" || fitting(got, want) || typ == "boolean" && got == "int" { // 0 and 1 are booleans
		return
	}
	c.fail(at+".type", "Output %q is declared as %s, but %s is of type %s", name, typ, ref, got).Suggest("Declare the type of the value, or another source")
}

// subOutputs returns the outputs of a node that runs the given workflow. A workflow that declares none has those of its last
// nodes: which they are may depend on the run, so they are all of its nodes here.
func subOutputs(n *workflow.Node, w *workflow.Workflow) []nodetype.Output {
	var outputs []nodetype.Output
	if len(w.Outputs) == 0 {
		for _, inner := range w.Nodes {
			outputs = append(outputs, nodetype.Output{Name: outputName(n, inner.ID), Type: "dict", Description: inner.Purpose})
		}
	}
	for _, name := range sortedNames(w.Outputs) {
		declared := w.Outputs[name]
		typ := typeWords()[declared.ValueType()]
		if typ == "" {
			typ = "any"
		}
		outputs = append(outputs, nodetype.Output{Name: outputName(n, name), Type: typ, Description: w.Outputs[name].Description})
	}
	return outputs
}
