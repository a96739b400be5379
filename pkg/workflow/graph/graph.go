// Package graph draws a workflow, or a run of one: as Mermaid, as dot, as SVG, and as text for a terminal. It draws
// every workflow, also one that a check refuses, and no text in a workflow is taken for more than text.
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

// Graph is a workflow as it is drawn, and the states of a run of it.
type Graph struct {
	title string
	nodes []node
	// edges has at most one for each pair of nodes, in the order of the nodes that they come to.
	edges []edge
	// order is the nodes, each behind those that it waits for.
	order []int
	// index finds a node by its id: the first, where several have it.
	index map[string]int
	// ran says that an event of a run was applied.
	ran bool
}

type node struct {
	id, kind, purpose string
	marks             []string
	// leftOut says that start_node does not lead to the node.
	leftOut bool
	shape   shape
	// in are the edges that come to the node.
	in  []int
	run history.Node
}

// shape is what is special about a node at first sight.
type shape int

const (
	step shape = iota
	subWorkflow
	question
)

// edge is what a node waits for: another that routes to it, or one that its templates read. A reading along a route is
// not drawn beside it.
type edge struct {
	from, to int
	// actions are those that take the route; a reading has none.
	actions []string
	// back says that the edge closes a cycle: the node comes before what it waits for.
	back bool
}

// New makes the graph of a workflow, whatever faults it has. An edge from or to a node that there is not is left out.
func New(w *workflow.Workflow) *Graph {
	g := &Graph{title: cells.Clean(w.Description), nodes: make([]node, len(w.Nodes)), index: make(map[string]int, len(w.Nodes))}
	if g.title == "" {
		g.title = "Workflow"
	}
	for i := range w.Nodes {
		n := &w.Nodes[i]
		g.nodes[i] = node{id: cells.Clean(n.ID), kind: cells.Clean(n.Type), purpose: cells.Clean(n.Purpose), marks: marks(n), shape: shapeOf(n), run: *history.NewNode(n.ID)}
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

// marks says what is special about a node, in words.
func marks(n *workflow.Node) (marks []string) {
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
	return marks
}

// connect collects the edges: first the routes, then the readings where there is no route.
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
	for _, e := range w.Edges {
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

// label is the actions of an edge, or nothing where the default is the only one.
func (e *edge) label() string {
	if len(e.actions) == 1 && e.actions[0] == workflow.ActionDefault {
		return ""
	}
	return strings.Join(e.actions, ", ")
}

// reads says whether only templates make the edge.
func (e *edge) reads() bool { return len(e.actions) == 0 }

// about is the node's type and what is special about it.
func (n *node) about() string { return strings.Join(append([]string{n.kind}, n.marks...), ", ") }

// sort gives the nodes an order in which each comes behind all that it waits for, and otherwise that of the file. The
// edges of a cycle that lead back are marked and wait for nothing.
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
