package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine/runner"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type runCommand struct {
	Checkpoint *string `help:"Go on from the last run in a file of events, if there is one, and append the events of this run to it." placeholder:"FILE"`
	Confirm    string  `help:"Go on after each event only when this named pipe has a line with its number: the reader of standard output has stored it." placeholder:"PIPE"`
	sourceFlags
	answerFlags
}

// answerFlags are the flags of run, resume and wait that say how to answer.
type answerFlags struct {
	Print          string `help:"If the run succeeds, print only this output, as text." placeholder:"OUTPUT"`
	Raw            bool   `help:"On a terminal, print the control characters of outputs too. They can change what the terminal shows."`
	FailDegraded   *bool  `negatable:"" help:"Exit with status 1 if the run ends degraded. The default is runtime.fail_degraded of the workflow or of settings.json."`
	MaxOutputChars int    `help:"In the document of --format json, replace longer texts by references to them; 0 replaces none." default:"2000" placeholder:"N"`
}

// Help returns the longer text of --help.
func (runCommand) Help() string {
	return `The value of an input is taken from KEY=VALUE, else from --inputs, the environment, settings.json, or its default. Standard
output, if it is a pipe, carries one JSON event on each line; with --format json one document at the end; with --print one
output as text.

  pflow-exec run disk.json dir=/usr/share | jq -r 'select(.event=="node_completed").node'
  pflow-exec run disk.json --print files
  pflow-exec run disk.json > run.ndjson;  pflow-exec run disk.json --resume run.ndjson
  pflow-exec run disk.json --only report;  pflow-exec run disk.json --from bytes    # on what the last run has
  while pflow-exec run disk.json --checkpoint run.ndjson; [ $? -eq 137 ]; do :; done    # start again when it is killed

Exit status: 0 completed or degraded, 1 failed, or degraded with --fail-degraded, 2 refused (nothing ran), 3 denied, 4 waits for a person, 124 --timeout, 128 + its number for a
signal, 141 the reader of standard output went away.`
}

// Run executes a workflow in this process.
func (c *runCommand) Run(app *cli.App) error {
	show := newPresenter(app, c.answerFlags)
	host, err := newHost(app)
	if err != nil {
		return refuse(app, err, show.stream)
	}
	r, err := c.load(app, host, c.Checkpoint)
	if err != nil {
		return refuse(app, err, show.stream)
	}
	if r.DryRun {
		return dryRun(app, host, r)
	}
	if c.Confirm != "" {
		if show.confirm, err = openConfirmer(c.Confirm, show); err != nil {
			return refuse(app, err, show.stream)
		}
		defer show.confirm.close()
	}
	return runHere(app, host, r, show)
}

// runHere executes a request in this process and shows the run, or follows the run that already does what is asked for.
func runHere(app *cli.App, host *runner.Host, r *runner.Request, show *presenter) error {
	host.Ask = show.progress.whileHeld(host.Ask)
	runs := reader.Open(host.Home)
	l, err := runner.Resolve(app.Context, host, r)
	if err != nil {
		return refuse(app, err, show.stream)
	}
	defer l.Release()
	if l.Attach != "" {
		run, err := runs.Find(l.Attach)
		if err != nil {
			return err
		}
		return follow(app, run, show, r.Timeout)
	}
	if r.Only != "" {
		show.node = r.Only[strings.LastIndexByte(r.Only, '/')+1:]
	} else if show.node == "" { // else its outputs are those of the node
		if err := show.check(l.Workflow()); err != nil {
			return refuse(app, err, show.stream)
		}
	}
	defer show.progress.end()
	ctx, cancel := app.WhileRead()
	defer cancel()
	o := runner.Observer{Event: show.each(), Failed: func(err error) { show.lost = err }}
	if c := show.confirm; c != nil {
		ctx, c.gone = context.WithCancelCause(ctx)
		defer c.gone(nil)
		o = runner.Observer{Recorded: c}
	}
	app.EndsWithin(runEndsWithin)
	last, err := l.Execute(ctx, o)
	if refused, ok := errors.AsType[*runner.NotStartedError](err); ok {
		return refuse(app, refused.Err, show.stream)
	}
	if err != nil {
		return err
	}
	if errors.Is(show.lost, context.Canceled) { // the reader was stuck when the signal came
		return show.lost
	}
	if show.stream && show.lost != nil && !app.Stdout.Closed() {
		return fault.New(fault.Internal, "The run ended as %s, but its events could not all be written to standard output: %v", last.Status, show.lost).
			Then(fault.Step{Do: fault.DoEvents, Run: last.Run})
	}
	run, err := runs.Find(last.Run)
	if err != nil {
		return err
	}
	return show.end(run, last)
}

// runEndsWithin is how long a run may take to end after a signal: its nodes end in order, at most with the grace of their processes.
const runEndsWithin = time.Minute

// follow shows a run that another process executes. If limit is not 0, it stops after that time and the run goes on.
func follow(app *cli.App, run *reader.Run, show *presenter, limit time.Duration) error {
	ctx, cancel := app.WhileRead()
	defer cancel()
	if limit > 0 {
		var enough context.CancelFunc
		ctx, enough = context.WithTimeoutCause(ctx, limit, errWaited)
		defer enough()
	}
	defer show.progress.end()
	last, err := run.Follow(ctx, show.each())
	if err != nil || last == nil {
		show.progress.end() // before what is said about that
	}
	if errors.Is(err, errWaited) && show.waited != nil {
		return show.waited(run)
	}
	if errors.Is(err, errWaited) {
		app.Report(fault.New(fault.Timeout, "Run %s has not ended within %s; it goes on", run.ID(), limit).Then(fault.Step{Do: fault.DoWait, Run: run.ID()}))
		return cli.Status(124)
	}
	if err != nil {
		return err
	}
	if last == nil {
		return show.interrupted(run)
	}
	return show.end(run, last)
}
