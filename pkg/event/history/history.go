// Package history derives from the events of a run how far the run and each of its nodes are. Everything that shows a run to
// people uses it.
package history

import (
	"encoding/json"
	"iter"
	"strconv"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// State is how far a node is.
type State string

// The states. A node without events has the empty state.
const (
	Running   State = "running"
	Waiting   State = "waiting" // for a person's answer
	Completed State = "completed"
	Reused    State = "reused" // from an earlier run
	Failed    State = "failed"
	Skipped   State = "skipped"
	Cancelled State = "cancelled"
)

// Ended reports whether the node has ended.
func (s State) Ended() bool { return s != "" && s != Running && s != Waiting }

// Run is the state of a run after the events applied so far. The zero value is a run without events.
type Run struct {
	// Started and Finished are the run's first and last event; nil before they are applied.
	Started, Finished *event.Event
	// Nodes are the workflow's own nodes, in the order of the file.
	Nodes []*Node
	// Time is the time of the latest event.
	Time time.Time
	// Queued is set while the run waits because of the limit on concurrent runs, which is MaxRuns.
	Queued  bool
	MaxRuns int

	// Usage is the use of language models so far, without that of the runs that the run continues; nil without any.
	Usage *event.Usage
	// admitted is the time of the end of the wait, or zero.
	admitted time.Time
	byPath   map[string]*Node
	// definitions are those of the workflows that nodes run, by their digests, as values of the stream.
	definitions map[string]json.RawMessage
}

// Definition returns the definition of the workflow that a node runs, as a value of the stream. It is nil if the events do not contain it.
func (r *Run) Definition(n *Node) json.RawMessage {
	if n.Workflow == nil {
		return nil
	}
	return r.definitions[n.Workflow.Digest]
}

// Node is a node of the run, or of a sub-workflow in it.
type Node struct {
	// Path is the node's id; inside a sub-workflow it begins with the path of the enclosing node: build/compile.
	Path string
	// Type is the node type; empty for a node that has not started. MCP names the tool that a node of an MCP tool calls.
	Type string
	MCP  *event.MCP
	// Workflow identifies the workflow that a node runs whose parameters only name it.
	Workflow *event.Workflow
	// RunsOn is the runner of the node, empty for this machine.
	RunsOn string
	State  State
	// Attempts are the attempts that have started, of all iterations, without those of a batch's items.
	Attempts []Attempt
	// Iteration is the latest iteration of the node's loop; 0 for a node without a loop.
	Iteration int
	// Total is the number of items of a batch, -1 for a node without a batch. Items are those that have ended, in that
	// order.
	Total int
	Items []Item
	// Done, Goal and Message are the progress that the node last reported.
	Done, Goal float64
	Message    string

	// Action, Outputs, InputDigest, Redacted, Error and Handled are those of the node's last event.
	Action      string
	InputDigest string
	Outputs     json.RawMessage
	Redacted    bool
	Error       *fault.Fault
	Handled     bool
	// FromRun is the run that a reused node comes from; Cached is set if it was taken from the cache.
	FromRun string
	Cached  bool
	// Because is why the node ran although an earlier run had something of the workflow; empty for one that no run had finished.
	Because string
	// Reason is the reason of a skipped node, or the cause of a cancelled one.
	Reason string
	// Question and Choices are what a person is asked, Answer and By the reply.
	Question string
	Choices  []string
	// AnyAnswer reports whether texts other than the choices are answers too.
	AnyAnswer bool
	// Fields is the schema of an answer that is an object, or nil.
	Fields json.RawMessage
	// Params are the parameters that the node would run with, as a value of the stream.
	Params     json.RawMessage
	Answer, By string
	// ByPerson is set if only a person may answer.
	ByPerson bool
	// Asked and Answered are the times of the question and the reply.
	Asked, Answered time.Time
	Warnings        []string
	// Began and Ended are the times of the first and last event about the node as a whole.
	Began, Ended time.Time
	duration     time.Duration
	// Inner are the nodes of its sub-workflow, of all items and iterations, in the order of their first events.
	Inner []*Node
}

// Attempt is one attempt at a node.
type Attempt struct {
	Number, Iteration int
	// Ended is zero while the attempt runs.
	Began, Ended time.Time
	// Error is the failure, also if another attempt followed; nil if it did not fail.
	Error *fault.Fault
	// RetryAt is the time of the next attempt that a failure announced; zero if there is no other attempt.
	RetryAt time.Time
	// FromRun is the run from which a whole iteration was reused; such an attempt has no number.
	FromRun string
}

// Item is an item of a batch that has ended.
type Item struct {
	Index int
	// Ended is the time of its end. Duration is 0 for an item reused from an earlier run.
	Ended    time.Time
	Duration time.Duration
	// Error is the failure; nil if it did not fail.
	Error *fault.Fault
	// FromRun is the run that the item was reused from.
	FromRun string
}

// Elapsed returns how long the node took: the duration that it reported, or the time from its start to its end, or to now
// while it runs. It is 0 for a node that has not started.
func (n *Node) Elapsed(now time.Time) time.Duration {
	switch {
	case n.duration > 0:
		return n.duration
	case n.Began.IsZero():
		return 0
	case n.State.Ended():
		return n.Ended.Sub(n.Began)
	}
	return max(0, now.Sub(n.Began))
}

// Elapsed returns how long the run took: the duration that its last event reports, or the time from its start to now, after a
// wait because of the limit on concurrent runs from its end. It is 0 for a run without events.
func (r *Run) Elapsed(now time.Time) time.Duration {
	switch {
	case r.Finished != nil && r.Finished.DurationMS != nil:
		return milliseconds(r.Finished.DurationMS)
	case r.Started == nil:
		return 0
	case r.Finished != nil:
		now = r.Finished.Time
	}
	if !r.admitted.IsZero() {
		return max(0, now.Sub(r.admitted))
	}
	return max(0, now.Sub(r.Started.Time))
}

// Budget returns what the run and those that it continues may spend and have spent until now. Both are nil without a budget.
func (r *Run) Budget(now time.Time) (budget *event.Budget, spent *event.Spending) {
	if r.Started == nil || r.Started.Budget == nil {
		return nil, nil
	}
	took := r.Elapsed(now)
	if r.Queued {
		took = 0
	}
	sum := event.SpendingOf(r.Usage, took)
	if r.Started.Spent != nil {
		sum = sum.Plus(*r.Started.Spent)
	}
	return r.Started.Budget, &sum
}

// milliseconds returns the duration of a number of milliseconds; nil is 0.
func milliseconds(ms *float64) time.Duration {
	if ms == nil {
		return 0
	}
	return time.Duration(min(max(*ms, 0), 1e12) * float64(time.Millisecond))
}

// Failures returns the number of items that failed.
func (n *Node) Failures() (count int) {
	for _, it := range n.Items {
		if it.Error != nil {
			count++
		}
	}
	return count
}

// ID returns the run's id; empty for a refused run, and before the first event.
func (r *Run) ID() string {
	for _, e := range []*event.Event{r.Started, r.Finished} {
		if e != nil && e.Run != "" {
			return e.Run
		}
	}
	return ""
}

// Node returns the node with the given path, or nil if there was no event about it.
func (r *Run) Node(path string) *Node { return r.byPath[path] }

// All returns all nodes, each followed by those inside it.
func (r *Run) All() iter.Seq[*Node] {
	return func(yield func(*Node) bool) { each(r.Nodes, yield) }
}

func each(nodes []*Node, yield func(*Node) bool) bool {
	for _, n := range nodes {
		if !yield(n) || !each(n.Inner, yield) {
			return false
		}
	}
	return true
}

// Counts returns how many of the workflow's own nodes are in each state.
func (r *Run) Counts() map[State]int {
	counts := map[State]int{}
	for _, n := range r.Nodes {
		counts[n.State]++
	}
	return counts
}

// Outlasting returns the ids of the workflow's own nodes that still run although one has failed and no edge takes that: they finish first, unless
// a failure stops them.
func (r *Run) Outlasting() (ids []string) {
	failed := false
	for _, n := range r.Nodes {
		if failed = failed || n.State == Failed && !n.Handled; n.State == Running {
			ids = append(ids, n.Path)
		}
	}
	if !failed || r.Finished != nil || r.Started != nil && r.Started.OnFailure != "" {
		return nil
	}
	return ids
}

// Plural returns a number with its noun, which gets an s unless n is 1: 3 items.
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// FormatDuration returns a duration rounded for people: 120ms, 1.2s, 1m5s.
func FormatDuration(d time.Duration) string {
	switch d = max(0, d); {
	case d < 10*time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
