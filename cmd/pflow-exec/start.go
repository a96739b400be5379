package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/engine/runner"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type startCommand struct {
	sourceFlags
	Foreground bool `help:"Execute the run in this process, which closes standard output when it has printed the id. For a program that starts it in a session of its own."`
}

type started struct {
	RunID string `json:"run_id"`
}

// Run starts another process, in a session of its own, that executes the workflow. It waits for the id of the run.
func (c *startCommand) Run(app *cli.App) error {
	host, err := newHost(app)
	if err != nil {
		return err
	}
	r, err := c.load(app, host, nil)
	if err != nil {
		return refuse(app, err, false)
	}
	r.Once = true
	if r.DryRun {
		return dryRun(app, host, r)
	}
	if c.Foreground && !runner.IsPart(host) {
		return startHere(app, host, r)
	}
	ack, err := runner.Detach(host, r, "detached")
	if err != nil {
		return err
	}
	err = answerStart(app, *ack)
	if f, ok := errors.AsType[*fault.Fault](err); ok && ack.RunID != "" {
		return f.Suggest("The run has started nevertheless, as %s", ack.RunID)
	}
	return err
}

// answerStart prints the id of the run, or why none has started.
func answerStart(app *cli.App, ack runner.Acknowledgement) error {
	if ack.Error != nil {
		return refuse(app, ack.Error, false)
	}
	return app.Document(started{RunID: ack.RunID}, func(w io.Writer) { _, _ = fmt.Fprintln(w, ack.RunID) })
}

// startHere executes the request in this process. Standard output is closed with the answer, so that its reader need not wait for the
// end of the run.
func startHere(app *cli.App, host *runner.Host, r *runner.Request) error {
	host.Ask = nil // as in a process of its own: the run pauses
	app.EndsWithin(runEndsWithin)
	last, err := runner.Serve(app.Context, host, r, func(ack runner.Acknowledgement) error {
		if err := answerStart(app, ack); err != nil {
			return err
		}
		return app.Stdout.File().Close()
	})
	return endOfServed(last, err)
}

// endOfServed returns the exit status of a run whose start was answered.
func endOfServed(last *event.Event, err error) error {
	if status, ok := errors.AsType[cli.Status](err); ok {
		return status
	}
	if err != nil {
		return cli.Status(1)
	}
	if last == nil {
		return nil
	}
	return exitStatus(last)
}

// detachedCommand is the command that start calls in the new process.
type detachedCommand struct{}

// Run executes the request on standard input. It closes standard output when the run has an id, so that start can end.
func (c *detachedCommand) Run(app *cli.App) error {
	r, err := runner.ReadRequest(app.Context, app.Stdin)
	if err != nil {
		return err
	}
	app.Quiet = true
	host, err := newHost(app)
	if err != nil {
		return runner.Acknowledge(app.Stdout.File(), runner.Acknowledgement{Error: fault.From(err)})
	}
	app.EndsWithin(runEndsWithin)
	last, err := runner.Serve(app.Context, host, r, func(ack runner.Acknowledgement) error { return runner.Acknowledge(app.Stdout.File(), ack) })
	return endOfServed(last, err)
}
