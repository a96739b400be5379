package graph

import (
	"fmt"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
)

// Apply marks the node that an event of a run is about. Events of nodes inside a sub-workflow and of no node change
// nothing: the node that runs the sub-workflow has events of its own.
func (g *Graph) Apply(e *event.Event) {
	g.ran = true
	if i, ok := g.index[e.Node]; ok {
		g.nodes[i].run.Apply(e)
	}
}

// Mark takes the states of all nodes from what is known of a run, in the place of its events.
func (g *Graph) Mark(r *history.Run) {
	g.ran = true
	for id, i := range g.index {
		if n := r.Node(id); n != nil {
			g.nodes[i].run = *n
		}
	}
}

// caption is the state in words: completed, 120ms, 3 items.
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
	switch {
	case run.State == history.Running && run.Iteration > 0:
		parts = append(parts, fmt.Sprintf("iteration %d", run.Iteration))
	case run.Iteration > 0:
		parts = append(parts, history.Plural(run.Iteration, "iteration"))
	}
	return strings.Join(parts, ", ")
}

// notes are what is told beside a node's state.
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

// class is the state as styles call it.
func (n *node) class() history.State {
	if n.run.State == "" && n.leftOut {
		return history.Skipped
	}
	return n.run.State
}
