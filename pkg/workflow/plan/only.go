package plan

import (
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Only returns the plan of a run in which only one node takes part, whatever leads to it. The plan handles no failure of the
// node: what its edges lead to does not run.
func Only(w *workflow.Workflow, id string) *Plan {
	g := newGraph(w)
	p := &Plan{w: w, g: g, nodes: make([]nodeState, len(g.ids)), rank: make([]int, len(g.ids)), only: true}
	for i, other := range g.ids {
		if g.member[i], g.start[i] = other == id, other == id; other != id {
			p.nodes[i].phase = skipped
			continue
		}
		p.left++
		p.consider(i, nil)
	}
	return p
}

// Behind returns the nodes that the given nodes lead to, by edges with any action and by templates, however far. The given nodes
// are not among them, except those that another one leads to.
func Behind(w *workflow.Workflow, ids map[string]bool) map[string]bool {
	g := newGraph(w)
	behind := map[string]bool{}
	var stack []int
	visit := func(to int) {
		if !behind[g.ids[to]] {
			behind[g.ids[to]] = true
			stack = append(stack, to)
		}
	}
	follow := func(i int) {
		for _, r := range g.routes[i] {
			visit(r.to)
		}
		for _, r := range g.readers[i] {
			visit(r.node)
		}
	}
	for i, id := range g.ids {
		if ids[id] {
			follow(i)
		}
	}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		follow(i)
	}
	return behind
}
