package main

import (
	"bytes"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type resumeCommand struct {
	RunID  string   `arg:"" name:"run" help:"A run's id, a beginning of it that no other has, or last."`
	Values []string `arg:"" optional:"" name:"key=value" help:"Inputs that replace those of the run."`
	Inputs string   `help:"Read inputs from a file with one JSON object, or - for standard input." placeholder:"FILE"`
	answerFlags
	settingsFlags
}

// Run goes on from a run with the workflow that it ran. One that is live is followed, one that has succeeded is
// answered again unless other inputs are given.
func (c *resumeCommand) Run(app *cli.App) error {
	show := newPresenter(app, c.answerFlags)
	r, h, rec, err := c.read(app)
	if err != nil {
		return refuse(app, err, show.stream)
	}
	status, _, err := rec.Status()
	if err == nil && status == journal.Running {
		err = r.same(rec)
		if err != nil {
			return refuse(app, err, show.stream)
		}
	}
	if err == nil && (status.Succeeded() && r.Again || status == journal.Running) {
		return follow(app, rec, show, r.Timeout)
	}
	return perform(app, h, r, show)
}

func (c *resumeCommand) read(app *cli.App) (*request, *home.Home, *journal.Reader, error) {
	h, rec, err := openRun(app, c.RunID)
	if err != nil {
		return nil, nil, nil, err
	}
	rec = rec.ResumePoint()
	r, err := c.settingsFlags.read(app)
	if err != nil {
		return nil, nil, nil, err
	}
	if r.Inputs, err = readInputs(app, c.Inputs, c.Values); err != nil {
		return nil, nil, nil, err
	}
	if r.Source, err = rec.Definition(); err != nil {
		return nil, nil, nil, err
	}
	first, _, err := rec.FirstAndLast()
	if err != nil {
		return nil, nil, nil, err
	}
	r.Name, r.File, r.Resume, r.Again = "workflow.json", "workflow.json", rec.ID, len(r.Inputs) == 0
	if first != nil && first.Event == event.RunStarted {
		r.Name, r.Path = first.Workflow.Name, first.Workflow.Path
	}
	if bytes.Contains(r.Source, []byte(redact.Mark)) {
		return nil, nil, nil, fault.New(fault.Usage, "The workflow of run %s was kept without a secret that is written in it", rec.ID).
			Suggest("Resume with the workflow itself: pflow-exec run WORKFLOW --resume %s", rec.ID)
	}
	return r, h, rec, nil
}
