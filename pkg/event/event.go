// Package event defines the lines of the stream that a run writes: their types, their reader, and the form of values in
// them.
//
// The stream is the record of a run and its checkpoint; docs/contracts.md, "The event stream", specifies it. A reader
// ignores events and fields that it does not know.
package event

import (
	"encoding/json"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Version is the version of the contract, the "v" of every line.
const Version = 1

// MaxLine is the most bytes of a line, including its newline.
const MaxLine = 1 << 20

// KeyVersion is the version of the digests that the node keys of new runs are made of.
const KeyVersion = 2

// Kind is the name of an event.
type Kind string

// The kinds of events. A stream ends with exactly one RunFinished or RunRefused. RunQueued follows RunStarted if the run has to
// wait because of the limit on concurrent runs; RunAdmitted ends the wait.
const (
	RunStarted    Kind = "run_started"
	RunQueued     Kind = "run_queued"
	RunAdmitted   Kind = "run_admitted"
	RunFinished   Kind = "run_finished"
	RunRefused    Kind = "run_refused"
	NodeStarted   Kind = "node_started"
	NodeProgress  Kind = "node_progress"
	NodeCompleted Kind = "node_completed"
	NodeReused    Kind = "node_reused"
	NodeFailed    Kind = "node_failed"
	NodeSkipped   Kind = "node_skipped"
	NodeCancelled Kind = "node_cancelled"

	// ItemCompleted ends one item of a batch, IterationCompleted one iteration of a loop that is not the last.
	ItemCompleted      Kind = "item_completed"
	IterationCompleted Kind = "iteration_completed"

	ApprovalRequested Kind = "approval_requested"
	ApprovalResolved  Kind = "approval_resolved"

	// RunInterrupted says that a run stopped without a last event. It is in no journal: only a stream of all runs has it.
	RunInterrupted Kind = "run_interrupted"
)

// Status is how a run ended.
type Status string

// The statuses of a finished run. A degraded run came to its end although something failed on the way.
const (
	Completed Status = "completed"
	Degraded  Status = "degraded"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
	TimedOut  Status = "timed_out"
	// Paused waits for a person's answer, Denied received one that stops the run.
	Paused Status = "paused"
	Denied Status = "denied"
)

// Succeeded reports whether the status is a success.
func (s Status) Succeeded() bool { return s == Completed || s == Degraded }

// ExitStatus returns the exit status of a program whose run has ended with the status.
func (s Status) ExitStatus() int {
	switch s {
	case Completed, Degraded:
		return 0
	case Denied:
		return 3
	case Paused:
		return 4
	case TimedOut:
		return 124
	case Cancelled: // as by SIGTERM
		return 143
	default:
		return 1
	}
}

// Event is one line of the stream. Its kind determines which fields are set; fields that are not set are absent from the
// line.
type Event struct {
	V     int       `json:"v"`
	Seq   int64     `json:"seq"`
	Event Kind      `json:"event"`
	Run   string    `json:"run"`
	Time  time.Time `json:"time"`
	// At is the offset of the line in the journal that the event was appended to.
	At int64 `json:"-"`

	// Node is the node's id, in all events about a node. For a node inside a sub-workflow it is a path, such as
	// build/compile.
	Node string `json:"node,omitempty"`
	// Iteration is the iteration of a node with a loop, from 1. Item is the index of a batch's item, from 0.
	Iteration int  `json:"iteration,omitempty"`
	Item      *int `json:"item,omitempty"`

	Workflow *Workflow `json:"workflow,omitempty"` // run_started
	// Workflows are the sub-workflows that have a literal name.
	Workflows []Workflow      `json:"workflows,omitempty"` // run_started
	Inputs    json.RawMessage `json:"inputs,omitempty"`    // run_started
	Nodes     []string        `json:"nodes,omitempty"`     // run_started: the ids, in the order of the file
	Cwd       string          `json:"cwd,omitempty"`       // run_started
	// OnFailure is stop if a failure stops the nodes that run beside it, or continue if others start after it. By default those finish, and no
	// other starts.
	OnFailure string `json:"on_failure,omitempty"` // run_started
	// Budget is what the run and those that it continues may spend, Spent what the latter have spent.
	Budget      *Budget   `json:"budget,omitempty"`       // run_started
	Spent       *Spending `json:"spent,omitempty"`        // run_started
	MaxRuns     int       `json:"max_runs,omitempty"`     // run_queued: the limit on concurrent runs
	ResumedFrom string    `json:"resumed_from,omitempty"` // run_started
	// The span of the run that this one goes on from.
	ResumedTraceID string `json:"resumed_trace_id,omitempty"` // run_started
	ResumedSpanID  string `json:"resumed_span_id,omitempty"`  // run_started
	// Given names the secret inputs whose values were given to the run: a resume needs them again.
	Given []string `json:"given,omitempty"` // run_started
	// Origins says for each input where its value is from: given, environment, settings, vars, default or unset.
	Origins map[string]string `json:"origins,omitempty"` // run_started
	// Answers are the answers that were given before the run began, by the paths of the nodes that ask.
	Answers map[string]string `json:"answers,omitempty"` // run_started
	// Denied are the nodes that a person has denied in the runs before, and that no person has allowed since, by their paths.
	Denied   map[string]Refusal `json:"denied,omitempty"`    // run_started
	FirstRun string             `json:"first_run,omitempty"` // run_started of a resumed run: the run that the chain of resumes began with
	// KeyVersion is the version of the digests that the node keys of the chain are made of: KeyVersion, or 0 if that began before there was one.
	KeyVersion int             `json:"key_version,omitempty"` // run_started
	Again      *Again          `json:"again,omitempty"`       // run_started of a run that somebody asked to run nodes again
	Reruns     json.RawMessage `json:"reruns,omitempty"`      // run_started: how often nodes were asked to run again that had ended, by their paths

	// The span of the run or of an attempt at a node, see W3C Trace Context.
	TraceID      string `json:"trace_id,omitempty"`       // run_started
	SpanID       string `json:"span_id,omitempty"`        // run_started, node_started, and the end of an attempt at an item
	ParentSpanID string `json:"parent_span_id,omitempty"` // run_started of a traced caller, node_started inside a sub-workflow

	Type    string `json:"type,omitempty"`    // node_started
	MCP     *MCP   `json:"mcp,omitempty"`     // node_started of an MCP tool
	RunsOn  string `json:"runs_on,omitempty"` // node_started of a node that does not run on this machine: its runner
	Items   *int   `json:"items,omitempty"`   // node_started of a batch: the number of items
	Attempt int    `json:"attempt,omitempty"` // node_started, node_completed, node_failed: from 1

	Done    float64 `json:"done,omitempty"`    // node_progress
	Total   float64 `json:"total,omitempty"`   // node_progress
	Message string  `json:"message,omitempty"` // node_progress

	// Because is why a node runs although an earlier run had something of the workflow: changed, unfinished, asked for, or after NODE.
	Because string `json:"because,omitempty"` // node_started of a resumed run

	Action      string          `json:"action,omitempty"`       // node_completed, node_reused
	Outputs     json.RawMessage `json:"outputs,omitempty"`      // node_completed, node_reused, node_failed, run_finished, item_, iteration_completed
	InputDigest string          `json:"input_digest,omitempty"` // node_completed, node_reused, node_failed when handled, item_, iteration_completed
	// IterationDigest is the input digest of the last iteration of a loop, which ended its node.
	IterationDigest string   `json:"iteration_digest,omitempty"` // node_completed, node_reused
	Redacted        bool     `json:"redacted,omitempty"`         // a secret was removed from the outputs
	DurationMS      *float64 `json:"duration_ms,omitempty"`      // node_completed, node_failed, run_finished
	// RanAt is when that was done which is taken from an earlier run, as that has written its time.
	RanAt    string `json:"ran_at,omitempty"`   // node_reused, and an item or iteration taken from an earlier run
	FromRun  string `json:"from_run,omitempty"` // node_reused, and an item or iteration taken from an earlier run
	Note     string `json:"note,omitempty"`     // node_completed, item_, iteration_completed: what the outputs do not show, such as why an exit status is not a failure
	Cached   bool   `json:"cached,omitempty"`   // node_reused, item_completed: taken from the cache of earlier runs
	Outdated bool   `json:"outdated,omitempty"` // node_reused: a node before it has run again since

	Error     *fault.Fault `json:"error,omitempty"`       // node_failed, run_finished, run_refused
	WillRetry *bool        `json:"will_retry,omitempty"`  // node_failed
	RetryInMS *float64     `json:"retry_in_ms,omitempty"` // node_failed that is retried
	Handled   *bool        `json:"handled,omitempty"`     // node_failed: an error edge handles it

	Question string   `json:"question,omitempty"` // approval_requested
	Choices  []string `json:"choices,omitempty"`  // approval_requested
	// Params are the parameters that the node would run with, without secrets.
	Params json.RawMessage `json:"params,omitempty"` // approval_requested
	// AnyAnswer is set if any text is an answer, and none denies.
	AnyAnswer bool `json:"any_answer,omitempty"` // approval_requested, approval_resolved
	// Fields is the schema of an answer that is an object.
	Fields json.RawMessage `json:"fields,omitempty"` // approval_requested
	// State is what a node that asks itself needs to go on with the answer. Only the question of such a node has one.
	State  json.RawMessage `json:"state,omitempty"`  // approval_requested
	Answer string          `json:"answer,omitempty"` // approval_resolved
	By     string          `json:"by,omitempty"`     // approval_resolved: who answered, or the way the answer came; approval_requested: person, if only a person may answer
	Person bool            `json:"person,omitempty"` // approval_resolved: a person gave the answer, not a program
	// DeniedBy is who denied the node in a run before, if that was a person: no program may allow it then.
	DeniedBy string `json:"denied_by,omitempty"` // approval_requested

	Reason string `json:"reason,omitempty"` // node_skipped
	Cause  string `json:"cause,omitempty"`  // node_cancelled: the node whose failure stopped it, or another cause

	Success       *bool       `json:"success,omitempty"`        // run_refused: false
	Status        Status      `json:"status,omitempty"`         // run_finished
	Checkpoint    *Checkpoint `json:"checkpoint,omitempty"`     // run_finished
	NodesExecuted *int        `json:"nodes_executed,omitempty"` // run_finished
	NodesReused   *int        `json:"nodes_reused,omitempty"`   // run_finished
	Usage         *Usage      `json:"usage,omitempty"`          // run_finished, and events after which it has changed: the use of language models
	Resume        *fault.Step `json:"resume,omitempty"`         // run_finished: the step that goes on from the run
	Warnings      []string    `json:"warnings,omitempty"`       // run_finished: why a run is degraded, and other warnings
}

// Workflow identifies the workflow that a run executes.
type Workflow struct {
	Name       string          `json:"name"`
	Path       string          `json:"path,omitempty"`
	Digest     string          `json:"digest"`
	Definition json.RawMessage `json:"definition,omitempty"`
	// Source is SourceLibrary for a saved workflow, SourceDraft for a draft, or empty for a file and what has no name.
	Source string `json:"source,omitempty"`
	// Ref and From say whose sub-workflow it is: what a node names, in a workflow whose paths start from the folder From. Dir is the
	// folder that its own paths start from.
	Ref  string `json:"ref,omitempty"`
	From string `json:"from,omitempty"`
	Dir  string `json:"dir,omitempty"`
}

// The sources of workflows that the home has by name.
const (
	SourceLibrary = "library"
	SourceDraft   = "draft"
)

// Again is what somebody asked a run to do again, or to do alone, of the run that it takes the rest from.
type Again struct {
	// Only is the path of the only node that the run executes. It takes all others as they are.
	Only string `json:"only,omitempty"`
	// From is the path of a node that runs again, with all nodes that it leads to.
	From string `json:"from,omitempty"`
	// RetryFailed makes failed items and handled failures run again, with all nodes that they lead to.
	RetryFailed bool `json:"retry_failed,omitempty"`
}

// MCP names the tool that a node calls.
type MCP struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
}

