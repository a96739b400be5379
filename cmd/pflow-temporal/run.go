package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/cluster"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// runArgument is the run that a command is about.
type runArgument struct {
	RunID string `arg:"" name:"run" help:"The id of a run."`
	clusterFlags
}

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
	to, err := c.connect(app.Context, app)
	if err != nil {
		return err
	}
	defer to.Close()
	s, err := to.State(app.Context, c.RunID)
	if err != nil {
		return err
	}
	o, err := overviewOf(s)
	if err != nil {
		return err
	}
	return app.Document(o, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "%s %s: %s, %d of %d nodes completed\n", o.RunID, o.Workflow, o.Status, len(o.Completed), o.Nodes["total"])
	})
}

type waitCommand struct{ runArgument }

// answer is the document of a run that has ended or has paused.
type answer struct {
	Success    bool              `json:"success"`
	RunID      string            `json:"run_id"`
	Status     event.Status      `json:"status"`
	Outputs    json.RawMessage   `json:"outputs"`
	Checkpoint *event.Checkpoint `json:"checkpoint"`
	Error      *fault.Fault      `json:"error,omitempty"`
	Warnings   []string          `json:"warnings,omitempty"`
}

// Run waits until a run has ended or waits for a person, and prints its answer.
func (c *waitCommand) Run(app *cli.App) error {
	to, err := c.connect(app.Context, app)
	if err != nil {
		return err
	}
	defer to.Close()
	s, err := to.Await(app.Context, c.RunID, nil)
	if err != nil {
		return err
	}
	return end(app, s)
}

// end prints the answer of a run that has ended or has paused, and returns its exit status.
func end(app *cli.App, s *cluster.State) error {
	a := &answer{Success: s.Status.Succeeded(), RunID: s.ID, Status: s.Status, Error: s.Fault, Outputs: json.RawMessage("{}")}
	last, err := lastOf(s)
	if err != nil {
		return err
	}
	if last != nil {
		if a.Warnings = last.Warnings; last.Outputs != nil {
			a.Outputs = last.Outputs
		}
		if !a.Success {
			a.Checkpoint = last.Checkpoint
		}
		if a.Error == nil {
			a.Error = last.Error
		}
	}
	if err := app.Document(a, func(w io.Writer) { _, _ = fmt.Fprintf(w, "%s: %s\n", a.RunID, a.Status) }); err != nil {
		return err
	}
	if a.Error != nil {
		app.Complain(a.Error)
	}
	return exitStatus(s.Status)
}

// lastOf returns the last event of a run's events, or nil if that is missing.
func lastOf(s *cluster.State) (*event.Event, error) {
	r, err := s.Events()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	var last *event.Event
	for events := event.NewReader(r); ; {
		e, _, err := events.Next()
		if errors.Is(err, io.EOF) {
			return last, nil
		}
		if err != nil {
			return nil, err
		}
		if last = nil; e.IsTerminal() {
			last = e
		}
	}
}

// exitStatus returns the exit status for a status, as pflow-exec has it.
func exitStatus(s event.Status) error {
	switch {
	case s.Succeeded():
		return nil
	case s == event.TimedOut:
		return cli.Status(124)
	case s == event.Denied:
		return cli.Status(3)
	case s == event.Paused:
		return cli.Status(4)
	case s == event.Cancelled:
		return cli.Status(143)
	}
	return cli.Status(1)
}

type eventsCommand struct {
	runArgument
	Follow bool `help:"Go on until the run ends or waits for a person." short:"f"`
}

// Help returns the longer text of --help.
func (eventsCommand) Help() string {
	return `The events are a checkpoint for any machine: long values are in them.

  pflow-temporal events RUN | pflow-exec run disk.json --resume -      # goes on here from what has finished there`
}

// Run prints the events of a run.
func (c *eventsCommand) Run(app *cli.App) error {
	ctx, cancel := app.WhileRead()
	defer cancel()
	to, err := c.connect(ctx, app)
	if err != nil {
		return err
	}
	defer to.Close()
	if !c.Follow {
		s, err := to.State(ctx, c.RunID)
		if err != nil {
			return err
		}
		_, err = printEvents(app, s, nil)
		return err
	}
	var printed printed
	_, err = to.Await(ctx, c.RunID, func(s *cluster.State) error {
		var err error
		printed, err = printEvents(app, s, printed)
		return err
	})
	return err
}

