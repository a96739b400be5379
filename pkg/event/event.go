// Package event is one line of the stream that a run writes: its types, its reader, and how values stand in it.
//
// The stream is the record of a run and its checkpoint: what it must hold is in docs/contracts.md, "The event stream". A reader ignores events and
// fields that it does not know.
package event

import (
	"encoding/json"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Version is the contract's number, in every line's "v".
const Version = 1

// MaxLine is the most bytes a line has, its newline included.
const MaxLine = 1 << 20

// Kind is an event's name.
type Kind string

// The events. A stream ends with exactly one RunFinished or RunRefused.
const (
	RunStarted    Kind = "run_started"
	RunFinished   Kind = "run_finished"
	RunRefused    Kind = "run_refused"
	NodeStarted   Kind = "node_started"
	NodeProgress  Kind = "node_progress"
	NodeCompleted Kind = "node_completed"
	NodeReused    Kind = "node_reused"
	NodeFailed    Kind = "node_failed"
	NodeSkipped   Kind = "node_skipped"
	NodeCancelled Kind = "node_cancelled"

	// ItemCompleted is one item of a batch, IterationCompleted one iteration of a loop that goes on after it.
	ItemCompleted      Kind = "item_completed"
	IterationCompleted Kind = "iteration_completed"

	ApprovalRequested Kind = "approval_requested"
	ApprovalResolved  Kind = "approval_resolved"
)

// Status is how a run ended.
type Status string

// The statuses of a finished run. Degraded is a run that went through although something failed on the way.
const (
	Completed Status = "completed"
	Degraded  Status = "degraded"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
	TimedOut  Status = "timed_out"
	// Paused waits for a person's answer, Denied got one that forbids to go on.
	Paused Status = "paused"
	Denied Status = "denied"
)

// Succeeded says whether the status is one of success.
func (s Status) Succeeded() bool { return s == Completed || s == Degraded }

// Event is one line. Which fields are set depends on its kind; unset ones are absent from the line.
type Event struct {
	V     int       `json:"v"`
	Seq   int64     `json:"seq"`
	Event Kind      `json:"event"`
	Run   string    `json:"run"`
	Time  time.Time `json:"time"`
	// At is where the line begins in the journal that the event was appended to.
	At int64 `json:"-"`

	// Node is the node's id, in all events about a node; inside a sub-workflow it is a path, such as build/compile.
	Node string `json:"node,omitempty"`
	// Iteration is that of a node with a loop, from 1; Item the number of a batch's item, from 0.
	Iteration int  `json:"iteration,omitempty"`
	Item      *int `json:"item,omitempty"`

	Workflow    *Workflow       `json:"workflow,omitempty"`     // run_started
	Inputs      json.RawMessage `json:"inputs,omitempty"`       // run_started
	Nodes       []string        `json:"nodes,omitempty"`        // run_started: the ids, in the file's order
	Cwd         string          `json:"cwd,omitempty"`          // run_started
	ResumedFrom string          `json:"resumed_from,omitempty"` // run_started

	// The span of the run, or of an attempt at a node; W3C Trace Context.
	TraceID      string `json:"trace_id,omitempty"`       // run_started
	SpanID       string `json:"span_id,omitempty"`        // run_started, node_started
	ParentSpanID string `json:"parent_span_id,omitempty"` // run_started below another trace's span, node_started inside a sub-workflow

	Type    string `json:"type,omitempty"`    // node_started
	MCP     *MCP   `json:"mcp,omitempty"`     // node_started of an MCP tool
	Items   *int   `json:"items,omitempty"`   // node_started of a batch: how many there are
	Attempt int    `json:"attempt,omitempty"` // node_started, node_completed, node_failed: from 1

	Done    float64 `json:"done,omitempty"`    // node_progress
	Total   float64 `json:"total,omitempty"`   // node_progress
	Message string  `json:"message,omitempty"` // node_progress

	Action      string          `json:"action,omitempty"`       // node_completed, node_reused
	Outputs     json.RawMessage `json:"outputs,omitempty"`      // node_completed, node_reused, node_failed, run_finished, item_, iteration_completed
	InputDigest string          `json:"input_digest,omitempty"` // node_completed, node_reused, node_failed when handled, item_, iteration_completed
	Redacted    bool            `json:"redacted,omitempty"`     // outputs lack a secret that was in them
	DurationMS  *float64        `json:"duration_ms,omitempty"`  // node_completed, node_failed, run_finished
	FromRun     string          `json:"from_run,omitempty"`     // node_reused, and an item or iteration taken from an earlier run
	Cached      bool            `json:"cached,omitempty"`       // node_reused: taken from the cache of earlier runs

	Error     *fault.Fault `json:"error,omitempty"`       // node_failed, run_finished, run_refused
	WillRetry *bool        `json:"will_retry,omitempty"`  // node_failed
	RetryInMS *float64     `json:"retry_in_ms,omitempty"` // node_failed that is retried
	Handled   *bool        `json:"handled,omitempty"`     // node_failed: an error edge takes it

	Question string   `json:"question,omitempty"` // approval_requested
	Choices  []string `json:"choices,omitempty"`  // approval_requested
	Answer   string   `json:"answer,omitempty"`   // approval_resolved
	By       string   `json:"by,omitempty"`       // approval_resolved: who answered, a user's name or how it came

	Reason string `json:"reason,omitempty"` // node_skipped
	Cause  string `json:"cause,omitempty"`  // node_cancelled: the node whose failure stopped it, or what did

	Success       *bool       `json:"success,omitempty"`        // run_refused: false
	Status        Status      `json:"status,omitempty"`         // run_finished
	Checkpoint    *Checkpoint `json:"checkpoint,omitempty"`     // run_finished
	NodesExecuted *int        `json:"nodes_executed,omitempty"` // run_finished
	NodesReused   *int        `json:"nodes_reused,omitempty"`   // run_finished
	Usage         *Usage      `json:"usage,omitempty"`          // run_finished: what was asked of language models
	Resume        string      `json:"resume,omitempty"`         // run_finished: the command that goes on from here
	Warnings      []string    `json:"warnings,omitempty"`       // run_finished: why a run is degraded, and what else is worth knowing
}

// Workflow is the workflow that a run executes.
type Workflow struct {
	Name       string          `json:"name"`
	Path       string          `json:"path,omitempty"`
	Digest     string          `json:"digest"`
	Definition json.RawMessage `json:"definition,omitempty"`
}

// MCP names the tool that a node calls.
type MCP struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
}

