package main

import (
	"context"
	"io"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/input"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/run/cluster"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// guardCommand is the command that node starts in a session of its own. It outlives a node that is killed, and cancels its attempt.
type guardCommand struct {
	ID string `arg:""`
}

// atEnd is what node writes to its guard when the attempt has ended.
const atEnd = "ended"

// Run waits for the end of standard input, and cancels the attempt unless that was the end of the attempt.
func (c *guardCommand) Run(app *cli.App) error {
	said, err := io.ReadAll(io.LimitReader(input.Reader(app.Context, app.Stdin), int64(len(atEnd))))
	if err != nil || string(said) == atEnd {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(app.Context), 2*time.Minute)
	defer cancel()
	to, err := cluster.Connect(ctx, cluster.Config{Env: app.Env, Log: app.Log, Patient: true})
	if err != nil {
		return err
	}
	defer to.Close()
	return to.CancelAttempt(ctx, c.ID)
}

// guard starts the guard of an attempt. The function that it returns ends the guard.
func guard(app *cli.App, id string) (stop func(), err error) {
	dir, err := app.Suite()
	if err != nil {
		return nil, err
	}
	child, err := process.Start(process.Command{Path: dir + "/" + app.Name, Args: []string{"guard", id}, Env: app.Env, Session: true})
	if err != nil {
		return nil, fault.From(err)
	}
	return func() {
		_, _ = io.WriteString(child.Stdin, atEnd)
		child.Release()
	}, nil
}
