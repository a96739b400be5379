package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// graph is a workflow whose nodes are numbers, in the order of the file, with edges and with readings.
type graph struct {
	ids   []string
	index map[string]int
	// routes has the edges that leave each node, arrivals the number of edges to it.
	routes   [][]route
	arrivals []int
	// ends has the actions with which a branch ends at each node by an edge to no node.
	ends [][]string
	// readers has the nodes whose templates read each node, reads the nodes that its templates read.
	readers, reads [][]reading
	// status reports whether a template reads the exit status of each node.
	status []bool
	// member reports whether a node takes part in a run, start whether it waits for no edge.
	member, start []bool
}

// route is an edge from a node.
type route struct {
	to     int
	action string
}

// reading is the reference of a template to a node. It is optional if the template has other values to try.
type reading struct {
	node     int
	optional bool
}

// newGraph returns the graph of a workflow. Node ids must be distinct; edges to or from unknown nodes are ignored.
func newGraph(w *workflow.Workflow) *graph {
	n := len(w.Nodes)
	g := &graph{
		ids: w.NodeIDs(), index: make(map[string]int, n), routes: make([][]route, n), arrivals: make([]int, n), ends: make([][]string, n), status: make([]bool, n),
		readers: make([][]reading, n), reads: make([][]reading, n), member: make([]bool, n), start: make([]bool, n),
	}
	for i, id := range g.ids {
		g.index[id] = i
	}
	for _, e := range w.AllEdges() {
		from, ok := g.index[e.From]
		to, ok2 := g.index[e.To]
		switch {
		case ok && ok2:
			g.routes[from] = append(g.routes[from], route{to, e.Action})
		case ok && e.Ends():
			g.ends[from] = append(g.ends[from], e.Action)
		}
	}
	for i := range w.Nodes {
		g.read(w, i)
	}
	g.readOutputs(w)
	g.choose(w)
	return g
}

// read notes which nodes the templates of a node read. A node with a loop may read itself, which orders nothing.
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
		if ok && readsStatus(u.Ref) {
			g.status[from] = true
		}
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

// choose determines which nodes take part and which start. If the workflow has a start node, exactly the nodes that it
// reaches take part. Otherwise all nodes do, and those without an edge to them start; without any edges, templates alone order
// the nodes.
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

// Unconnected returns the nodes without any edge, in a workflow that has edges and no start node.
func Unconnected(w *workflow.Workflow) []string {
	edges := w.AllEdges()
	if len(edges) == 0 || w.StartNode != "" {
		return nil
	}
	touched := map[string]bool{}
	for _, e := range edges {
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

// Unreachable returns the nodes that never run because the start node does not reach them.
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

// order returns the nodes, each after all nodes that it waits for, or else a cycle.
func (g *graph) order() (sorted, cycle []int) {
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

// findCycle returns a cycle among the nodes that still wait. It walks backwards from one of them to another until it meets a
// node again. The first node of the cycle is its last one too.
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
	if len(cycle) <= 2 {
		return f.Suggest(`To repeat node %q give it a loop, as in "loop": {"until": "${%[1]s.key}"}; otherwise remove the edge or the template that leads to itself`, names[0])
	}
	return f.Suggest("Remove one of these edges or template references; edges and templates must lead forward").
		Suggest(`To repeat these nodes move them into a workflow inside one node with a loop: {"type": "workflow", "loop": {"until": "${ID.OUTPUT}"}, "params": {"workflow": {"nodes": […], "outputs": {…}}}}`)
}
