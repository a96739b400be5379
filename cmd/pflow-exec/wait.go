package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type waitCommand struct {
	RunID   string  `arg:"" name:"run" help:"A run's id, a prefix of it that no other run has, or last."`
	Timeout string  `help:"Stop waiting after this time, with exit status 124; the run goes on." placeholder:"DURATION"`
	For     *string `help:"Stop waiting after this time, with the status running and exit status 0; the run goes on. 0 answers at once." placeholder:"DURATION"`
	answerFlags
}

// Run waits for the end of a run and answers as run --format json does.
func (c *waitCommand) Run(app *cli.App) error {
	limit, err := cli.Duration(c.Timeout)
	if err != nil {
		return err
	}
	if c.For != nil {
		if limit, err = c.patience(); err != nil {
			return err
		}
	}
	run, err := openRun(app, c.RunID)
	if err != nil {
		return err
	}
	show := newPresenter(app, c.answerFlags)
	show.stream, show.progress.active = false, false
	switch status, err := run.Status(); {
	case err != nil:
		return err
	case status != reader.Running: // however short the time, the run has ended
		return follow(app, run, show, 0)
	case c.For == nil:
		return follow(app, run, show, limit)
	case limit == 0:
		return show.running(run)
	}
	show.waited = show.running
	return follow(app, run, show, limit)
}

// patience returns the value of --for, which may be 0.
func (c *waitCommand) patience() (time.Duration, error) {
	switch {
	case c.Timeout != "":
		return 0, fault.New(fault.Usage, "--for and --timeout cannot be combined").
			Suggest("--for answers that the run is running, with exit status 0; --timeout exits with status 124")
	case c.Print != "":
		return 0, fault.New(fault.Usage, "--for and --print cannot be combined: a run that is still running has no outputs").
			Suggest("Use --timeout, which exits with status 124 if the run has not ended")
	case *c.For == "":
		return 0, fault.New(fault.Usage, "--for needs a duration").Suggest("Write 30s, 5m, or a number of seconds")
	}
	if n, err := strconv.ParseFloat(strings.TrimSuffix(*c.For, "s"), 64); err == nil && n == 0 {
		return 0, nil
	}
	return cli.Duration(*c.For)
}

// running answers that a run has not ended.
func (s *presenter) running(run *reader.Run) error {
	a := run.Unfinished()
	return s.app.Document(a, func(w io.Writer) { _, _ = fmt.Fprintf(w, "%s\n", a.Next) })
}

// errWaited is the cause of a context that limits how long a run is followed.
var errWaited = errors.New("waited long enough")

// openRun finds the run that a command line names.
func openRun(app *cli.App, ref string) (*reader.Run, error) {
	h, err := app.Home()
	if err != nil {
		return nil, err
	}
	return reader.Open(h).Find(ref)
}
