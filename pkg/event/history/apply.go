package history

import (
	"github.com/pflow-suite/pflow/pkg/event"
)

// Apply takes the next event. What is unknown changes nothing.
func (r *Run) Apply(e *event.Event) {
	if r.byPath == nil {
		r.byPath = map[string]*Node{}
	}
	if e.Time.After(r.Time) {
		r.Time = e.Time
	}
	switch e.Event {
	case event.RunStarted:
		r.Started = e
		for _, id := range e.Nodes {
			r.node(id)
		}
		return
	case event.RunFinished, event.RunRefused:
		r.Finished = e
		return
	}
	if e.Node != "" && known(e.Event) {
		r.node(e.Node).Apply(e)
	}
}

func known(k event.Kind) bool {
	switch k {
	case event.NodeStarted, event.NodeProgress, event.NodeCompleted, event.NodeReused, event.NodeFailed, event.NodeSkipped, event.NodeCancelled,
		event.ItemCompleted, event.IterationCompleted, event.ApprovalRequested, event.ApprovalResolved:
		return true
	}
	return false
}

// node finds a node or adds one.
func (r *Run) node(path string) *Node {
	if n, ok := r.byPath[path]; ok {
		return n
	}
	n := NewNode(path)
	r.byPath[path] = n
	if around := event.Enclosing(path); around != "" {
		outer := r.node(around)
		outer.Inner = append(outer.Inner, n)
	} else {
		r.Nodes = append(r.Nodes, n)
	}
	return n
}

// NewNode is a node of which nothing was told.
func NewNode(path string) *Node { return &Node{Path: path, Total: -1} }

// Apply takes an event about the node.
func (n *Node) Apply(e *event.Event) {
	n.Iteration = max(n.Iteration, e.Iteration)
	if e.Item != nil {
		n.item(e)
		return
	}
	switch e.Event {
	case event.NodeStarted:
		n.enter(Running, e)
		n.Type, n.Done, n.Goal, n.Message = e.Type, 0, 0, ""
		if e.Items != nil {
			n.Total = *e.Items
		}
		n.Attempts = append(n.Attempts, Attempt{Number: e.Attempt, Iteration: e.Iteration, Began: e.Time})
	case event.NodeProgress:
		n.Done, n.Goal, n.Message = e.Done, e.Total, e.Message
	case event.ApprovalRequested:
		n.enter(Waiting, e)
		n.Question, n.Choices, n.Asked = e.Question, e.Choices, e.Time
	case event.ApprovalResolved:
		if n.State == Waiting { // else an earlier run's answer is told once more
			n.State = Running
		}
		n.Answer, n.By, n.Answered = e.Answer, e.By, e.Time
	case event.IterationCompleted:
		if e.FromRun != "" {
			n.Attempts = append(n.Attempts, Attempt{Iteration: e.Iteration, Began: e.Time, Ended: e.Time, FromRun: e.FromRun})
		}
		n.endAttempt(e)
		n.Outputs = e.Outputs
	case event.NodeCompleted, event.NodeReused, event.NodeFailed, event.NodeSkipped, event.NodeCancelled:
		n.end(e)
	}
}

// end takes the last word about an attempt, or about the node.
func (n *Node) end(e *event.Event) {
	n.endAttempt(e)
	if e.Event == event.NodeFailed && !e.IsFailure() {
		return // it is tried again
	}
	n.Action, n.Outputs, n.Redacted, n.Error, n.Warnings = e.Action, e.Outputs, e.Redacted, e.Error, e.Warnings
	switch e.Event {
	case event.NodeCompleted:
		n.enter(Completed, e)
	case event.NodeReused:
		n.enter(Reused, e)
		n.FromRun, n.Cached = e.FromRun, e.Cached
	case event.NodeFailed:
		n.enter(Failed, e)
		n.Handled = e.Handled != nil && *e.Handled
	case event.NodeSkipped:
		n.enter(Skipped, e)
		n.Why = e.Reason
	case event.NodeCancelled:
		n.enter(Cancelled, e)
		n.Why = e.Cause
	}
}

func (n *Node) enter(s State, e *event.Event) {
	again := n.State.Ended() // one that was reused runs again
	n.State, n.took = s, 0
	if s == Running || s == Waiting {
		if again {
			n.Items = nil
		}
		if n.Began.IsZero() || again {
			n.Began = e.Time
		}
		return
	}
	n.Ended = e.Time
	if s != Failed || len(n.Attempts) < 2 { // a failure's time is that of the last attempt
		n.took = span(e.DurationMS)
	}
}

func (n *Node) endAttempt(e *event.Event) {
	if len(n.Attempts) == 0 {
		return
	}
	if a := &n.Attempts[len(n.Attempts)-1]; a.Ended.IsZero() {
		a.Ended = e.Time
		if e.Event == event.NodeFailed {
			a.Error = e.Error
		}
		if e.RetryInMS != nil {
			a.Again = e.Time.Add(span(e.RetryInMS))
		}
	}
}

// item takes an event about an item of the node's batch. A failure that is tried again is not its end.
func (n *Node) item(e *event.Event) {
	failed := e.Event == event.NodeFailed && (e.WillRetry == nil || !*e.WillRetry)
	switch {
	case e.Event == event.NodeProgress:
		n.Message = e.Message
	case e.Event == event.ItemCompleted, failed:
		n.Items = append(n.Items, Item{Index: *e.Item, Ended: e.Time, Duration: span(e.DurationMS), Error: e.Error, FromRun: e.FromRun})
	}
}
