// Package history is what the events of a run, applied one by one, say about it: how far the run and each of its nodes
// are. Everything that shows a run to people is made of it.
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

// The states. The zero state is that of a node of which a run has not told anything.
const (
	Running   State = "running"
	Waiting   State = "waiting" // for a person's answer
	Completed State = "completed"
	Reused    State = "reused" // from an earlier run
	Failed    State = "failed"
	Skipped   State = "skipped"
	Cancelled State = "cancelled"
)

// Ended says whether the node has had its last word.
func (s State) Ended() bool { return s != "" && s != Running && s != Waiting }

// Run is what the events up to now have told. The zero value is a run of which nothing was told.
type Run struct {
	// Started and Finished are the run's first and last event, nil while they have not come.
	Started, Finished *event.Event
	// Nodes are the workflow's own, in the file's order.
	Nodes []*Node
	// Time is that of the latest event.
	Time time.Time

	byPath map[string]*Node
}

// Node is a node of the run, or of a sub-workflow inside it.
type Node struct {
	// Path is the node's id; inside a sub-workflow it begins with the path of the node around it: build/compile.
	Path string
	// Type is the node type, empty for a node that never began.
	Type  string
	State State
	// Attempts are the tries that began, of all iterations; those of a batch's items are not among them.
	Attempts []Attempt
	// Iteration is that of the loop the node is in or ended with; 0 for a node without one.
	Iteration int
	// Total is how many items a batch has, -1 for a node without one. Items are those that have ended, in that order.
	Total int
	Items []Item
	// Done, Goal and Message are what the node itself last told of its progress.
	Done, Goal float64
	Message    string

	// Action, Outputs, Redacted, Error and Handled are as in the node's last event.
	Action   string
	Outputs  json.RawMessage
	Redacted bool
	Error    *fault.Fault
	Handled  bool
	// FromRun is the run that a reused node comes from, Cached says that it came by the cache.
	FromRun string
	Cached  bool
	// Why is the reason of a skipped node, or the cause of a cancelled one.
	Why string
	// Question and Choices are what a person is asked, Answer and By what was said.
	Question   string
	Choices    []string
	Answer, By string
	// Asked and Answered are when that was.
	Asked, Answered time.Time
	Warnings        []string
	// Began and Ended are the times of the first and the last event about the node as a whole.
	Began, Ended time.Time
	took         time.Duration
	// Inner are the nodes of its sub-workflow, of all its items and iterations, as they were first told of.
	Inner []*Node
}

// Attempt is one try at a node.
type Attempt struct {
	Number, Iteration int
	// Ended is zero while it runs.
	Began, Ended time.Time
	// Error is why it failed, also when another attempt followed.
	Error *fault.Fault
	// Again is when another was to follow, as a failure said; else it is zero.
	Again time.Time
	// FromRun is the run that a whole iteration was taken from; such an attempt has no number.
	FromRun string
}

// Item is one item of a batch that has ended.
type Item struct {
	Index int
	// Ended is when it did, Duration how long it took; one taken from an earlier run took none.
	Ended    time.Time
	Duration time.Duration
	// Error is why it failed, nil when it did not.
	Error *fault.Fault
	// FromRun is the run that it was taken from.
	FromRun string
}

// Elapsed is how long the node took, as it says itself where it does, and up to now for one that runs; 0 for one that never
// began.
func (n *Node) Elapsed(now time.Time) time.Duration {
	switch {
	case n.took > 0:
		return n.took
	case n.Began.IsZero():
		return 0
	case n.State.Ended():
		return n.Ended.Sub(n.Began)
	}
	return max(0, now.Sub(n.Began))
}

// Elapsed is how long the run took, as it says itself once it has finished, and until then up to now; 0 while nothing was
// told of it.
func (r *Run) Elapsed(now time.Time) time.Duration {
	switch {
	case r.Finished != nil && r.Finished.DurationMS != nil:
		return span(r.Finished.DurationMS)
	case r.Started == nil:
		return 0
	case r.Finished != nil:
		now = r.Finished.Time
	}
	return max(0, now.Sub(r.Started.Time))
}

// span is a time of so many milliseconds.
func span(ms *float64) time.Duration {
	if ms == nil {
		return 0
	}
	return time.Duration(min(max(*ms, 0), 1e12) * float64(time.Millisecond))
}

// Failures are how many of the items failed.
func (n *Node) Failures() (count int) {
	for _, it := range n.Items {
		if it.Error != nil {
			count++
		}
	}
	return count
}

// ID is the run's; empty for one that was refused, and while nothing was told.
func (r *Run) ID() string {
	for _, e := range []*event.Event{r.Started, r.Finished} {
		if e != nil && e.Run != "" {
			return e.Run
		}
	}
	return ""
}

// Node finds a node by its path; nil when nothing was told of it.
func (r *Run) Node(path string) *Node { return r.byPath[path] }

// All are all nodes, each followed by those inside it.
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

// Counts are how many of the workflow's own nodes are in each state.
func (r *Run) Counts() map[State]int {
	counts := map[State]int{}
	for _, n := range r.Nodes {
		counts[n.State]++
	}
	return counts
}

// Plural is a number of something, with an s for more than one: 3 items.
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// FormatDuration is a time as people write it, to three digits or so: 120ms, 1.2s, 1m5s.
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
