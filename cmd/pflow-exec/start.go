package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/engine/runner"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type startCommand struct{ sourceFlags }

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
	ack, err := runner.Detach(host, r, "detached")
	if err != nil {
		return err
	}
	if ack.Error != nil {
		return refuse(app, ack.Error, false)
	}
	err = app.Document(started{RunID: ack.RunID}, func(w io.Writer) { _, _ = fmt.Fprintln(w, ack.RunID) })
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f.Suggest("The run has started nevertheless, as %s", ack.RunID)
	}
	return err
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
	last, err := runner.Serve(app.Context, host, r, app.Stdout.File())
	if err != nil {
		return cli.Status(1)
	}
	if last == nil {
		return nil
	}
	return exitStatus(last)
}
