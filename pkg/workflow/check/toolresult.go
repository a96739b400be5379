package check

import (
	"slices"

	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// partOf returns the schema of what the first steps of a reference to an MCP tool lead to. ok is false if it is not known.
func (c *checker) partOf(n *workflow.Node, path []template.Step) (part nodetype.Part, ok bool) {
	kind, known := c.kindOf(n)
	if !known || n.Batch != nil || len(path) == 0 || path[0].Key == "" || path[0].At != nil {
		return part, false
	}
	part, ok = kind.MCP.Part(path[0].Key)
	for _, step := range path[1:] {
		switch {
		case !ok:
			return part, false
		case step.IsIndex:
			part, ok = part.Item(step.Index)
		case step.At != nil: // a key or an index that only the run knows
			return part, false
		default:
			part, ok = part.Key(step.Key)
		}
	}
	return part, ok
}

// partType returns the type of a member of an object.
func partType(object nodetype.Part, name string) string {
	member, _ := object.Key(name)
	return member.Type()
}

// undeclared warns of an output that an MCP tool does not have by its output schema, if the schema does not let it have others.
func (c *checker) undeclared(p place, ref template.Ref, n *workflow.Node) {
	kind, known := c.kindOf(n)
	if !known || kind.MCP == nil || n.Batch != nil || len(ref.Path) == 0 || ref.Path[0].Key == "" || ref.Path[0].At != nil {
		return
	}
	result, known := kind.MCP.Part("result")
	if !known {
		return
	}
	names, closed, listed := result.Keys()
	switch result.Type() {
	case "any", "dict":
		if !closed && !listed {
			return
		}
	default: // a value without fields
		names = nil
	}
	outputs, _, _ := c.outputsOf(n)
	outputs = slices.Clone(outputs)
	has := func(name string) bool {
		return slices.ContainsFunc(outputs, func(o nodetype.Output) bool { return o.Name == name })
	}
	for _, name := range slices.Concat(names, []string{"content", "resource_links"}) {
		if !has(name) {
			outputs = append(outputs, nodetype.Output{Name: name, Type: partType(result, name)})
		}
	}
	if has(ref.Path[0].Key) {
		return
	}
	f := c.warn(p.path, "Node %q (type: %s) has no output %q by the output schema of the tool", n.ID, n.Type, ref.Path[0].Key)
	c.offerOutputs(c.located(f, p), ref, 0, outputs)
}

// nested checks the steps of a reference below an output of an MCP tool by the tool's output schema. It returns false if it
// reported an error.
func (c *checker) nested(p place, ref template.Ref, n *workflow.Node, optional bool) bool {
	if !optional {
		c.undeclared(p, ref, n)
	}
	for steps := 1; steps < len(ref.Path); steps++ {
		part, ok := c.partOf(n, ref.Path[:steps])
		if !ok {
			return true
		}
		if !c.inside(p, ref, steps, part.Type()) {
			return false
		}
		next := ref.Path[steps]
		names, closed, listed := part.Keys()
		if optional || !closed && !listed || next.IsIndex || next.At != nil || slices.Contains(names, next.Key) {
			continue
		}
		var outputs []nodetype.Output
		for _, name := range names {
			outputs = append(outputs, nodetype.Output{Name: name, Type: partType(part, name)})
		}
		so := template.Ref{Root: ref.Root, Path: ref.Path[:steps]}
		message := so.String() + " has no key \"" + next.Key + "\" by the output schema of the tool"
		if !closed {
			c.offerOutputs(c.located(c.warn(p.path, "%s", message), p), ref, steps, outputs)
			return true
		}
		c.noOutput(p, ref, steps, message, outputs)
		return false
	}
	return true
}
