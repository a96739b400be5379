package main

import (
	"github.com/mattn/go-isatty"

	"github.com/pflow-suite/pflow/pkg/engine/runner"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// serveAttempt executes an attempt for a runner: the request on standard input.
func serveAttempt(app *cli.App) error {
	if isatty.IsTerminal(app.Stdin.Fd()) {
		return fault.New(fault.Usage, "Name the type of the node: pflow-exec node TYPE KEY=VALUE").Then(fault.Step{Do: fault.DoSearch})
	}
	host := &runner.Host{Env: app.Env, Suite: app.Suite, Log: app.Log, Warn: app.Warn}
	if h, err := app.Home(); err == nil {
		host.Home = h
	}
	ctx, cancel := app.WhileRead()
	defer cancel()
	f, err := runner.ServeAttempt(ctx, host, app.Stdin, app.Stdout)
	if err != nil {
		return err
	}
	if f != nil {
		return cli.Status(1)
	}
	return nil
}
