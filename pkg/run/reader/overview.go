package reader

import (
	"encoding/json"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// Overview is the document of how far a run is.
type Overview struct {
	RunID     string       `json:"run_id"`
	Workflow  string       `json:"workflow"`
	Status    event.Status `json:"status"`
	StartedAt *time.Time   `json:"started_at,omitempty"`
	EndedAt   *time.Time   `json:"ended_at,omitempty"`
	// UpdatedAt is the time of the run's latest event.
	UpdatedAt *time.Time `json:"updated_at,omitempty"`
	Nodes     NodeCounts `json:"nodes"`
	// Running are the paths of the nodes that run now, those inside others too.
	Running []string `json:"running"`
	// RunningNodes has the same nodes with how long they have been running.
	RunningNodes []RunningNode `json:"running_nodes,omitempty"`
	Completed    []string      `json:"completed_nodes"`
	// CompletedTotal counts the completed nodes if not all of them are shown.
	CompletedTotal int          `json:"completed_total,omitempty"`
	Failed         string       `json:"failed_node,omitempty"`
	Error          *fault.Fault `json:"error,omitempty"`
	// Questions wait for a person's answer. QuestionsTotal is their number if Questions has only the first.
	Questions      []Question `json:"questions,omitempty"`
	QuestionsTotal int        `json:"questions_total,omitempty"`
	// Warnings are why the run is degraded, and other remarks. WarningsTotal is their number if Warnings has only the first.
	Warnings      []string `json:"warnings,omitempty"`
	WarningsTotal int      `json:"warnings_total,omitempty"`
	// Budget is what the run and those that it continues may spend, Spent what they have spent.
	Budget      *event.Budget   `json:"budget,omitempty"`
	Spent       *event.Spending `json:"spent,omitempty"`
	ResumedFrom string          `json:"resumed_from,omitempty"`
	ResumedBy   string          `json:"resumed_by,omitempty"`
	wayOn
	// Outputs are those of a run that has ended, as Answer has them. OutputsTotal is their number if only the first are shown.
	Outputs      json.RawMessage `json:"outputs,omitempty"`
	OutputsTotal int             `json:"outputs_total,omitempty"`
	// NodeOutputs are the outputs of the workflow's own nodes that have ended, by their ids. NodeOutputsTotal is the number of those
	// nodes if only the first are shown.
	NodeOutputs      Fields `json:"node_outputs,omitempty"`
	NodeOutputsTotal int    `json:"node_outputs_total,omitempty"`
	// Next is as in Answer.
	Next string `json:"next,omitempty"`

	answer    *Answer // of a run that has ended, if Outputs is set
	addressed bool
}

// RunningNode is a node that runs now.
type RunningNode struct {
	Node       string  `json:"node"`
	DurationMS float64 `json:"duration_ms"`
	// Message is the last progress that the node has reported, or empty.
	Message string `json:"message,omitempty"`
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

// Overview reads the whole journal. With values, the overview has the outputs of the run and of its nodes.
func (r *Run) Overview(values bool) (*Overview, error) {
	read := r.outline
	if values {
		read = r.History
	}
	h, status, err := read()
	if err != nil {
		return nil, err
	}
	if e := h.Finished; e != nil {
		r.PointOn(e)
	}
	o, err := OverviewOf(h, status, r.Blob)
	if err != nil {
		return nil, err
	}
	if o.RunID, o.ResumedBy = r.ID(), r.Successor(); o.ResumedBy != "" {
		o.Questions = nil
	}
	if status == journal.Interrupted {
		o.Error = r.interruption()
		o.ResumeBy(resumption(r))
	}
	if journal.IsLive(status) {
		o.Next = waitNext(fault.Shell, status, o.RunID)
	}
	if values {
		err = o.addOutputs(r, h)
	}
	return o, err
}

// OverviewOf returns the overview of a run of which nothing but the events is known, and its status.
func OverviewOf(h *history.Run, status event.Status, load event.Load) (o *Overview, err error) {
	o = &Overview{Status: status, Running: []string{}, Completed: completed(h)}
	if e := h.Started; e != nil {
		o.RunID, o.Workflow, o.StartedAt, o.UpdatedAt, o.ResumedFrom = e.Run, e.Workflow.Name, &e.Time, &h.Time, e.ResumedFrom
	}
	o.count(h)
	now := time.Now()
	o.Budget, o.Spent = spending(h, status, now)
	for n := range h.All() {
		if status == journal.Running && n.State == history.Running {
			o.Running = append(o.Running, n.Path)
			o.RunningNodes = append(o.RunningNodes, RunningNode{n.Path, float64(n.Elapsed(now).Microseconds()) / 1000, n.Message})
		}
	}
	o.Nodes.Running = len(o.Running)
	if o.Questions, err = openQuestions(h, status, load); err != nil {
		return nil, err
	}
	if e := h.Finished; e != nil {
		o.EndedAt, o.Warnings = &e.Time, e.Warnings
		o.ResumeBy(e.Resume)
		if e.Error != nil {
			o.Error = e.Error
		}
	}
	return o, nil
}

// spending returns the budget of a run and what is spent of it. Of a run that has stopped, the time until its latest event counts.
func spending(h *history.Run, status event.Status, now time.Time) (*event.Budget, *event.Spending) {
	if !journal.IsLive(status) {
		now = h.Time
	}
	return h.Budget(now)
}

// Limit shortens the overview for a reader, so that it has at most the given number of bytes as JSON, which must be at least 1024. The
// counts stay, and so do the beginnings of the fault and of the lists.
func (o *Overview) Limit(reader fault.Reader, most int) error {
	o.Address(reader)
	outputs, nodes := o.Outputs, o.NodeOutputs
	o.Outputs, o.NodeOutputs = nil, nil
	if err := o.limit(reader, most); err != nil || outputs == nil && nodes == nil {
		return err
	}
	return o.limitOutputs(reader, most, outputs, nodes)
}

// limit shortens what is not an output.
func (o *Overview) limit(reader fault.Reader, most int) error {
	if o.Error != nil {
		o.Error.Address(reader)
	}
	raw, err := rawjson.Marshal(o)
	if err != nil || len(raw) <= most {
		return err
	}
	if o.Error != nil {
		o.Error = o.Error.LimitErrors(maxErrors).LimitBytes(most / 2)
	}
	o.Workflow = fault.Truncate(o.Workflow, most/16)
	o.limitQuestions(most / 4)
	all := len(o.Completed)
	if o.Completed = first(o.Completed, most/16); len(o.Completed) < all {
		o.CompletedTotal = all
	}
	o.Running = first(o.Running, most/16)
	for i, n := range o.RunningNodes {
		if n.Message = fault.Truncate(n.Message, maxWarningSize/4); i >= len(o.Running) || i >= maxRunning {
			o.RunningNodes = o.RunningNodes[:i]
			break
		}
		o.RunningNodes[i] = n
	}
	all = len(o.Warnings)
	o.Warnings, o.WarningsTotal = limitWarnings(o.Warnings, most/8)
	if raw, err = rawjson.Marshal(o); err == nil && len(raw) > most && all > 0 {
		o.Warnings, o.WarningsTotal = nil, all
	}
	return err
}

// maxRunning is the most running nodes that an overview of a limited size describes.
const maxRunning = 3

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

// interruption returns the fault of a run that stopped without a last event.
func (r *Run) interruption() *fault.Fault {
	why := r.rec.FailureReason()
	if why == "" {
		why = "the process that executed it has ended"
	}
	f := fault.New(fault.Execution, "The run was interrupted: %s", why).
		Then(fault.Step{Do: fault.DoResume, Run: r.ID()})
	return pointOn(f, journal.Interrupted, r.Successor())
}

// wayOn is the part of a document that says how to go on from the run.
type wayOn struct {
	// Resume is the command that goes on from the run, or the call of a tool. It is empty if another run continues the run.
	Resume string `json:"resume,omitempty"`
	step   *fault.Step
}

// ResumeBy sets the step of Resume, or removes it if step is nil.
func (w *wayOn) ResumeBy(step *fault.Step) {
	w.step = step
	w.addressResume(fault.Shell)
}

// addressResume makes Resume speak to one reader.
func (w *wayOn) addressResume(reader fault.Reader) {
	if w.Resume = ""; w.step != nil {
		w.Resume = w.step.Call(reader)
	}
}

// resumption returns the step that goes on from a run that was interrupted, or nil if another run continues it.
func resumption(r *Run) *fault.Step {
	if r.Successor() != "" {
		return nil
	}
	return &fault.Step{Do: fault.DoResume, Run: r.ID()}
}

// Address makes Resume and Next speak to one reader.
func (o *Overview) Address(reader fault.Reader) {
	if o.addressed {
		return
	}
	o.addressed = true
	a := &Answer{Success: o.Status.Succeeded(), RunID: o.RunID, Status: o.Status, Error: o.Error, ResumedBy: o.ResumedBy, wayOn: o.wayOn}
	a.Next = o.Next
	a.Address(reader)
	o.Resume, o.Next, o.Error = a.Resume, a.Next, a.Error
}

// Address makes Resume speak to one reader.
func (d *Details) Address(reader fault.Reader) { d.addressResume(reader) }
