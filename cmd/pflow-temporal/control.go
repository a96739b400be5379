package main

import (
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type cancelCommand struct{ runArgument }

// Run stops a run in order and waits until it has stopped.
func (c *cancelCommand) Run(app *cli.App) error {
	to, s, err := c.state(app)
	if err != nil {
		return err
	}
	defer to.Close()
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
	to, s, err := stateOf(app, &c.clusterFlags, c.RunID)
	if err != nil {
		return err
	}
	defer to.Close()
	if s.Status != event.Paused {
		return fault.New(fault.Conflict, "Run %s waits for no answer: it is %s", s.ID, s.Status).Then(fault.Step{Do: fault.DoStatus, Run: s.ID})
	}
	if err := to.Approve(app.Context, c.RunID, c.Answers, app.AtTerminal()); err != nil {
		return err
	}
	return app.Document(started{s.ID}, func(w io.Writer) { _, _ = fmt.Fprintln(w, s.ID) })
}
