package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// place is the place of a reference: its JSON path, its node, which is nil for an output of the workflow, and its offset in
// the text at the path if inText is set.
type place struct {
	path   string
	node   *workflow.Node
	inText bool
	offset int
}

// at reports an error at a place.
func (c *checker) at(p place, format string, args ...any) *fault.Fault {
	return c.located(c.fail(p.path, format, args...), p)
}

// located sets the line, column and node of a fault.
func (c *checker) located(f *fault.Fault, p place) *fault.Fault {
	if p.inText {
		f.File, f.Line, f.Column = c.file.PlaceIn(p.path, p.offset)
	}
	if p.node != nil {
		f.Node = p.node.ID
	}
	return f
}

// malformed reports a template with a syntax error.
func (c *checker) malformed(p place, source string) *fault.Fault {
	if name, ok := template.UnknownFunction(source); ok {
		f := c.at(p, "Template %s has a function %q, which does not exist", source, name)
		c.instead(f, name, "The functions are", template.Functions())
		return f.Suggest("For any other work use a jq node or a code node")
	}
	return c.at(p, "Malformed template %s", source).
		Suggest(`A template is ${name}, ${node.key}, ${node.key[0]}, ${node["any key"]}, ${node.key | lines} or ${a.key ?? b.key ?? "text"}; for a literal ${ write $${`)
}

// reference checks that the input, or the node and output, that a template names exists, and that it has a value when the
// template is resolved.
func (c *checker) reference(p place, ref template.Ref, optional bool) {
	if _, ok := c.w.Inputs[ref.Root]; ok {
		c.used[ref.Root] = true
		c.inside(p, ref, 0, c.w.Inputs[ref.Root].Type)
		return
	}
	i, ok := c.nodes[ref.Root]
	if !ok {
		c.undefined(p, ref)
		return
	}
	n := &c.w.Nodes[i]
	if n == p.node && n.Loop != nil && !optional && (!strings.Contains(p.path, ".loop.") || strings.HasSuffix(p.path, ".loop.max_iterations")) {
		fixed := template.Expr{Terms: []template.Term{{Ref: &ref}, {Literal: json.RawMessage(`"first"`)}}}
		c.at(p, "Node %q has no outputs of its own in its first iteration: %s", n.ID, ref).Suggest("Give it a default: %s", fixed)
		return
	}
	if c.output(p, ref, n) && c.nested(p, ref, n, optional) && !optional && n != p.node {
		c.runs(p, ref, n)
	}
}

// undefined reports a name that neither an input nor a node has.
func (c *checker) undefined(p place, ref template.Ref) {
	f := c.at(p, "Template %s not resolved: no input or node has the name %q", ref, ref.Root)
	f.Type = fault.Template
	names := c.roots
	if p.node != nil {
		names = c.namesWith(c.localsAt(p))
	}
	f.Missing = []string{ref.Root}
	c.offer(f, ref.Root, names)
	if p.node != nil && slices.Contains(plan.Inputs(p.node), ref.Root) {
		f.Suggest("%s is one of the node's own inputs, and exists in its other parameters only: write its value here", ref.Root)
		return
	}
	if c.localOfOthers(f, ref.Root) {
		return
	}
	if near, ok := c.nearest(ref.Root, names); ok {
		fixed := ref
		fixed.Root = near
		f.Suggest("Did you mean %s?", fixed)
	} else {
		f.Suggest(`Declare it under "inputs", or use one of: %s`, strings.Join(f.Available, ", "))
	}
}

// localsAt lists the names of a node's own that a template at a place in the node can refer to.
func (c *checker) localsAt(p place) []string {
	names := plan.Locals(p.node)
	switch {
	case strings.Contains(p.path, "].params.inputs"):
		return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(plan.Inputs(p.node), name) })
	case strings.HasSuffix(p.path, "].batch.items"), strings.HasSuffix(p.path, "].approval.question"):
		return nil
	}
	return names
}

// namesWith lists the names that a template can start with, local ones first. After many errors it leaves the local names
// out to save memory.
func (c *checker) namesWith(locals []string) []string {
	if len(locals) == 0 || c.searches > maxSearches {
		return c.roots
	}
	return slices.Concat(locals, c.roots)
}

