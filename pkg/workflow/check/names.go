package check

import (
	"maps"
	"slices"

	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// maxIDs is how many bytes the ids of all nodes may have together: a run tells of them in one line, see event.MaxLine.
const maxIDs = 512 << 10

// names checks that ids are distinct and not taken twice over.
func (c *checker) names() {
	if len(c.w.Nodes) == 0 {
		c.fail("nodes", "The workflow has no nodes").Suggest(`Add one, such as {"id": "hello", "type": "echo"}`)
	}
	for i, n := range c.w.Nodes {
		path := nodePath(i) + ".id"
		if first, ok := c.nodes[n.ID]; ok {
			c.fail(path, "Duplicate node id %q: nodes[%d] has it too", n.ID, first).Suggest("Give every node an id of its own")
			continue
		}
		if !template.IsName(n.ID) {
			c.fail(path, "Invalid node id %q: no template could name it", n.ID).Suggest("Begin with a letter or _, and go on with letters, digits, _ and -")
		}
		c.nodes[n.ID] = i
		if _, ok := c.w.Inputs[n.ID]; ok {
			c.warn(path, "Node %q has the name of an input: ${%s} is the input, and no template can read the node", n.ID, n.ID).
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
		c.fail("nodes", "The ids of the nodes have %d bytes together, and may have %d", total, maxIDs).
			Suggest("Give shorter ids, or move a part of the nodes into a workflow of its own")
	}
}