// Checkpoint is how far a run came.
type Checkpoint struct {
	CompletedNodes []string `json:"completed_nodes"`
	FailedNode     string   `json:"failed_node,omitempty"`
	RunID          string   `json:"run_id"`
}

// Settles says whether the event is a checkpoint: a node's last word, by which a later run can go on.
func (e *Event) Settles() bool {
	switch e.Event {
	case NodeCompleted, NodeReused:
		return true
	case NodeFailed:
		return e.IsFailure() && e.Handled != nil && *e.Handled
	}
	return false
}

// IsFailure says whether the event is the failure of a node as a whole: not of one of its items, and none that is retried.
func (e *Event) IsFailure() bool {
	return e.Event == NodeFailed && e.Item == nil && (e.WillRetry == nil || !*e.WillRetry)
}

// IsTerminal says whether the event is the last of its stream.
func (e *Event) IsTerminal() bool { return e.Event == RunFinished || e.Event == RunRefused }

// fitting is the event with what is said to people cut, where it is long.
func (e *Event) fitting() *Event {
	const most = 2000 // bytes of a warning, of which there are not many
	c := *e
	if e.Error != nil {
		c.Error = e.Error.LimitBytes(MaxLine / 4)
	}
	c.Warnings = nil
	for _, w := range e.Warnings {
		c.Warnings = append(c.Warnings, fault.Truncate(w, most))
	}
	return &c
}

// Line is the event as it stands in the stream, newline included. Of an error and warnings that do not fit a line there is
// as much as does.
func (e *Event) Line() ([]byte, error) {
	raw, err := rawjson.Marshal(e)
	if err == nil && len(raw) >= MaxLine {
		raw, err = rawjson.Marshal(e.fitting())
	}
	if err != nil {
		return nil, err
	}
	if len(raw) >= MaxLine {
		return nil, fault.New(fault.TooLarge, "an event of %d bytes does not fit a line of the stream", len(raw))
	}
	return append(raw, '\n'), nil
}
