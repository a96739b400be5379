package check

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// control checks how a node runs: its batch, loop, retry and so on, and which of them exclude each other.
func (c *checker) control(n *workflow.Node, kind nodetype.Type, at string) {
	fail := func(field, format string, args ...any) *fault.Fault {
		f := c.fail(at+"."+field, format, args...)
		f.Node = n.ID
		return f
	}
	if n.Batch != nil {
		c.batch(n, at)
		if n.Loop != nil {
			fail("loop", "Node %q has both a batch and a loop: only one of them is allowed", n.ID).
				Suggest(`Move the loop into a workflow of its own that the batch runs: "type": "workflow"`)
		}
		if n.Approval != nil {
			fail("approval", "Node %q has both a batch and an approval: a person approves a node, not its items", n.ID).
				Suggest("Put the approval on a node before it")
		}
	}
	if n.Loop != nil {
		c.loop(n, kind, at)
		if n.Cache != nil {
			fail("cache", "Node %q has both a loop and a cache: a cached node would not run again", n.ID).Suggest("Remove one of them")
		}
	}
	if b := n.Batch; b != nil && c.known(b.As) {
		c.warn(at+".batch", "In node %q, ${%s} is the batch's item and hides the input or node of that name", n.ID, b.As).
			Suggest(`Give the item another name: "as": "…"`).Node = n.ID
	}
	c.attempts(n, at)
	if r := n.Retry; r != nil && len(r.OnlyExitCodes) > 0 && kind.Name != "" && kind.Name != "shell" && kind.Name != workflow.SubType {
		fail("retry.only_exit_codes", "Node %q (%s) has no exit status, so only_exit_codes would prevent every retry", n.ID, n.Type).
			Suggest("Remove only_exit_codes")
	}
}

// attempts warns of settings that lead to no other attempt.
func (c *checker) attempts(n *workflow.Node, at string) {
	warn := func(field, format string, args ...any) *fault.Fault {
		f := c.warn(at+"."+field, format, args...)
		f.Node = n.ID
		return f
	}
	if n.Retry != nil && n.Retry.Max == 1 {
		warn("retry", "Node %q: a retry with max 1 allows one attempt in all, so the node is never tried again", n.ID).
			Suggest("max counts the first attempt too: write 2 for one more attempt, or remove retry")
	}
	switch b := n.Batch; {
	case b == nil:
	case n.Retry != nil && b.MaxRetries > 1:
		warn("batch.max_retries", "Node %q has both retry and max_retries: retry determines the attempts at an item, and max_retries has no effect", n.ID).
			Suggest("Remove one of them")
	case b.MaxRetries == 1 && b.RetryWait > 0:
		warn("batch.retry_wait", "Node %q: retry_wait has no effect, since an item has one attempt in all", n.ID).
			Suggest(`Set max_retries, the number of attempts in all: "max_retries": 3`)
	}
}

// batch checks the items of a batch and whether a template uses them.
func (c *checker) batch(n *workflow.Node, at string) {
	items := gjson.ParseBytes(n.Batch.Items)
	path := at + ".batch.items"
	switch {
	case items.IsArray():
		if !items.Get("0").Exists() {
			c.warn(path, "Node %q: the batch has no items, so the node does nothing", n.ID).Node = n.ID
			return
		}
	default:
		expr, ok := template.Whole(items.Str)
		if !ok {
			c.fail(path, "Node %q: the items of a batch must be a list, or one template that resolves to a list, not the text %q", n.ID, items.Str).
				Suggest(`Write "items": "${node.key}"`).Node = n.ID
			return
		}
		if ref, ok := expr.Ref(); ok {
			c.fits(place{path: path, node: n}, ref, "list")
		}
	}
	uses, _ := template.Uses(n.Params) // plan.Uses leaves local names out
	if !slices.ContainsFunc(uses, func(u template.Use) bool { return u.Ref.Root == n.Batch.As || u.Ref.Root == plan.IndexName }) {
		c.warn(at+".batch", "Node %q: no template uses ${%s}, so it does the same for every item", n.ID, n.Batch.As).
			Suggest("Use ${%s}, or remove the batch", n.Batch.As).Node = n.ID
	}
}

// loop checks that a loop's condition is a template, and that each carried name has a value in the first iteration.
func (c *checker) loop(n *workflow.Node, kind nodetype.Type, at string) {
	condition, path := n.Loop.While, at+".loop.while"
	if n.Loop.Until != "" {
		condition, path = n.Loop.Until, at+".loop.until"
	}
	if _, ok := template.Whole(condition); !ok && strings.Contains(condition, "${") {
		c.fail(path, "Node %q: the condition of a loop must be one template, not the text %q", n.ID, condition).
			Suggest("Have the node output true or false, and refer to that: ${%s.key}", n.ID).Node = n.ID
	}
	own := plan.Inputs(n)
	names := make([]string, 0, len(n.Loop.Carry))
	for name := range n.Loop.Carry {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		at := rawjson.JoinPath(at+".loop.carry", name)
		switch {
		case !template.IsName(name):
			c.fail(at, "Node %q: invalid name %q in carry: templates cannot refer to it", n.ID, name).Suggest(nameRule).Node = n.ID
		case slices.Contains(own, name):
		case c.subDefault(n, kind, name):
		default:
			f := c.fail(at, "Node %q carries %q, which has no value in the first iteration", n.ID, name)
			f.Node = n.ID
			if near, ok := c.nearest(name, own); ok {
				f.Suggest("Did you mean %q?", near)
			}
			f.Suggest(`Give it a first value: "inputs": {"%s": …} in the node's params`, name)
		}
	}
}

// subDefault reports whether a name is an input of the node's sub-workflow that is not required.
func (c *checker) subDefault(n *workflow.Node, kind nodetype.Type, name string) bool {
	sub, ok := c.report.Subs[n.ID]
	if !ok {
		return kind.Name == workflow.SubType
	}
	in, ok := sub.File.Workflow.Inputs[name]
	return ok && !in.IsRequired()
}

// sortedNames returns the keys of a map in order.
func sortedNames[T any](m map[string]T) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// outputName returns the name under which a node has the given output of its sub-workflow.
func outputName(n *workflow.Node, name string) string {
	gjson.GetBytes(n.Params, "output_mapping").ForEach(func(from, to gjson.Result) bool {
		if from.Str != name || to.Str == "" {
			return true
		}
		name = to.Str
		return false
	})
	return name
}
