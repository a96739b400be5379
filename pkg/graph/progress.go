package graph

import (
	"fmt"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
)

// state is how far a node is in a run.
type state string

// The states. The zero state is that of a node of which a run has not told anything.
const (
	running   state = "running"
	waiting   state = "waiting" // for a person's answer
	completed state = "completed"
	reused    state = "reused"
	failed    state = "failed"
	skipped   state = "skipped"
	cancelled state = "cancelled"
)

// progress is what a run has told of a node.
type progress struct {
	state state
	// notes are what is told beside the state.
	notes    []string
	duration *float64 // in milliseconds
	// items of a batch have ended, out of all.
	items, all int
	iteration  int
}

// Apply marks the node that an event of a run is about. Events of nodes inside a sub-workflow and of no node change
// nothing: the node that runs the sub-workflow has events of its own.
func (g *Graph) Apply(e *event.Event) {
	g.ran = true
	if i, ok := g.index[e.Node]; ok {
		g.nodes[i].run.apply(e)
	}
}

func (p *progress) apply(e *event.Event) {
	p.iteration = max(p.iteration, e.Iteration)
	if e.Item != nil {
		if e.Event == event.ItemCompleted || e.Event == event.NodeFailed && !retried(e) {
			p.items++
		}
		return
	}
	switch e.Event {
	case event.NodeStarted:
		p.enter(running, nil)
		if e.Items != nil {
			p.items, p.all = 0, *e.Items
		}
		if e.Attempt > 1 {
			p.note("attempt %d", e.Attempt)
		}
	case event.ApprovalRequested:
		p.enter(waiting, nil)
	case event.ApprovalResolved:
		p.enter(running, nil)
	case event.NodeCompleted:
		p.enter(completed, e.DurationMS)
	case event.NodeReused:
		p.enter(reused, nil)
	case event.NodeFailed:
		p.fail(e)
	case event.NodeSkipped:
		p.enter(skipped, nil)
	case event.NodeCancelled:
		p.enter(cancelled, nil)
	}
}

func (p *progress) fail(e *event.Event) {
	if retried(e) {
		p.enter(running, nil)
		p.note("attempt %d failed", e.Attempt)
		return
	}
	p.enter(failed, e.DurationMS)
	if e.Handled != nil && *e.Handled {
		p.note("handled")
	}
}

// retried says whether another attempt follows a failure.
func retried(e *event.Event) bool { return e.WillRetry != nil && *e.WillRetry }

func (p *progress) enter(s state, duration *float64) { p.state, p.duration, p.notes = s, duration, nil }

func (p *progress) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

// caption is the state in words: completed, 120ms, 3 items.
func (n *node) caption() string {
	p := &n.run
	if p.state == "" {
		if n.leftOut {
			return "left out"
		}
		return ""
	}
	parts := append([]string{string(p.state)}, p.notes...)
	if p.duration != nil {
		parts = append(parts, span(*p.duration))
	}
	switch {
	case p.state == running && p.all > 0:
		parts = append(parts, fmt.Sprintf("%d of %d items", p.items, p.all))
	case p.items > 0:
		parts = append(parts, count(p.items, "item"))
	}
	switch {
	case p.state == running && p.iteration > 0:
		parts = append(parts, fmt.Sprintf("iteration %d", p.iteration))
	case p.iteration > 0:
		parts = append(parts, count(p.iteration, "iteration"))
	}
	return strings.Join(parts, ", ")
}

// class is the state as styles call it.
func (n *node) class() state {
	if n.run.state == "" && n.leftOut {
		return skipped
	}
	return n.run.state
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// span is a time of so many milliseconds as people write it, to three digits or so.
func span(ms float64) string {
	d := time.Duration(min(max(ms, 0), 1e12) * float64(time.Millisecond))
	switch {
	case d < 10*time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