// printed is what has been printed of a run.
type printed []byte

// printEvents prints the events of a run after those that were printed. If the run went on elsewhere since, it prints all.
func printEvents(app *cli.App, s *cluster.State, before printed) (printed, error) {
	r, err := s.Events()
	if err != nil {
		return before, err
	}
	defer func() { _ = r.Close() }()
	b, err := io.ReadAll(r)
	if err != nil {
		return before, fault.From(err)
	}
	at := 0
	if bytes.HasPrefix(b, before) {
		at = len(before)
	}
	_, err = app.Stdout.Write(b[at:])
	return b, err
}

type cancelCommand struct{ runArgument }

// Run stops a run in order and waits until it has stopped.
func (c *cancelCommand) Run(app *cli.App) error {
	to, err := c.connect(app.Context, app)
	if err != nil {
		return err
	}
	defer to.Close()
	s, err := to.State(app.Context, c.RunID)
	if err != nil {
		return err
	}
	if s.Ended.IsZero() {
		if err := to.Cancel(app.Context, c.RunID); err != nil {
			return err
		}
		for s.Ended.IsZero() {
			if s, err = to.Await(app.Context, c.RunID, nil); err != nil {
				return err
			}
		}
	}
	type stopped struct {
		RunID  string       `json:"run_id"`
		Status event.Status `json:"status"`
	}
	return app.Document(stopped{s.ID, s.Status}, func(w io.Writer) { _, _ = fmt.Fprintln(w, s.Status) })
}

type approveCommand struct {
	RunID   string   `arg:"" name:"run" help:"The id of a run."`
	Answers []string `arg:"" name:"answer" help:"The answer to the question of the run: yes, no, or one of its choices. NODE=ANSWER answers that of one node."`
	clusterFlags
}

// Run answers the questions of a run that waits for a person.
func (c *approveCommand) Run(app *cli.App) error {
	to, err := c.connect(app.Context, app)
	if err != nil {
		return err
	}
	defer to.Close()
	s, err := to.State(app.Context, c.RunID)
	if err != nil {
		return err
	}
	if s.Status != event.Paused {
		return fault.New(fault.Conflict, "Run %s waits for no answer: it is %s", s.ID, s.Status).SuggestCommand("pflow-temporal status %s shows it", s.ID)
	}
	if err := to.Approve(app.Context, c.RunID, c.Answers); err != nil {
		return err
	}
	return app.Document(started{s.ID}, func(w io.Writer) { _, _ = fmt.Fprintln(w, s.ID) })
}

type listCommand struct {
	Limit int `help:"List at most the newest N; 0 is no limit." default:"100" placeholder:"N"`
	clusterFlags
}

// listed is a run in a list.
type listed struct {
	RunID      string       `json:"run_id"`
	Workflow   string       `json:"workflow"`
	Status     event.Status `json:"status"`
	StartedAt  time.Time    `json:"started_at"`
	DurationMS *int64       `json:"duration_ms,omitempty"`
}

// Run lists the runs of the namespace, newest first.
func (c *listCommand) Run(app *cli.App) error {
	to, err := c.connect(app.Context, app)
	if err != nil {
		return err
	}
	defer to.Close()
	states, err := to.List(app.Context, c.Limit)
	if err != nil {
		return err
	}
	var items []listed
	for _, s := range states {
		l := listed{RunID: s.ID, Workflow: s.Workflow, Status: s.Status, StartedAt: s.Started}
		if !s.Ended.IsZero() {
			ms := s.Ended.Sub(s.Started).Milliseconds()
			l.DurationMS = &ms
		}
		items = append(items, l)
	}
	return cli.List(app, items, func(w io.Writer) {
		for _, l := range items {
			_, _ = fmt.Fprintln(w, l.RunID, l.Workflow, l.Status, l.StartedAt.Local().Format(time.DateTime))
		}
	})
}
