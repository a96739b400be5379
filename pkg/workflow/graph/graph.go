// Package graph draws a workflow, or a run of it, as Mermaid, as Graphviz dot, as SVG, and as text for a terminal. It draws
// every workflow, even an invalid one, and escapes all text of the workflow.
package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// Graph is the drawing of a workflow, with the states of its nodes in a run.
type Graph struct {
	title string
	nodes []node
	// edges has at most one edge for each pair of nodes, in the order of the nodes that they lead to.
	edges []edge
	// order lists the nodes, each after the nodes that it waits for.
	order []int
	// index maps an id to the first node that has it.
	index map[string]int
	// ran reports whether the graph has the states of a run.
	ran bool
}

type node struct {
	id, kind, purpose string
	marks             []string
	// leftOut reports whether start_node does not lead to the node.
	leftOut bool
	shape   shape
	// in lists the edges that lead to the node.
	in  []int
	run history.Node
}

// shape is the form of a node's box.
type shape int

const (
	step shape = iota
	subWorkflow
	question
)

// edge leads to a node from one that it waits for: a route, or a read by its templates. A read along a route is not drawn
// as an edge of its own.
type edge struct {
	from, to int
	// actions lists the actions that take the route. It is empty for a read.
	actions []string
	// back reports whether the edge closes a cycle, so that the node comes before the one it waits for.
	back bool
}

// New returns the graph of a workflow, which may be invalid. Edges from or to a node that does not exist are left out.
func New(w *workflow.Workflow) *Graph {
	g := &Graph{title: cells.Clean(w.Description), nodes: make([]node, len(w.Nodes)), index: make(map[string]int, len(w.Nodes))}
	if g.title == "" {
		g.title = "Workflow"
	}
	for i := range w.Nodes {
		n := &w.Nodes[i]
		g.nodes[i] = node{id: cells.Clean(n.ID), kind: cells.Clean(n.Type), purpose: cells.Clean(n.Purpose), marks: marks(n, w.RunsOn), shape: shapeOf(n), run: *history.NewNode(n.ID)}
		if _, ok := g.index[n.ID]; !ok {
			g.index[n.ID] = i
		}
	}
	g.connect(w)
	for _, id := range plan.Unreachable(w) {
		g.nodes[g.index[id]].leftOut = true
	}
	g.sort()
	return g
}

func shapeOf(n *workflow.Node) shape {
	switch {
	case n.Approval != nil:
		return question
	case n.Type == workflow.SubType:
		return subWorkflow
	}
	return step
}

// marks lists what is special about how a node runs. runsOn is the runner of the nodes that name none.
func marks(n *workflow.Node, runsOn string) (marks []string) {
	if n.Type == workflow.SubType {
		if sub, ok := workflow.SubOf(n.Params); ok && sub.Ref != "" {
			marks = append(marks, cells.Clean(sub.Ref))
		}
	}
	if n.Batch != nil {
		marks = append(marks, "batch")
	}
	if n.Loop != nil {
		marks = append(marks, "loop")
	}
	if n.Retry != nil {
		marks = append(marks, fmt.Sprintf("retry %d", n.Retry.Max))
	}
	if n.Approval != nil {
		marks = append(marks, "approval")
	}
	if n.Cache != nil {
		marks = append(marks, "cache")
	}
	if on := cmp.Or(n.RunsOn, runsOn); on != "" {
		marks = append(marks, "on "+cells.Clean(on))
	}
	return marks
}

// connect adds the routes, and the reads between nodes without a route.
func (g *Graph) connect(w *workflow.Workflow) {
	type pair struct{ from, to int }
	at := map[pair]int{}
	between := func(p pair) *edge {
		i, ok := at[p]
		if !ok {
			i = len(g.edges)
			at[p] = i
			g.edges = append(g.edges, edge{from: p.from, to: p.to})
		}
		return &g.edges[i]
	}
	for _, e := range w.AllEdges() {
		from, ok := g.index[e.From]
		to, ok2 := g.index[e.To]
		if ok && ok2 {
			route := between(pair{from, to})
			route.actions = append(route.actions, cells.Clean(cmp.Or(e.Action, workflow.ActionDefault)))
		}
	}
	for i := range w.Nodes {
		uses, _ := plan.Uses(&w.Nodes[i])
		for _, u := range uses {
			_, isInput := w.Inputs[u.Ref.Root]
			from, isNode := g.index[u.Ref.Root]
			if isNode && !isInput && from != i {
				between(pair{from, i})
			}
		}
	}
	slices.SortStableFunc(g.edges, func(a, b edge) int { return a.to - b.to })
	for i := range g.edges {
		e := &g.edges[i]
		slices.Sort(e.actions)
		e.actions = slices.Compact(e.actions)
		g.nodes[e.to].in = append(g.nodes[e.to].in, i)
	}
}

// label returns the actions of an edge, or "" if default is the only one.
func (e *edge) label() string {
	if len(e.actions) == 1 && e.actions[0] == workflow.ActionDefault {
		return ""
	}
	return strings.Join(e.actions, ", ")
}

// reads reports whether the edge is a read and not a route.
func (e *edge) reads() bool { return len(e.actions) == 0 }

// about returns the node's type and marks.
func (n *node) about() string { return strings.Join(append([]string{n.kind}, n.marks...), ", ") }

// sort sorts the nodes topologically, and otherwise in the order of the file. It marks the edges that close a cycle.
func (g *Graph) sort() {
	const (
		unseen = iota
		open
		done
	)
	seen := make([]byte, len(g.nodes))
	var visit func(i int)
	visit = func(i int) {
		seen[i] = open
		for _, in := range g.nodes[i].in {
			e := &g.edges[in]
			if e.back = seen[e.from] == open; seen[e.from] == unseen {
				visit(e.from)
			}
		}
		seen[i] = done
		g.order = append(g.order, i)
	}
	for i := range g.nodes {
		if seen[i] == unseen {
			visit(i)
		}
	}
}
