package graph

import (
	"fmt"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
)

// Apply updates the state of the node of an event. Events without a node, and those of nodes inside a sub-workflow, change
// nothing: the node that runs the sub-workflow has its own events.
func (g *Graph) Apply(e *event.Event) {
	g.ran = true
	if i, ok := g.index[e.Node]; ok {
		g.nodes[i].run.Apply(e)
	}
}

// Mark sets the states of all nodes to those in a run's history. It replaces calls of Apply.
func (g *Graph) Mark(r *history.Run) {
	g.ran = true
	for id, i := range g.index {
		if n := r.Node(id); n != nil {
			g.nodes[i].run = *n
		}
	}
}

// caption describes the state, for example "completed, 120ms, 3 items".
func (n *node) caption() string {
	run := &n.run
	if run.State == "" {
		if n.leftOut {
			return "left out"
		}
		return ""
	}
	parts := append([]string{string(run.State)}, notes(run)...)
	if took := run.Elapsed(run.Began); took > 0 {
		parts = append(parts, history.FormatDuration(took))
	}
	switch {
	case run.State == history.Running && run.Total > 0:
		parts = append(parts, fmt.Sprintf("%d of %d items", len(run.Items), run.Total))
	case len(run.Items) > 0:
		parts = append(parts, history.Plural(len(run.Items), "item"))
	}
	if failed := run.Failures(); failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", failed))
	}
	switch {
	case run.State == history.Running && run.Iteration > 0:
		parts = append(parts, fmt.Sprintf("iteration %d", run.Iteration))
	case run.Iteration > 0:
		parts = append(parts, history.Plural(run.Iteration, "iteration"))
	}
	return strings.Join(parts, ", ")
}

// notes lists details of a node's state.
func notes(run *history.Node) []string {
	switch tries := len(run.Attempts); {
	case run.State == history.Failed && run.Handled:
		return []string{"handled"}
	case run.State != history.Running || tries == 0:
	case run.Attempts[tries-1].Error != nil:
		return []string{fmt.Sprintf("attempt %d failed", run.Attempts[tries-1].Number)}
	case run.Attempts[tries-1].Number > 1:
		return []string{fmt.Sprintf("attempt %d", run.Attempts[tries-1].Number)}
	}
	return nil
}

// class returns the state whose style the node has.
func (n *node) class() history.State {
	switch {
	case n.run.State == "" && n.leftOut:
		return history.Skipped
	case n.run.State == history.Completed && n.run.Failures() > 0:
		return degraded
	}
	return n.run.State
}
