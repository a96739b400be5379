package main

import (
	"fmt"
	"io"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/cluster"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// overview is the document of how far a run is.
type overview struct {
	RunID     string         `json:"run_id"`
	Workflow  string         `json:"workflow"`
	Status    event.Status   `json:"status"`
	StartedAt time.Time      `json:"started_at"`
	EndedAt   *time.Time     `json:"ended_at,omitempty"`
	Nodes     map[string]int `json:"nodes"`
	Running   []string       `json:"running"`
	Completed []string       `json:"completed_nodes"`
	Failed    string         `json:"failed_node,omitempty"`
	Error     *fault.Fault   `json:"error,omitempty"`
	Questions []question     `json:"questions,omitempty"`
}

// question is a question that waits for a person's answer.
type question struct {
	Node     string   `json:"node"`
	Question string   `json:"question"`
	Choices  []string `json:"choices,omitempty"`
}

// outline returns the history of a run, or an empty one before its first event.
func outline(s *cluster.State) (*history.Run, error) {
	r, err := s.Events()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return history.Outline(r)
}

// overviewOf returns the document of a run.
func overviewOf(s *cluster.State) (*overview, error) {
	o := &overview{
		RunID: s.ID, Workflow: s.Workflow, Status: s.Status, StartedAt: s.Started, Error: s.Fault,
		Nodes: map[string]int{}, Running: []string{}, Completed: []string{},
	}
	if !s.Ended.IsZero() {
		o.EndedAt = &s.Ended
	}
	h, err := outline(s)
	if err != nil {
		return nil, err
	}
	for state, n := range h.Counts() {
		if state != "" {
			o.Nodes[string(state)] = n
		}
	}
	o.Nodes["total"] = len(h.Nodes)
	for _, n := range h.Nodes {
		if n.State == history.Completed || n.State == history.Reused || n.Handled {
			o.Completed = append(o.Completed, n.Path)
		}
	}
	for n := range h.All() {
		switch {
		case s.Live() && n.State == history.Running:
			o.Running = append(o.Running, n.Path)
		case s.Status == event.Paused && n.State == history.Waiting:
			o.Questions = append(o.Questions, question{n.Path, n.Question, n.Choices})
		}
	}
	if e := h.Finished; e != nil && !s.Live() && o.Error == nil {
		if o.Error = e.Error; e.Checkpoint != nil {
			o.Failed = e.Checkpoint.FailedNode
		}
	}
	return o, nil
}

type statusCommand struct{ runArgument }

// Run prints how far a run is.
func (c *statusCommand) Run(app *cli.App) error {
	to, s, err := c.state(app)
	if err != nil {
		return err
	}
	defer to.Close()
	o, err := overviewOf(s)
	if err != nil {
		return err
	}
	return app.Document(o, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "%s %s: %s, %d of %d nodes completed\n", o.RunID, o.Workflow, o.Status, len(o.Completed), o.Nodes["total"])
	})
}
