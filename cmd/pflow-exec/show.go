package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

type showCommand struct {
	RunID          string `arg:"" name:"run" help:"A run's id, a beginning of it that no other has, or last."`
	Node           string `arg:"" optional:"" help:"This node alone, with what it put out; build/compile inside a sub-workflow."`
	MaxOutputChars int    `help:"Leave longer texts out (${default}); 0 leaves out none. A node alone is shown whole to people." default:"2000" placeholder:"N"`
}

// shown is all that is known of a run.
type shown struct {
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
	Resume      string          `json:"resume,omitempty"`
	Nodes       []shownNode     `json:"nodes"`
}

// shownNode is all that is known of a node.
type shownNode struct {
	Node       string          `json:"node"`
	Type       string          `json:"type,omitempty"`
	State      string          `json:"state"`
	Attempts   int             `json:"attempts,omitempty"`
	Iterations int             `json:"iterations,omitempty"`
	Items      *shownItems     `json:"items,omitempty"`
	StartedAt  *time.Time      `json:"started_at,omitempty"`
	DurationMS *float64        `json:"duration_ms,omitempty"`
	Action     string          `json:"action,omitempty"`
	Outputs    json.RawMessage `json:"outputs,omitempty"`
	Error      *fault.Fault    `json:"error,omitempty"`
	FromRun    string          `json:"from_run,omitempty"`
	Cached     bool            `json:"cached,omitempty"`
	Why        string          `json:"why,omitempty"`
	Question   string          `json:"question,omitempty"`
	Answer     string          `json:"answer,omitempty"`
	Warnings   []string        `json:"warnings,omitempty"`
}

// shownItems are the items of a batch.
type shownItems struct {
	Total  int `json:"total"`
	Ended  int `json:"ended"`
	Failed int `json:"failed"`
}

// pending is the state of a node of which a run has not told anything.
const pending = "pending"

// Run tells all that is known of a run, or of one of its nodes.
func (c *showCommand) Run(app *cli.App) error {
	_, rec, err := openRun(app, c.RunID)
	if err != nil {
		return err
	}
	status, _, err := rec.Status()
	if err != nil {
		return err
	}
	told, _, err := recorded(rec, history.Read)
	if err != nil {
		return err
	}
	if status == journal.Running {
		told.Time = time.Now()
	}
	if c.Node != "" {
		if err := known(rec, told, c.Node); err != nil {
			return err
		}
		if !app.JSON() {
			c.MaxOutputChars = 0
		}
		n, err := c.node(rec, told.Node(c.Node), told.Time, status)
		if err != nil {
			return err
		}
		return app.Document(n, n.text)
	}
	s, err := c.run(rec, told, status)
	if err != nil {
		return err
	}
	return app.Document(s, s.text)
}

func (c *showCommand) run(rec *journal.Reader, told *history.Run, status event.Status) (*shown, error) {
	s := &shown{RunID: rec.ID, Status: status, Nodes: []shownNode{}}
	if newest := rec.LastSuccessor(); newest.ID != rec.ID {
		s.ResumedBy = newest.ID
	}
	var err error
	if e := told.Started; e != nil {
		s.Workflow, s.Path, s.Digest, s.StartedAt = e.Workflow.Name, e.Workflow.Path, e.Workflow.Digest, &e.Time
		s.Cwd, s.TraceID, s.ResumedFrom = e.Cwd, e.TraceID, e.ResumedFrom
		if s.Inputs, err = c.value(rec, e.Inputs); err != nil {
			return nil, err
		}
	}
	if e := told.Finished; e != nil {
		s.EndedAt, s.DurationMS, s.Error, s.Warnings, s.Resume, s.Usage = &e.Time, e.DurationMS, e.Error, e.Warnings, e.Resume, e.Usage
		a, err := answerOf(e, rec.Blob, c.MaxOutputChars)
		if err != nil {
			return nil, err
		}
		s.Outputs = a.Outputs
	}
	if status == journal.Interrupted {
		s.Resume, s.Error = resumeLine(rec.ID), interruption(rec)
	}
	for n := range told.All() {
		node, err := c.node(rec, n, told.Time, status)
		if err != nil {
			return nil, err
		}
		s.Nodes = append(s.Nodes, *node)
	}
	return s, nil
}

func (c *showCommand) node(rec *journal.Reader, n *history.Node, now time.Time, status event.Status) (*shownNode, error) {
	s := &shownNode{
		Node: n.Path, Type: n.Type, State: string(n.State), Attempts: len(n.Attempts), Iterations: n.Iteration, Action: n.Action, Error: n.Error,
		FromRun: n.FromRun, Cached: n.Cached, Why: n.Why, Question: n.Question, Answer: n.Answer, Warnings: n.Warnings,
	}
	switch {
	case n.State == "":
		s.State = pending
	case n.State == history.Running && status != journal.Running: // nobody is at it any more
		s.State = string(journal.Interrupted)
	}
	if n.Total >= 0 {
		s.Items = &shownItems{n.Total, len(n.Items), n.Failures()}
	}
	if !n.Began.IsZero() {
		ms := float64(n.Elapsed(now).Microseconds()) / 1000
		s.StartedAt, s.DurationMS = &n.Began, &ms
	}
	var err error
	s.Outputs, err = c.value(rec, n.Outputs)
	return s, err
}

// value is a value of the stream as it is shown: plain, with long texts left out.
func (c *showCommand) value(rec *journal.Reader, raw json.RawMessage) (json.RawMessage, error) {
	if raw == nil {
		return nil, nil
	}
	return event.Abridge(raw, c.MaxOutputChars, rec.Blob, event.Reference.Value)
}

func (s *shown) text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "%s  %s  %s", s.RunID, s.Workflow, s.Status)
	if s.DurationMS != nil {
		_, _ = fmt.Fprint(w, "  ", took(s.DurationMS))
	}
	_, _ = fmt.Fprintln(w)
	for _, line := range [][2]string{{"resumed from", s.ResumedFrom}, {"resumed by", s.ResumedBy}, {"used", s.Usage.String()}, {"go on with", s.Resume}} {
		if line[1] != "" {
			_, _ = fmt.Fprintf(w, "%s: %s\n", line[0], line[1])
		}
	}
	if s.Error != nil {
		_, _ = fmt.Fprintf(w, "error: %s\n", s.Error.Message)
	}
	table := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, n := range s.Nodes {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", n.State, n.Node, n.Type, took(n.DurationMS))
	}
	_ = table.Flush()
}

// took is a duration as people read it, nothing where there is none.
func took(ms *float64) string {
	if ms == nil {
		return ""
	}
	return history.FormatDuration(time.Duration(*ms * float64(time.Millisecond)))
}

func (n *shownNode) text(w io.Writer) {
	head := slices.DeleteFunc([]string{n.Node, n.Type, n.State, took(n.DurationMS)}, func(s string) bool { return s == "" })
	_, _ = fmt.Fprintln(w, strings.Join(head, "  "))
	for _, line := range [][2]string{{"because of", n.Why}, {"reused from", n.FromRun}, {"question", n.Question}, {"answer", n.Answer}} {
		if line[1] != "" {
			_, _ = fmt.Fprintf(w, "%s: %s\n", line[0], line[1])
		}
	}
	if n.Error != nil {
		_, _ = fmt.Fprintf(w, "error: %s\n", n.Error.Message)
	}
	var outputs map[string]json.RawMessage
	_ = json.Unmarshal(n.Outputs, &outputs)
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		_, _ = fmt.Fprintf(w, "%s: %s\n", name, template.AsText(outputs[name]))
	}
}
