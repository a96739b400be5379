package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/cli"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run"
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
func standingOf(rec *run.Record) (*standing, error) {
	status, _, err := rec.Status()
	if err != nil {
		return nil, err
	}
	journal, err := rec.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = journal.Close() }()
	s := &standing{RunID: rec.ID, Status: status, Running: []string{}, Completed: []string{}}
	running := map[string]bool{}
	var order []string
	events := event.NewReader(journal)
	for {
		e, _, err := events.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		s.take(e)
		switch {
		case e.Event == event.NodeStarted && !running[e.Node]:
			running[e.Node] = true
			order = append(order, e.Node)
		case e.Event == event.NodeCompleted, e.Event == event.NodeCancelled, e.Fails():
			delete(running, e.Node)
		}
	}
	if status == run.Running {
		for _, id := range order {
			if running[id] {
				running[id] = false // a loop starts its node more than once
				s.Running = append(s.Running, id)
			}
		}
		s.Nodes.Running = len(s.Running)
	}
	if newest := rec.Latest(); newest.ID != rec.ID {
		s.ResumedBy = newest.ID
	}
	if status == run.Interrupted {
		s.Resume = "pflow-exec resume " + rec.ID
		s.Error = interruption(rec)
	}
	return s, nil
}

func (s *standing) take(e *event.Event) {
	if strings.Contains(e.Node, "/") { // the workflow's own nodes are counted, not those inside them
		return
	}
	if e.Settles() {
		s.Completed = append(s.Completed, e.Node)
	}
	switch e.Event {
	case event.RunStarted:
		s.Workflow, s.StartedAt, s.Nodes.Total, s.Resumed = e.Workflow.Name, &e.Time, len(e.Nodes), e.ResumedFrom
	case event.NodeCompleted:
		s.Nodes.Completed++
	case event.NodeReused:
		s.Nodes.Reused++
	case event.NodeFailed:
		if !e.Fails() {
			return
		}
		s.Nodes.Failed++
		if e.Handled == nil || !*e.Handled {
			s.Failed, s.Error = e.Node, e.Error
		}
	case event.NodeSkipped:
		s.Nodes.Skipped++
	case event.NodeCancelled:
		s.Nodes.Cancelled++
	case event.RunFinished:
		s.EndedAt, s.Resume = &e.Time, e.Resume
		if e.Error != nil {
			s.Error = e.Error
		}
	}
}
