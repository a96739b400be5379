package main

import (
	"fmt"
	"io"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type statusCommand struct {
	RunID string `arg:"" name:"run" help:"A run's id, a beginning of it that no other has, or last."`
}

// standing is where a run stands.
type standing struct {
	RunID     string       `json:"run_id"`
	Workflow  string       `json:"workflow"`
	Status    event.Status `json:"status"`
	StartedAt *time.Time   `json:"started_at,omitempty"`
	EndedAt   *time.Time   `json:"ended_at,omitempty"`
	Nodes     nodeCounts   `json:"nodes"`
	Running   []string     `json:"running"`
	Completed []string     `json:"completed_nodes"`
	Failed    string       `json:"failed_node,omitempty"`
	Error     *fault.Fault `json:"error,omitempty"`
	Resumed   string       `json:"resumed_from,omitempty"`
	ResumedBy string       `json:"resumed_by,omitempty"`
	Resume    string       `json:"resume,omitempty"`
}

type nodeCounts struct {
	Total     int `json:"total"`
	Completed int `json:"completed"`
	Reused    int `json:"reused"`
	Failed    int `json:"failed"`
	Skipped   int `json:"skipped"`
	Cancelled int `json:"cancelled"`
	Running   int `json:"running"`
}

// Run tells where a run stands. It succeeds when that could be told, however the run fares.
func (c *statusCommand) Run(app *cli.App) error {
	_, rec, err := openRun(app, c.RunID)
	if err != nil {
		return err
	}
	s, err := standingOf(rec)
	if err != nil {
		return err
	}
	return app.Document(s, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "%s  %s  %s  %d/%d nodes\n", s.RunID, s.Workflow, s.Status, s.Nodes.Completed+s.Nodes.Reused, s.Nodes.Total)
		if s.Error != nil {
			_, _ = fmt.Fprintf(w, "%s: %s\n", s.Failed, s.Error.Message)
		}
		if s.Resume != "" {
			_, _ = fmt.Fprintf(w, "go on with: %s\n", s.Resume)
		}
	})
}

// standingOf reads the whole journal.
func standingOf(rec *journal.Reader) (*standing, error) {
	status, _, err := rec.Status()
	if err != nil {
		return nil, err
	}
	told, _, err := recorded(rec, history.Outline)
	if err != nil {
		return nil, err
	}
	s := &standing{RunID: rec.ID, Status: status, Running: []string{}, Completed: []string{}}
	if e := told.Started; e != nil {
		s.Workflow, s.StartedAt, s.Resumed = e.Workflow.Name, &e.Time, e.ResumedFrom
	}
	s.count(told)
	for n := range told.All() {
		if status == journal.Running && n.State == history.Running {
			s.Running = append(s.Running, n.Path)
		}
	}
	s.Nodes.Running = len(s.Running)
	if e := told.Finished; e != nil {
		s.EndedAt, s.Resume = &e.Time, e.Resume
		if e.Error != nil {
			s.Error = e.Error
		}
	}
	if newest := rec.LastSuccessor(); newest.ID != rec.ID {
		s.ResumedBy = newest.ID
	}
	if status == journal.Interrupted {
		s.Resume, s.Error = resumeLine(rec.ID), interruption(rec)
	}
	return s, nil
}

// count counts the workflow's own nodes, not those inside them.
func (s *standing) count(told *history.Run) {
	counts := told.Counts()
	s.Nodes = nodeCounts{
		Total: len(told.Nodes), Completed: counts[history.Completed], Reused: counts[history.Reused], Failed: counts[history.Failed],
		Skipped: counts[history.Skipped], Cancelled: counts[history.Cancelled],
	}
	for _, n := range told.Nodes {
		switch {
		case n.State == history.Completed, n.State == history.Reused, n.State == history.Failed && n.Handled:
			s.Completed = append(s.Completed, n.Path)
		case n.State == history.Failed && s.Failed == "":
			s.Failed, s.Error = n.Path, n.Error
		}
	}
}
