package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type startCommand struct{ sourceFlags }

// Run has another process, in a session of its own, execute the workflow. It hands over all it read and waits for the
// run's id.
func (c *startCommand) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	r, err := c.read(app, h)
	if err != nil {
		return refuse(app, err, false)
	}
	if r.DryRun {
		return foresee(app, h, r)
	}
	ack, err := detach(app, r)
	if err != nil {
		return err
	}
	if ack.Error != nil {
		return refuse(app, ack.Error, false)
	}
	err = app.Document(started{RunID: ack.RunID}, func(w io.Writer) { _, _ = fmt.Fprintln(w, ack.RunID) })
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f.Suggest("The run was started all the same: it is %s", ack.RunID)
	}
	return err
}

type started struct {
	RunID string `json:"run_id"`
}

// acknowledgement is the one line by which a detached process answers its starter.
type acknowledgement struct {
	RunID string       `json:"run_id,omitempty"`
	Error *fault.Fault `json:"error,omitempty"`
}

// detach starts this program anew with the request on its standard input.
func detach(app *cli.App, r *request) (*acknowledgement, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fault.New(fault.Internal, "where this program is cannot be told: %v", err)
	}
	child, err := process.Start(process.Command{
		Path: self, Args: []string{"detached"}, Session: true,
		Env: process.Environment(app.Env, engine.Variables...), // it is no part of a run that starts it
	})
	if err != nil {
		return nil, err
	}
	defer child.Release()
	if err := json.NewEncoder(child.Stdin).Encode(r); err != nil {
		return nil, fault.New(fault.Internal, "the run could not be handed over: %v", err)
	}
	_ = child.Stdin.Close()
	line, err := bufio.NewReader(child.Stdout).ReadBytes('\n')
	var ack acknowledgement
	if err != nil || json.Unmarshal(line, &ack) != nil {
		return nil, fault.New(fault.Internal, "the process that was to execute the run ended before it began")
	}
	return &ack, nil
}

// detachedCommand is the other side of start.
type detachedCommand struct{}

// Run reads the request, answers with the run's id or why there is none, lets go of the starter, and executes the run.
func (c *detachedCommand) Run(app *cli.App) error {
	var r request
	if err := json.NewDecoder(app.Stdin).Decode(&r); err != nil {
		return fault.New(fault.Usage, "detached is how start calls this program: it reads a request on standard input")
	}
	_ = app.Stdin.Close()
	app.Quiet = true
	acknowledge := func(ack acknowledgement) error {
		if err := app.JSONLine(ack); err != nil {
			return err
		}
		return app.Stdout.File().Close()
	}
	h, err := app.Home()
	if err != nil {
		return acknowledge(acknowledgement{Error: fault.From(err)})
	}
	p, err := prepare(app, h, &r)
	if err != nil {
		p.release()
		return acknowledge(acknowledgement{Error: fault.From(err)})
	}
	if p.attach != nil {
		p.release()
		return acknowledge(acknowledgement{RunID: p.attach.ID})
	}
	r.known = true
	told := false
	last, err := execute(app, h, &r, p, func(id string) error {
		told = true
		return acknowledge(acknowledgement{RunID: id})
	}, nil)
	switch {
	case err != nil && !told:
		return acknowledge(acknowledgement{Error: fault.From(err)})
	case err != nil:
		return cli.Status(1)
	}
	return exitStatus(last)
}
