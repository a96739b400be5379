package check

import (
	"fmt"
	"slices"

	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/program"
)

// next checks the actions that the code of a node ends with: that each names a node or is the action of an edge.
func (c *checker) next(n *workflow.Node, path string) {
	if n.Batch != nil {
		single := *n
		single.Batch = nil
		if assigned := workflow.NextOf(&single); assigned.Assigns() {
			c.warn(path, "Node %q: next has no effect in a batch", n.ID).Suggest("Choose what follows in a node after it").Node = n.ID
		}
		return
	}
	assigned := workflow.NextOf(n)
	c.neverSet(n, assigned)
	for _, l := range assigned.Literals {
		_, exists := c.nodes[l.Text]
		if exists || l.Text == workflow.EndOfBranch || l.Text == workflow.ActionDefault || l.Text == workflow.ActionError || c.edgeFor(n.ID, l.Text) {
			continue
		}
		f := c.located(c.fail(path, "Node %q: next = %q names no node", n.ID, l.Text), place{path: path, node: n, inText: true, offset: l.Offset})
		ids := c.w.NodeIDs()
		c.offer(f, l.Text, ids)
		if near, ok := c.nearest(l.Text, ids); ok {
			f.Suggest("Did you mean %q?", near)
		}
		f.Suggest(`Name a node, or "%s" to end the branch here, or add an edge with this action`, workflow.EndOfBranch)
	}
	if c.unlisted(n, assigned) {
		f := c.fail(path, "Node %q: next is known only when the code runs, and no edges say which nodes may follow", n.ID)
		c.located(f, place{path: path, node: n, inText: true, offset: assigned.Other}).
			Suggest(`List the nodes: - next: one, two (in JSON, edges with "action": "one" and "action": "two"), or assign literals; rename the variable if it is no action`)
	}
	c.nextBelow(n, assigned, path)
}

// unlisted reports whether code ends with actions that are known only when it runs, and no edges say which.
func (c *checker) unlisted(n *workflow.Node, assigned program.Next) bool {
	return assigned.Other >= 0 && !slices.ContainsFunc(c.w.Edges, func(e workflow.Edge) bool { return e.From == n.ID && workflow.Chooses(e.Action) })
}

// unreached reports the steps of a Markdown file that nothing leads to, if the file alone does not show them: code in another file
// may name steps. In the JSON form such nodes start the run. The result is false if all steps are reached.
func (c *checker) unreached() (found bool) {
	if !c.file.Markdown || c.w.StartNode != "" {
		return false
	}
	reached := map[string]bool{}
	for _, e := range c.w.AllEdges() {
		reached[e.To] = true
	}
	for i := range c.w.Nodes {
		if n := &c.w.Nodes[i]; c.unlisted(n, workflow.NextOf(n)) {
			return true // reported, and any step may follow
		}
	}
	for i, n := range c.w.Nodes {
		if i > 0 && !reached[n.ID] {
			found = true
			c.fail(nodePath(i), "Nothing leads to step %q", n.ID).Suggest("Name it in the next or on-error of a step, or remove it").Node = n.ID
		}
	}
	return found
}

// edgeFor reports whether the file has an edge for an action of a node.
func (c *checker) edgeFor(id, action string) bool {
	return slices.ContainsFunc(c.w.Edges, func(e workflow.Edge) bool { return e.From == id && e.Action == action })
}

// nextBelow warns of an action that leads where the action default leads as well.
func (c *checker) nextBelow(n *workflow.Node, assigned program.Next, path string) {
	if len(assigned.Literals) != 1 || assigned.Other >= 0 {
		return
	}
	l := assigned.Literals[0]
	to := map[string]bool{}
	for _, e := range c.w.AllEdges() {
		if e.From == n.ID && e.Action != workflow.ActionError {
			if to[e.Action] = e.To == l.Text; !to[e.Action] {
				return
			}
		}
	}
	if len(to) == 2 && to[workflow.ActionDefault] && to[l.Text] {
		c.located(c.warn(path, "Node %q: next = %q changes nothing, because node %q follows in either case", n.ID, l.Text, l.Text),
			place{path: path, node: n, inText: true, offset: l.Offset}).
			Suggest(`Assign next in the other case too, such as next = "%s", or remove it`, workflow.EndOfBranch)
	}
}

// neverSet warns of the edges of the file for actions that the code of their node never sets.
func (c *checker) neverSet(n *workflow.Node, assigned program.Next) {
	if assigned.Other >= 0 {
		return
	}
	for i, e := range c.w.Edges {
		set := slices.ContainsFunc(assigned.Literals, func(l program.Literal) bool { return l.Text == e.Action })
		if e.From == n.ID && workflow.Chooses(e.Action) && !set {
			c.warn(fmt.Sprintf("edges[%d].action", i), "Edge from %q to %q is never taken: the code of node %q never sets next to %q", e.From, e.To, e.From, e.Action).
				Suggest("Set next = %q in the code, or remove the edge", e.Action).Node = n.ID
		}
	}
}
