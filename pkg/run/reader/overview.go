package reader

import (
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// Overview is the document of how far a run is.
type Overview struct {
	RunID     string       `json:"run_id"`
	Workflow  string       `json:"workflow"`
	Status    event.Status `json:"status"`
	StartedAt *time.Time   `json:"started_at,omitempty"`
	EndedAt   *time.Time   `json:"ended_at,omitempty"`
	Nodes     NodeCounts   `json:"nodes"`
	// Running are the paths of the nodes that run now, those inside others too.
	Running []string `json:"running"`
	// RunningNodes has the same nodes with how long they have been running.
	RunningNodes []RunningNode `json:"running_nodes,omitempty"`
	Completed    []string      `json:"completed_nodes"`
	Failed       string        `json:"failed_node,omitempty"`
	Error        *fault.Fault  `json:"error,omitempty"`
	ResumedFrom  string        `json:"resumed_from,omitempty"`
	ResumedBy    string        `json:"resumed_by,omitempty"`
	// Resume is the command that goes on from the run.
	Resume string `json:"resume,omitempty"`
}

// RunningNode is a node that runs now.
type RunningNode struct {
	Node       string  `json:"node"`
	DurationMS float64 `json:"duration_ms"`
}

// NodeCounts counts the workflow's own nodes, except that Running counts those inside them too.
type NodeCounts struct {
	Total     int `json:"total"`
	Completed int `json:"completed"`
	Reused    int `json:"reused"`
	Failed    int `json:"failed"`
	Skipped   int `json:"skipped"`
	Cancelled int `json:"cancelled"`
	Running   int `json:"running"`
}

// Overview reads the whole journal, without values.
func (r *Run) Overview() (*Overview, error) {
	h, status, err := r.outline()
	if err != nil {
		return nil, err
	}
	o := &Overview{RunID: r.ID(), Status: status, Running: []string{}, Completed: completed(h), ResumedBy: r.successor()}
	if e := h.Started; e != nil {
		o.Workflow, o.StartedAt, o.ResumedFrom = e.Workflow.Name, &e.Time, e.ResumedFrom
	}
	o.count(h)
	now := time.Now()
	for n := range h.All() {
		if status == journal.Running && n.State == history.Running {
			o.Running = append(o.Running, n.Path)
			o.RunningNodes = append(o.RunningNodes, RunningNode{n.Path, float64(n.Elapsed(now).Microseconds()) / 1000})
		}
	}
	o.Nodes.Running = len(o.Running)
	if e := h.Finished; e != nil {
		o.EndedAt, o.Resume = &e.Time, e.Resume
		if e.Error != nil {
			o.Error = e.Error
		}
	}
	if status == journal.Interrupted {
		o.Resume, o.Error = journal.ResumeCommand(r.ID()), r.interruption()
	}
	return o, nil
}

func (o *Overview) count(h *history.Run) {
	counts := h.Counts()
	o.Nodes = NodeCounts{
		Total: len(h.Nodes), Completed: counts[history.Completed], Reused: counts[history.Reused], Failed: counts[history.Failed],
		Skipped: counts[history.Skipped], Cancelled: counts[history.Cancelled],
	}
	for _, n := range h.Nodes {
		if n.State == history.Failed && !n.Handled {
			o.Failed, o.Error = n.Path, n.Error
			return
		}
	}
}

// completed returns the workflow's own nodes that need not run again, in the order of the workflow's file.
func completed(h *history.Run) []string {
	nodes := []string{}
	for _, n := range h.Nodes {
		if n.State == history.Completed || n.State == history.Reused || n.State == history.Failed && n.Handled {
			nodes = append(nodes, n.Path)
		}
	}
	return nodes
}

// successor returns the id of the last run that went on from this one, or "".
func (r *Run) successor() string {
	if last := r.rec.LastSuccessor(); last.ID != r.ID() {
		return last.ID
	}
	return ""
}

// interruption returns the fault of a run that stopped without a last event.
func (r *Run) interruption() *fault.Fault {
	why := r.rec.FailureReason()
	if why == "" {
		why = "the process that executed it has ended"
	}
	return fault.New(fault.Execution, "The run was interrupted: %s", why).
		SuggestCommand("Go on with: %s", journal.ResumeCommand(r.ID())).SuggestTool("%s", journal.ResumeCall(r.ID(), ""))
}

// ResumeCall says how a reader with tools goes on from the run, or waits for its end.
func (r *Run) ResumeCall() string { return journal.ResumeCall(r.ID(), "") }

// resumeFor returns how a reader goes on from a run, from the command line that does so.
func resumeFor(reader fault.Reader, id, command string) string {
	if reader != fault.Tools || command == "" {
		return command
	}
	return journal.ResumeCall(id, command)
}

// Address makes Resume speak to one reader.
func (o *Overview) Address(reader fault.Reader) { o.Resume = resumeFor(reader, o.RunID, o.Resume) }

// Address makes Resume speak to one reader.
func (d *Details) Address(reader fault.Reader) { d.Resume = resumeFor(reader, d.RunID, d.Resume) }
