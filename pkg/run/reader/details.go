package reader

import (
	"encoding/json"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/run/params"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Details is the document of everything that is known about a run.
type Details struct {
	RunID       string          `json:"run_id"`
	Workflow    string          `json:"workflow"`
	Path        string          `json:"path,omitempty"`
	Digest      string          `json:"digest"`
	Status      event.Status    `json:"status"`
	StartedAt   *time.Time      `json:"started_at,omitempty"`
	EndedAt     *time.Time      `json:"ended_at,omitempty"`
	DurationMS  *float64        `json:"duration_ms,omitempty"`
	Cwd         string          `json:"cwd,omitempty"`
	TraceID     string          `json:"trace_id,omitempty"`
	ResumedFrom string          `json:"resumed_from,omitempty"`
	ResumedBy   string          `json:"resumed_by,omitempty"`
	Inputs      json.RawMessage `json:"inputs,omitempty"`
	Outputs     json.RawMessage `json:"outputs,omitempty"`
	Error       *fault.Fault    `json:"error,omitempty"`
	Warnings    []string        `json:"warnings,omitempty"`
	Usage       *event.Usage    `json:"usage,omitempty"`
	// Budget is what the run and those that it continues may spend, Spent what they have spent.
	Budget *event.Budget   `json:"budget,omitempty"`
	Spent  *event.Spending `json:"spent,omitempty"`
	wayOn
	Nodes []NodeDetails `json:"nodes"`
	// NodesTotal and WarningsTotal are the numbers of nodes and warnings if only the first are shown.
	NodesTotal    int `json:"nodes_total,omitempty"`
	WarningsTotal int `json:"warnings_total,omitempty"`
}

// NodeDetails is everything that is known about a node.
type NodeDetails struct {
	// Node is the node's path.
	Node string `json:"node"`
	Type string `json:"type,omitempty"`
	// RunsOn is the runner of the node, empty for this machine.
	RunsOn string `json:"runs_on,omitempty"`
	// State is that of the history, "pending" for a node without events, or "interrupted".
	State      string          `json:"state"`
	Attempts   int             `json:"attempts,omitempty"`
	Iterations int             `json:"iterations,omitempty"`
	Items      *ItemCounts     `json:"items,omitempty"`
	StartedAt  *time.Time      `json:"started_at,omitempty"`
	DurationMS *float64        `json:"duration_ms,omitempty"`
	Action     string          `json:"action,omitempty"`
	Outputs    json.RawMessage `json:"outputs,omitempty"`
	Error      *fault.Fault    `json:"error,omitempty"`
	FromRun    string          `json:"from_run,omitempty"`
	Cached     bool            `json:"cached,omitempty"`
	Why        string          `json:"why,omitempty"`
	Question   string          `json:"question,omitempty"`
	Choices    []string        `json:"choices,omitempty"`
	// Fields is the schema of an answer that is an object.
	Fields json.RawMessage `json:"fields,omitempty"`
	// Params are the parameters that a node which asks would run with, or, of a single node, those that it ran with: resolved as far as
	// the events contain the values.
	Params   json.RawMessage `json:"params,omitempty"`
	Answer   string          `json:"answer,omitempty"`
	Warnings []string        `json:"warnings,omitempty"`
}

// ItemCounts counts the items of a batch.
type ItemCounts struct {
	Total  int `json:"total"`
	Ended  int `json:"ended"`
	Failed int `json:"failed"`
}

// pending is the state of a node without events.
const pending = "pending"

// Details reads everything that is known about the run. Texts of more than limit characters are left out; 0 is no limit.
func (r *Run) Details(limit int) (*Details, error) {
	h, status, err := r.now()
	if err != nil {
		return nil, err
	}
	d := &Details{RunID: r.ID(), Status: status, ResumedBy: r.Successor(), Nodes: []NodeDetails{}}
	if e := h.Started; e != nil {
		d.Workflow, d.Path, d.Digest, d.StartedAt = e.Workflow.Name, e.Workflow.Path, e.Workflow.Digest, &e.Time
		d.Cwd, d.TraceID, d.ResumedFrom = e.Cwd, e.TraceID, e.ResumedFrom
		if d.Inputs, err = r.value(e.Inputs, limit); err != nil {
			return nil, err
		}
	}
	d.Budget, d.Spent = spending(h, status, time.Now())
	if e := h.Finished; e != nil {
		r.PointOn(e)
		d.EndedAt, d.DurationMS, d.Error, d.Warnings, d.Usage = &e.Time, e.DurationMS, e.Error, e.Warnings, e.Usage
		d.ResumeBy(e.Resume)
		if d.Outputs, err = r.outputs(e, limit); err != nil {
			return nil, err
		}
	}
	if status == journal.Interrupted {
		d.Error = r.interruption()
		d.ResumeBy(resumption(r))
	}
	for n := range h.All() {
		node, err := r.details(n, h.Time, status, limit)
		if err != nil {
			return nil, err
		}
		d.Nodes = append(d.Nodes, *node)
	}
	return d, nil
}

// Node reads everything that is known about a node of the run. Texts of more than limit characters are left out; 0 is no
// limit.
func (r *Run) Node(path string, limit int) (*NodeDetails, error) {
	h, status, err := r.now()
	if err != nil {
		return nil, err
	}
	if err := r.known(h, path); err != nil {
		return nil, err
	}
	d, err := r.details(h.Node(path), h.Time, status, limit)
	if err != nil || d.Params != nil {
		return d, err
	}
	d.Params, err = ranWith(r, h, h.Node(path), limit)
	return d, err
}

// ranWith returns the parameters that a node was executed with.
func ranWith(r *Run, h *history.Run, n *history.Node, limit int) (json.RawMessage, error) {
	if h.Started == nil || h.Started.Workflow == nil {
		return nil, nil
	}
	definition, err := event.Plain(h.Started.Workflow.Definition, r.Blob)
	if err != nil {
		return nil, err
	}
	file, _ := workflow.Read("workflow.json", definition)
	if file == nil {
		return nil, nil
	}
	given := params.New(h, file.Workflow, r.Blob).Of(n)
	if given == nil {
		return nil, nil
	}
	return r.value(event.Escape(given), limit)
}

// now returns the history of the run. That of a live one ends now.
func (r *Run) now() (*history.Run, event.Status, error) {
	h, status, err := r.History()
	if err == nil && status == journal.Running {
		h.Time = time.Now()
	}
	return h, status, err
}

func (r *Run) details(n *history.Node, now time.Time, status event.Status, limit int) (*NodeDetails, error) {
	d := &NodeDetails{
		Node: n.Path, Type: n.Type, RunsOn: n.RunsOn, State: string(n.State), Attempts: len(n.Attempts), Iterations: n.Iteration, Action: n.Action, Error: n.Error,
		FromRun: n.FromRun, Cached: n.Cached, Why: n.Reason, Question: n.Question, Choices: n.Choices, Fields: n.Fields, Answer: n.Answer, Warnings: n.Warnings,
	}
	switch {
	case n.State == "":
		d.State = pending
	case n.State == history.Running && status != journal.Running:
		d.State = string(journal.Interrupted)
	}
	if n.Total >= 0 {
		d.Items = &ItemCounts{n.Total, len(n.Items), n.Failures()}
	}
	if !n.Began.IsZero() {
		d.StartedAt = &n.Began
		if d.State != string(journal.Interrupted) { // else when it ended is not known
			d.DurationMS = new(float64(n.Elapsed(now).Microseconds()) / 1000)
		}
	}
	var err error
	if d.Outputs, err = r.value(n.Outputs, limit); err != nil {
		return nil, err
	}
	d.Params, err = r.value(n.Params, limit)
	return d, err
}

// value returns a value of the event stream as plain JSON, with long texts left out.
func (r *Run) value(raw json.RawMessage, limit int) (json.RawMessage, error) {
	return valueOf(raw, limit, r.Blob)
}

// valueOf is value for what has other blobs than a run.
func valueOf(raw json.RawMessage, limit int, load event.Load) (json.RawMessage, error) {
	if raw == nil {
		return nil, nil
	}
	return event.Abridge(raw, limit, load, event.Reference.Value)
}

// known returns a fault if the run has no node of that path. One inside another node is there once it has begun.
func (r *Run) known(h *history.Run, path string) error {
	if h.Node(path) != nil {
		return nil
	}
	f := fault.New(fault.NotFound, "Run %s has no node %q", r.ID(), path)
	var paths []string
	for n := range h.All() {
		paths = append(paths, n.Path)
	}
	if near, ok := fault.Nearest(path, paths); ok {
		f.Suggest("Did you mean %q?", near)
	}
	return f.Offer(path, paths)
}
