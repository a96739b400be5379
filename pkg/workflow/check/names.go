package check

import (
	"maps"
	"slices"

	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// maxIDs bounds the total bytes of all node ids, because one event of a run lists them, see event.MaxLine.
const maxIDs = 512 << 10

// nameRule is the suggestion for a name that templates cannot refer to.
const nameRule = "Start with a letter or _, then use letters, digits, _ and -"

// names checks that node ids are valid and distinct, and collects the names that templates can start with.
func (c *checker) names() {
	if len(c.w.Nodes) == 0 {
		c.fail("nodes", "The workflow has no nodes").Suggest(`Add one, such as {"id": "hello", "type": "echo"}`)
	}
	for i, n := range c.w.Nodes {
		path := nodePath(i) + ".id"
		if first, ok := c.nodes[n.ID]; ok {
			c.fail(path, "Duplicate node id %q: nodes[%d] has it too", n.ID, first).Suggest("Give each node its own id")
			continue
		}
		if !template.IsName(n.ID) {
			c.fail(path, "Invalid node id %q: templates cannot refer to it", n.ID).Suggest(nameRule)
		}
		if n.ID == workflow.EndOfBranch {
			c.fail(path, "A node cannot have the id %q: in an edge, and as the next of code, the word ends the branch", n.ID).Suggest("Give it another id, such as last")
		}
		c.nodes[n.ID] = i
		if _, ok := c.w.Inputs[n.ID]; ok {
			c.warn(path, "Node %q has the same name as an input: ${%s} is the input, so no template can read the node", n.ID, n.ID).
				Suggest("Rename one of them")
		}
	}
	c.roots = slices.Sorted(maps.Keys(c.w.Inputs))
	for i, n := range c.w.Nodes {
		if _, input := c.w.Inputs[n.ID]; !input && c.nodes[n.ID] == i {
			c.roots = append(c.roots, n.ID)
		}
	}
	total := 0
	for i := range c.w.Nodes {
		total += len(c.w.Nodes[i].ID) + len(`"",`)
	}
	if total > maxIDs {
		c.fail("nodes", "The node ids have %d bytes in all, and at most %d are allowed", total, maxIDs).
			Suggest("Use shorter ids, or move some of the nodes into a workflow of their own")
	}
}
