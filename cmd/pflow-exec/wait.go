package main

import (
	"context"
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
	RunID   string  `arg:"" name:"run" help:"A run's id, a prefix of it that no other run has, or last." complete:"run"`
	Timeout string  `help:"Stop waiting after this time, with exit status 124; the run goes on." placeholder:"DURATION"`
	For     *string `help:"Stop waiting after this time, with the status running or queued and exit status 0; the run goes on. 0 answers at once." placeholder:"DURATION"`
	Resumed bool    `help:"Wait until another run continues the run, such as with the answer that it is paused for, and print the id of that one."`
	answerFlags
}

// Run waits for the end of a run and answers as run does, except that it prints no events: with --format ndjson too, the answer is
// one document.
func (c *waitCommand) Run(app *cli.App) error {
	limit, err := cli.Duration(c.Timeout)
	if err != nil {
		return err
	}
	if c.Resumed {
		return c.awaitSuccessor(app, limit)
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
	show := newAnswerer(app, c.answerFlags)
	switch status, err := run.Status(); {
	case err != nil:
		return err
	case !reader.IsLive(status): // however short the time, the run has ended
		if run.Successor() != "" {
			show.progress.active = false // it would show how to go on from this run
		}
		return follow(app, run, show, 0)
	case c.For == nil:
		return follow(app, run, show, limit)
	case limit == 0:
		return show.running(run)
	}
	show.waited = show.running
	return follow(app, run, show, limit)
}

// awaitSuccessor waits until another run continues the run. A limit of 0 is no limit.
func (c *waitCommand) awaitSuccessor(app *cli.App, limit time.Duration) error {
	if c.For != nil || c.Print != "" {
		return fault.New(fault.Usage, "--resumed cannot be combined with --for or --print").Suggest("--timeout limits how long --resumed waits")
	}
	run, err := openRun(app, c.RunID)
	if err != nil {
		return err
	}
	ctx, cancel := app.WhileRead()
	defer cancel()
	if limit > 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errWaited)
		defer cancel()
	}
	next, err := reader.AwaitSuccessor(ctx, run)
	if errors.Is(err, errWaited) {
		app.Report(fault.New(fault.Timeout, "No run has continued run %s within %s", run.ID(), limit))
		return cli.Status(124)
	}
	if err != nil {
		return err
	}
	return app.Document(started{RunID: next}, func(w io.Writer) { _, _ = fmt.Fprintln(w, next) })
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
