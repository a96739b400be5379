package check

import "github.com/pflow-suite/pflow/pkg/workflow"

// certainty holds which nodes run whenever another node does, as long as no node fails the run.
type certainty struct {
	index map[string]int
	// from lists, for each node, the nodes whose edges lead to it.
	from [][]int
	// follow holds, for each node, the nodes that run whenever it does, including itself.
	follow []set
	// always holds the nodes that run in every run.
	always set
	// branches reports whether an edge has another action than default. Without such an edge, every node runs.
	branches bool
	// searches counts the searches for a path around a node. After maxPathSearches of them, nodes count as certain.
	searches int
}

// set is a set of node indexes, one bit each.
type set []uint64

func (s set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }
func (s set) add(i int)      { s[i/64] |= 1 << (i % 64) }

// union adds the members of another set.
func (s set) union(other set) {
	for w := range s {
		s[w] |= other[w]
	}
}

// intersect removes the members that are not in another set.
func (s set) intersect(other set) {
	for w := range s {
		s[w] &= other[w]
	}
}

func newCertainty(w *workflow.Workflow, order []string) *certainty {
	n := len(w.Nodes)
	c := &certainty{index: make(map[string]int, n), from: make([][]int, n)}
	for i, node := range w.Nodes {
		c.index[node.ID] = i
	}
	targets := make([]map[string][]int, n) // for each node, the nodes its edges lead to, by action
	chooses := make([]bool, n)
	for _, e := range w.AllEdges() {
		from, to := c.index[e.From], c.index[e.To]
		if targets[from] == nil {
			targets[from] = map[string][]int{}
		}
		chooses[from] = chooses[from] || workflow.Chooses(e.Action)
		c.branches = c.branches || e.Action != workflow.ActionDefault
		if e.Ends() {
			targets[from][e.Action] = append([]int{}, targets[from][e.Action]...)
			continue
		}
		targets[from][e.Action] = append(targets[from][e.Action], to)
		c.from[to] = append(c.from[to], from)
	}
	if !c.branches {
		return c
	}
	words := (n + 63) / 64
	c.follow, c.always = make([]set, n), make(set, words)
	for k := range order {
		i := c.index[order[len(order)-1-k]]
		c.follow[i] = make(set, words)
		if chooses[i] || targets[i][workflow.ActionDefault] != nil { // otherwise the action default ends the branch
			c.follow[i] = c.common(targets[i], words)
		}
		c.follow[i].add(i)
	}
	for i, node := range w.Nodes {
		if w.StartNode == node.ID || w.StartNode == "" && len(c.from[i]) == 0 {
			c.always.union(c.follow[i])
		}
	}
	return c
}

// common returns the nodes that run whatever action is taken.
func (c *certainty) common(targets map[string][]int, words int) set {
	var all set
	for _, nodes := range targets {
		one := make(set, words)
		for _, to := range nodes {
			one.union(c.follow[to])
		}
		if all == nil {
			all = one
			continue
		}
		all.intersect(one)
	}
	return all
}

// maxPathSearches bounds the searches in a large graph.
const maxPathSearches = 2000

// ran reports whether a node has run whenever a reader runs: it runs in every run, or every path to the reader leads through
// a node after which it always runs. An empty reader stands for the end of the run.
func (c *certainty) ran(id, reader string) bool {
	i := c.index[id]
	if !c.branches || c.always.has(i) {
		return true
	}
	if reader == "" {
		return false
	}
	for d := range c.follow {
		if c.follow[d].has(i) && c.through(d, c.index[reader]) {
			return true
		}
	}
	return c.searches > maxPathSearches
}

// through reports whether every path to a node leads through another.
func (c *certainty) through(other, node int) bool {
	if c.searches++; c.searches > maxPathSearches {
		return false
	}
	seen := map[int]bool{other: true}
	stack := []int{node}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[at] {
			continue
		}
		seen[at] = true
		if len(c.from[at]) == 0 { // a path around the other node
			return false
		}
		stack = append(stack, c.from[at]...)
	}
	return true
}