// Checkpoint is how far a run came.
type Checkpoint struct {
	CompletedNodes []string `json:"completed_nodes"`
	// CompletedTotal is the number of completed nodes in a document that has only the first of them.
	CompletedTotal int    `json:"completed_total,omitempty"`
	FailedNode     string `json:"failed_node,omitempty"`
	RunID          string `json:"run_id"`
}

// Settles reports whether the event is a checkpoint: the last event of a node, from which a later run can continue.
func (e *Event) Settles() bool {
	switch e.Event {
	case NodeCompleted, NodeReused:
		return true
	case NodeFailed:
		return e.IsFailure() && e.Handled != nil && *e.Handled
	}
	return false
}

// IsFailure reports whether the event is the failure of a node as a whole: not of an item of a batch, and not of an attempt
// that is retried.
func (e *Event) IsFailure() bool {
	return e.Event == NodeFailed && e.Item == nil && (e.WillRetry == nil || !*e.WillRetry)
}

// RanTime returns when that was done which the event reports, in this run or in an earlier one. It is the zero time if that is not known.
func (e *Event) RanTime() time.Time {
	if e.RanAt == "" {
		return e.Time
	}
	at, _ := time.Parse(time.RFC3339Nano, e.RanAt)
	return at
}

// Denies reports whether the event is an answer that forbids a node to run.
func (e *Event) Denies() bool {
	return e.Event == ApprovalResolved && e.Answer == Denial && !e.AnyAnswer
}

