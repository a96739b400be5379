package history

import (
	"encoding/json"
	"slices"

	"github.com/pflow-suite/pflow/pkg/event"
)

// Apply applies the next event. Unknown events change nothing.
func (r *Run) Apply(e *event.Event) {
	if r.byPath == nil {
		r.byPath = map[string]*Node{}
	}
	if e.Time.After(r.Time) {
		r.Time = e.Time
	}
	if e.Usage != nil {
		r.Usage = e.Usage
	}
	switch e.Event {
	case event.RunStarted:
		if r.Started = e; e.Workflow == nil { // a stream from elsewhere may lack what the suite always writes
			e.Workflow = &event.Workflow{}
		}
		for _, id := range e.Nodes {
			r.node(id)
		}
		for _, w := range e.Workflows {
			r.define(w)
		}
		return
	case event.RunQueued:
		r.Queued, r.MaxRuns = true, e.MaxRuns
		return
	case event.RunAdmitted:
		r.Queued, r.admitted = false, e.Time
		return
	case event.RunFinished, event.RunRefused:
		r.Finished, r.Queued = e, false
		return
	}
	if e.Node != "" && e.Event.IsOfNode() {
		if e.Workflow != nil {
			r.define(*e.Workflow)
		}
		r.node(e.Node).Apply(e)
	}
}

// define keeps the definition of a sub-workflow, if it has one.
func (r *Run) define(w event.Workflow) {
	if len(w.Definition) == 0 {
		return
	}
	if r.definitions == nil {
		r.definitions = map[string]json.RawMessage{}
	}
	r.definitions[w.Digest] = w.Definition
}

// node returns the node with the given path and adds it if it is new.
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

// maxAttempts is the most attempts of a node that are kept, so that a node without end cannot fill the memory. The newest are.
const maxAttempts = 100_000

// NewNode returns a node without events.
func NewNode(path string) *Node { return &Node{Path: path, Total: -1} }

// Apply applies an event about the node.
func (n *Node) Apply(e *event.Event) {
	if e.Outdated && e.Event != event.NodeReused {
		return // it said before that an item or an iteration was kept
	}
	n.Iteration = max(n.Iteration, e.Iteration)
	if e.Item != nil {
		n.item(e)
		return
	}
	switch e.Event {
	case event.NodeStarted:
		n.setState(Running, e)
		if e.Workflow != nil {
			n.Workflow = e.Workflow
		}
		n.RunsOn = e.RunsOn
		if len(n.Attempts) == 0 && e.Because != event.Unfinished {
			n.Because = e.Because
		}
		n.Type, n.MCP, n.Done, n.Goal, n.Message = e.Type, e.MCP, 0, 0, ""
		if e.Items != nil {
			n.Total = *e.Items
		}
		if len(n.Attempts) == maxAttempts {
			n.Attempts = slices.Delete(n.Attempts, 0, maxAttempts/2)
		}
		n.Attempts = append(n.Attempts, Attempt{Number: e.Attempt, Iteration: e.Iteration, Began: e.Time})
	case event.NodeProgress:
		n.Done, n.Goal, n.Message = e.Done, e.Total, e.Message
	case event.ApprovalRequested:
		n.setState(Waiting, e)
		n.endAttempt(e) // of a node that asks itself
		n.Question, n.Choices, n.AnyAnswer, n.Fields, n.Params, n.Asked = e.Question, e.Choices, e.AnyAnswer, e.Fields, e.Params, e.Time
		n.ByPerson = e.By != ""
	case event.ApprovalResolved:
		if n.State == Waiting { // otherwise the answer of an earlier run is repeated
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

// end applies an event that ends an attempt or the node.
func (n *Node) end(e *event.Event) {
	n.endAttempt(e)
	if e.Event == event.NodeFailed && !e.IsFailure() {
		return // it is retried
	}
	n.Action, n.Outputs, n.InputDigest, n.Redacted, n.Error, n.Warnings = e.Action, e.Outputs, e.InputDigest, e.Redacted, e.Error, e.Warnings
	switch e.Event {
	case event.NodeCompleted:
		n.setState(Completed, e)
	case event.NodeReused:
		n.setState(Reused, e)
		n.FromRun, n.Cached = e.FromRun, e.Cached
	case event.NodeFailed:
		n.setState(Failed, e)
		n.Handled = e.Handled != nil && *e.Handled
	case event.NodeSkipped:
		n.setState(Skipped, e)
		n.Reason = e.Reason
	case event.NodeCancelled:
		n.setState(Cancelled, e)
		n.Reason = e.Cause
	}
}

func (n *Node) setState(s State, e *event.Event) {
	again := n.State.Ended() // a reused node runs again
	n.State, n.duration = s, 0
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
	if s != Failed || len(n.Attempts) < 2 { // a failure's duration is that of its last attempt only
		n.duration = milliseconds(e.DurationMS)
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
			a.RetryAt = e.Time.Add(milliseconds(e.RetryInMS))
		}
	}
}

// item applies an event about an item of the node's batch. A failure that is retried does not end the item.
func (n *Node) item(e *event.Event) {
	failed := e.Event == event.NodeFailed && (e.WillRetry == nil || !*e.WillRetry)
	switch {
	case e.Event == event.NodeProgress:
		n.Message = e.Message
	case e.Event == event.ItemCompleted, failed:
		n.Items = append(n.Items, Item{Index: *e.Item, Ended: e.Time, Duration: milliseconds(e.DurationMS), Error: e.Error, FromRun: e.FromRun})
	}
}
