package check

import "github.com/pflow-suite/pflow/pkg/workflow"

// certainty says which nodes run in every case in which another does, on a way on which nothing fails for good.
type certainty struct {
	index map[string]int
	// from are the nodes from which an edge comes to a node.
	from [][]int
	// follow are, for each node, those that run in every case in which it does, itself among them.
	follow []set
	// always are those that run in every run.
	always set
	// doubt says that there is a node of which this is not sure.
	doubt bool
	// looks counts the searches for a way round a node: in a large graph with many doubts they are given up.
	looks int
}

// set holds numbers of nodes, a bit each.
type set []uint64

func (s set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }
func (s set) add(i int)      { s[i/64] |= 1 << (i % 64) }

// unite adds all of another set.
func (s set) unite(other set) {
	for w := range s {
		s[w] |= other[w]
	}
}

// meet leaves what another set has too.
func (s set) meet(other set) {
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
	branches := make([]map[string][]int, n) // the nodes to which a node's edges lead, by their action
	for _, e := range w.Edges {
		from, to := c.index[e.From], c.index[e.To]
		if branches[from] == nil {
			branches[from] = map[string][]int{}
		}
		branches[from][e.Action] = append(branches[from][e.Action], to)
		c.from[to] = append(c.from[to], from)
		c.doubt = c.doubt || e.Action != workflow.ActionDefault
	}
	if !c.doubt {
		return c
	}
	words := (n + 63) / 64
	c.follow, c.always = make([]set, n), make(set, words)
	for k := range order {
		i := c.index[order[len(order)-1-k]]
		c.follow[i] = make(set, words)
		if branches[i][workflow.ActionDefault] != nil { // else the action default ends the branch
			c.follow[i] = c.common(branches[i], words)
		}
		c.follow[i].add(i)
	}
	for i, node := range w.Nodes {
		if w.StartNode == node.ID || w.StartNode == "" && len(c.from[i]) == 0 {
			c.always.unite(c.follow[i])
		}
	}
	return c
}

// common are the nodes that run whatever action is taken.
func (c *certainty) common(branches map[string][]int, words int) set {
	var all set
	for _, nodes := range branches {
		one := make(set, words)
		for _, to := range nodes {
			one.unite(c.follow[to])
		}
		if all == nil {
			all = one
			continue
		}
		all.meet(one)
	}
	return all
}

// maxLooks is how many ways round a node are looked for.
const maxLooks = 2000

// ran says whether a node has run whenever a reader runs: it always does, or every way to the reader leads through it, or
// through one after which it runs in every case. An empty reader is the run's end.
func (c *certainty) ran(id, reader string) bool {
	i := c.index[id]
	if !c.doubt || c.always.has(i) {
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
	return c.looks > maxLooks
}

// through says whether every way to a node leads through another.
func (c *certainty) through(other, node int) bool {
	if c.looks++; c.looks > maxLooks {
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
		if len(c.from[at]) == 0 { // a way that leads round it
			return false
		}
		stack = append(stack, c.from[at]...)
	}
	return true
}