// localOfOthers adds a suggestion and returns true if a name exists only in nodes with a batch, a loop or an approval.
func (c *checker) localOfOthers(f *fault.Fault, name string) bool {
	switch name {
	case "item", plan.IndexName:
		f.Suggest(`${%s} exists only in a node with a "batch"`, name)
	case plan.IterationName:
		f.Suggest(`${%s} exists only in a node with a "loop"`, name)
	case plan.AnswerName:
		f.Suggest(`${%s} exists only in a node with an "approval"`, name)
	default:
		return false
	}
	return true
}

// outputsOf returns the outputs of a node. If open is true, it may have others. ok is false if its type is not known.
func (c *checker) outputsOf(n *workflow.Node) (outputs []nodetype.Output, open, ok bool) {
	if n.Batch != nil {
		return []nodetype.Output{
			{Name: "results", Type: "list"}, {Name: "count", Type: "int"}, {Name: "success_count", Type: "int"},
			{Name: "error_count", Type: "int"}, {Name: "errors", Type: "list"}, {Name: "batch_metadata", Type: "dict"}, {Name: "error", Type: "str"},
		}, false, true
	}
	outputs, open, ok = c.single(n)
	if !slices.ContainsFunc(outputs, func(o nodetype.Output) bool { return o.Name == "error" }) { // every failed node has it
		outputs = append(slices.Clip(outputs), nodetype.Output{Name: "error", Type: "str", Description: "why the node failed; absent if it did not"})
	}
	if n.Loop != nil {
		outputs = append(slices.Clip(outputs), nodetype.Output{Name: "loop_stopped", Type: "str"})
	}
	return outputs, open, ok
}

// single is outputsOf for a single run of the node, without its batch and loop.
func (c *checker) single(n *workflow.Node) (outputs []nodetype.Output, open, ok bool) {
	kind, ok := c.kindOf(n)
	if !ok {
		return nil, true, false
	}
	if sub, ok := c.report.Subs[n.ID]; ok {
		return subOutputs(n, sub.File.Workflow), false, true
	}
	return kind.Outputs, kind.ExtraOutputs, true
}

// output checks that a node has the output that a reference names. It returns false if it reported an error.
func (c *checker) output(p place, ref template.Ref, n *workflow.Node) bool {
	if len(ref.Path) == 0 || ref.Path[0].IsIndex || ref.Path[0].At != nil {
		return true
	}
	outputs, open, ok := c.outputsOf(n)
	if !ok {
		return true
	}
	key := ref.Path[0].Key
	i := slices.IndexFunc(outputs, func(o nodetype.Output) bool { return o.Name == key })
	if i < 0 {
		if !open {
			c.noOutput(p, ref, 0, fmt.Sprintf("Node %q (type: %s) does not output %q", n.ID, n.Type, key), outputs)
		}
		return open
	}
	if n.Batch != nil && key == "results" && len(ref.Path) > 1 && !c.result(p, ref, n) {
		return false
	}
	return c.inside(p, ref, 1, outputs[i].Type)
}

// result checks a reference to one of the results of a batch. It returns false if it reported an error.
func (c *checker) result(p place, ref template.Ref, n *workflow.Node) bool {
	if step := ref.Path[1]; n.Batch.ErrorHandling == plan.Continue && (step.IsIndex || step.At != nil) {
		c.located(c.warn(p.path, "${%s.results} holds only the items that succeeded, so %s may be the result of another item", n.ID, ref), p).
			Suggest(`Use "items": "${%s.results}" in a batch; each result has its item and its original_index`, n.ID)
	}
	if len(ref.Path) < 3 || ref.Path[2].Key == "" {
		return true
	}
	inner, open, ok := c.single(n)
	kind, _ := c.kindOf(n)
	inner = slices.DeleteFunc(slices.Clone(inner), func(o nodetype.Output) bool {
		return o.Name == "item" || o.Name == "original_index" || o.Name == "error" && kind.MCP == nil // a tool has the output error, null, after a success too
	})
	inner = append(inner, nodetype.Output{Name: "item", Type: "any"}, nodetype.Output{Name: "original_index", Type: "int"})
	if !ok || open || slices.ContainsFunc(inner, func(o nodetype.Output) bool { return o.Name == ref.Path[2].Key }) {
		return true
	}
	message := fmt.Sprintf("The results of node %q (batch of type: %s) have no %q", n.ID, n.Type, ref.Path[2].Key)
	if ref.Path[2].Key == "error" {
		c.at(p, "%s", message).Suggest("Failed items are in ${%s.errors}, each with index, item and error", n.ID).Missing = []string{ref.Expression()}
		return false
	}
	c.noOutput(p, ref, 2, message, inner)
	return false
}

