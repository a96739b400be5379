package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type waitCommand struct {
	RunID   string `arg:"" name:"run" help:"A run's id, a beginning of it that no other has, or last."`
	Timeout string `help:"Stop waiting after this time, with exit status 124; the run goes on." placeholder:"DURATION"`
	answerFlags
}

// Run waits for the end of a run and answers as run --format json would have.
func (c *waitCommand) Run(app *cli.App) error {
	limit, err := cli.Duration(c.Timeout)
	if err != nil {
		return err
	}
	_, rec, err := openRun(app, c.RunID)
	if err != nil {
		return err
	}
	show := newPresenter(app, c.answerFlags)
	show.stream, show.people.active = false, false
	return follow(app, rec, show, limit)
}

var errWaited = errors.New("waited long enough")

// openRun finds a run by what a command line calls it.
func openRun(app *cli.App, ref string) (*home.Home, *journal.Reader, error) {
	h, err := app.Home()
	if err != nil {
		return nil, nil, err
	}
	rec, err := journal.Find(h, ref)
	return h, rec, err
}

// interrupted answers for a run that stopped without a last word.
func interrupted(app *cli.App, rec *journal.Reader) error {
	checkpoint, err := readCheckpoint(rec)
	if err != nil {
		checkpoint = nil // the run was interrupted before its first event
	}
	a := interruptedAnswer(rec, checkpoint)
	app.Complain(a.Error)
	if err := app.Document(a, func(w io.Writer) { _, _ = fmt.Fprintln(w, a.Status) }); err != nil {
		return err
	}
	return cli.Status(1)
}

func readCheckpoint(rec *journal.Reader) (*engine.Checkpoint, error) {
	journal, err := rec.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = journal.Close() }()
	return engine.ReadCheckpoint(journal, rec.Blob)
}