// Why a run executes a node although an earlier run had something of its workflow. A fourth reason names a node: after NODE.
const (
	Changed    = "changed"    // its type, its parameters or what leads to it is another
	Unfinished = "unfinished" // no earlier run finished it, or what it put out is lost
	AskedFor   = "asked for"  // somebody wishes it
)

// Denial is the answer that forbids a node to run.
const Denial = "no"

// IsTerminal reports whether the event is the last of its stream.
func (e *Event) IsTerminal() bool { return e.Event == RunFinished || e.Event == RunRefused }

// shortened returns a copy of the event whose error and warnings fit in a line.
func (e *Event) shortened() *Event {
	const most = 2000 // bytes per warning; a run has few warnings
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

// Line returns the event as a line of the stream, including its newline. An error and warnings that do not fit are cut.
func (e *Event) Line() ([]byte, error) {
	raw, err := rawjson.Marshal(e)
	if err == nil && len(raw) >= MaxLine {
		raw, err = rawjson.Marshal(e.shortened())
	}
	if err != nil {
		return nil, err
	}
	if len(raw) >= MaxLine {
		return nil, fault.New(fault.TooLarge, "an event of %d bytes does not fit in a line of the stream", len(raw))
	}
	return append(raw, '\n'), nil
}

// IsOfNode reports whether events of a kind are about a node. It is false for an unknown kind.
func (k Kind) IsOfNode() bool {
	switch k {
	case NodeStarted, NodeProgress, NodeCompleted, NodeReused, NodeFailed, NodeSkipped, NodeCancelled,
		ItemCompleted, IterationCompleted, ApprovalRequested, ApprovalResolved:
		return true
	}
	return false
}

// Refusal is a person's no to the question about a node.
type Refusal struct {
	By string `json:"by"`
	// InputDigest is that of the question.
	InputDigest string `json:"input_digest,omitempty"`
}