// noOutput reports an output that does not exist. Its name is the given step of the reference.
func (c *checker) noOutput(p place, ref template.Ref, step int, message string, outputs []nodetype.Output) {
	c.offerOutputs(c.at(p, "%s", message), ref, step, outputs)
}

// offerOutputs adds the outputs that a reference may mean instead of the one that its given step names.
func (c *checker) offerOutputs(f *fault.Fault, ref template.Ref, step int, outputs []nodetype.Output) {
	f.Missing = []string{ref.Expression()}
	var names, available []string
	instead := func(name string) template.Ref {
		steps := append(slices.Clone(ref.Path[:step]), template.Step{Key: name})
		return template.Ref{Root: ref.Root, Path: steps}
	}
	for _, o := range outputs {
		names = append(names, o.Name)
		available = append(available, fmt.Sprintf("%s (%s)", instead(o.Name), o.Type))
	}
	c.offer(f, instead(ref.Path[step].Key).String(), available)
	if near, ok := c.nearest(ref.Path[step].Key, names); ok {
		fixed := instead(near)
		fixed.Path = append(fixed.Path, ref.Path[step+1:]...)
		f.Suggest("Did you mean %s?", fixed)
	} else if len(names) > 0 {
		f.Suggest("Available outputs: %s", strings.Join(f.Available, ", "))
	}
}

// inside checks that the next step of a reference fits the value it has reached. typ is the type of that value, and steps
// the number of steps that lead to it.
func (c *checker) inside(p place, ref template.Ref, steps int, typ string) bool {
	if len(ref.Path) <= steps {
		return true
	}
	so, next := template.Ref{Root: ref.Root, Path: ref.Path[:steps]}, ref.Path[steps]
	switch typ {
	case "int", "float", "bool", "integer", "number", "boolean":
		c.at(p, "%s is of type %s, so it has no keys or items: %s", so, typ, ref).Suggest("Use %s as it is", so)
		return false
	case "dict", "object":
		if next.IsIndex {
			c.at(p, "%s is an object, so it has no items: %s", so, ref).Suggest("Use one of its keys: %s", template.Ref{Root: so.Root, Path: append(slices.Clone(so.Path), template.Step{Key: "key"})})
			return false
		}
	case "list", "array":
		if !next.IsIndex && next.At == nil {
			c.at(p, "%s is a list, so it has no key %q: %s", so, next.Key, ref).
				Suggest("Use one of its items: %s", template.Ref{Root: so.Root, Path: append(append(slices.Clone(so.Path), template.Step{IsIndex: true}), ref.Path[steps:]...)})
			return false
		}
	}
	return true
}

// runs warns of a reference to a node that may not have run when the reader runs.
func (c *checker) runs(p place, ref template.Ref, n *workflow.Node) {
	if c.certain == nil {
		return
	}
	reader := ""
	if p.node != nil {
		reader = p.node.ID
	}
	if c.certain.ran(n.ID, reader) {
		return
	}
	who := "The output"
	if p.node != nil {
		who = fmt.Sprintf("Node %q", p.node.ID)
	}
	fixed := template.Expr{Terms: []template.Term{{Ref: &ref}, {Literal: json.RawMessage(`""`)}}}
	c.located(c.warn(p.path, "%s reads %s, but node %q does not run on every path, and without it the run fails here", who, ref, n.ID), p).
		Suggest("Give it a default: %s", fixed)
}
