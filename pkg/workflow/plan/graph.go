// Package plan says which node comes next. Given the workflow and the events so far it knows which nodes are ready, and
// each settled node is applied to it. It is pure: no clock, no randomness, no goroutine, no I/O; so the engine, a resume,
// the check and the graph are all the same code.
package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// graph is a workflow's nodes as numbers in the file's order, with both kinds of edges.
type graph struct {
	ids   []string
	index map[string]int
	// routes are the edges that leave a node, arrivals how many come to it.
	routes   [][]route
	arrivals []int
	// readers are the nodes whose templates read a node, reads the other way round.
	readers, reads [][]reading
	// member says whether the node takes part in a run, start whether it waits for no edge.
	member, start []bool
}

type route struct {
	to     int
	action string
}

// reading is a template's reference to a node. An optional one is of a template that has other values to try.
type reading struct {
	node     int
	optional bool
}

// newGraph reads a workflow whose nodes have distinct ids and whose edges end at nodes.
func newGraph(w *workflow.Workflow) *graph {
	n := len(w.Nodes)
	g := &graph{
		ids: w.NodeIDs(), index: make(map[string]int, n), routes: make([][]route, n), arrivals: make([]int, n),
		readers: make([][]reading, n), reads: make([][]reading, n), member: make([]bool, n), start: make([]bool, n),
	}
	for i, id := range g.ids {
		g.index[id] = i
	}
	for _, e := range w.Edges {
		from, ok := g.index[e.From]
		to, ok2 := g.index[e.To]
		if ok && ok2 {
			g.routes[from] = append(g.routes[from], route{to, e.Action})
		}
	}
	for i := range w.Nodes {
		g.read(w, i)
	}
	g.choose(w)
	return g
}

// read notes which nodes the templates of a node read. That a node with a loop reads itself orders nothing.
func (g *graph) read(w *workflow.Workflow, i int) {
	uses, _ := Uses(&w.Nodes[i])
	if len(uses) == 0 {
		return
	}
	at := map[int]int{}
	for _, u := range uses {
		if _, isInput := w.Inputs[u.Ref.Root]; isInput {
			continue
		}
		from, ok := g.index[u.Ref.Root]
		if !ok || from == i && w.Nodes[i].Loop != nil {
			continue
		}
		if k, seen := at[from]; seen {
			g.reads[i][k].optional = g.reads[i][k].optional && u.Optional
			continue
		}
		at[from] = len(g.reads[i])
		g.reads[i] = append(g.reads[i], reading{from, u.Optional})
	}
	for _, r := range g.reads[i] {
		g.readers[r.node] = append(g.readers[r.node], reading{i, r.optional})
	}
}

// choose says which nodes take part and which start. With a start node: exactly what it reaches. With edges and none:
// every node, and those without an edge that comes to them start. With no edges at all: every node, ordered by templates.
func (g *graph) choose(w *workflow.Workflow) {
	first, chosen := g.index[w.StartNode]
	if chosen && w.StartNode != "" {
		stack := []int{first}
		g.member[first], g.start[first] = true, true
		for len(stack) > 0 {
			i := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, r := range g.routes[i] {
				if !g.member[r.to] {
					g.member[r.to] = true
					stack = append(stack, r.to)
				}
			}
		}
	} else {
		for i := range g.member {
			g.member[i] = true
		}
	}
	for i, routes := range g.routes {
		for _, r := range routes {
			if g.member[i] {
				g.arrivals[r.to]++
			}
		}
	}
	for i := range g.start {
		g.start[i] = g.start[i] || g.member[i] && g.arrivals[i] == 0
	}
}

// Unconnected lists the nodes that no edge touches in a workflow that has edges and no start node: they would never run.
func Unconnected(w *workflow.Workflow) []string {
	if len(w.Edges) == 0 || w.StartNode != "" {
		return nil
	}
	touched := map[string]bool{}
	for _, e := range w.Edges {
		touched[e.From], touched[e.To] = true, true
	}
	var loose []string
	for _, id := range w.NodeIDs() {
		if !touched[id] {
			loose = append(loose, id)
		}
	}
	return loose
}

// Unreachable lists the nodes that do not run because the start node does not lead to them.
func Unreachable(w *workflow.Workflow) []string {
	g := newGraph(w)
	var left []string
	for i, id := range g.ids {
		if !g.member[i] {
			left = append(left, id)
		}
	}
	return left
}

// order sorts the nodes so that each comes after all that it waits for, or gives a cycle.
func (g *graph) order() (sorted []int, cycle []int) {
	waits := make([]int, len(g.ids))
	next := func(i int, f func(int)) {
		for _, r := range g.routes[i] {
			f(r.to)
		}
		for _, r := range g.readers[i] {
			f(r.node)
		}
	}
	for i := range g.ids {
		next(i, func(to int) { waits[to]++ })
	}
	for i := range g.ids {
		if waits[i] == 0 {
			sorted = append(sorted, i)
		}
	}
	for at := 0; at < len(sorted); at++ {
		next(sorted[at], func(to int) {
			if waits[to]--; waits[to] == 0 {
				sorted = append(sorted, to)
			}
		})
	}
	if len(sorted) == len(g.ids) {
		return sorted, nil
	}
	return nil, g.findCycle(waits)
}

// findCycle walks backwards from a node that still waits, always to one that waits too, until it meets itself.
func (g *graph) findCycle(waits []int) []int {
	before := make([]int, len(g.ids))
	for i := range g.ids {
		if waits[i] == 0 {
			continue
		}
		for _, r := range g.routes[i] {
			before[r.to] = i
		}
		for _, r := range g.readers[i] {
			before[r.node] = i
		}
	}
	at := 0
	for waits[at] == 0 {
		at++
	}
	seen := map[int]int{}
	var path []int
	for {
		if from, ok := seen[at]; ok {
			path = path[from:]
			break
		}
		seen[at] = len(path)
		path = append(path, at)
		at = before[at]
	}
	forward := make([]int, 0, len(path)+1)
	for _, i := range slices.Backward(path) {
		forward = append(forward, i)
	}
	return append(forward, forward[0])
}

func (g *graph) cycleFault(cycle []int) *fault.Fault {
	names := make([]string, len(cycle))
	for i, n := range cycle {
		names[i] = g.ids[n]
	}
	f := fault.New(fault.Validation, "Circular dependency: %s (each waits for the one before it)", strings.Join(names, " → "))
	f.Node, f.Path = names[0], fmt.Sprintf("nodes[%d]", cycle[0])
	return f.Suggest("Remove one of these edges or template references; edges and templates must lead forward")
}
