package main

import (
	"github.com/mattn/go-isatty"

	"github.com/pflow-suite/pflow/pkg/engine/runner"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// newHost returns what the runner needs of this process.
func newHost(app *cli.App) (*runner.Host, error) {
	h, err := app.Home()
	if err != nil {
		return nil, err
	}
	return &runner.Host{
		Home: h, Env: app.Env, Stdin: app.Stdin, Read: app.ReadArgument, Open: app.OpenArgument, Suite: app.Suite, Ask: newAsker(app), Log: app.Log, Warn: app.Warn,
		Advise: func(w *fault.Fault) {
			if isatty.IsTerminal(app.Stderr.Fd()) {
				app.Warn("%s%s", w.Where(), w.Message)
				return
			}
			app.Log.Info(w.Message, "place", w.Where()) // a script would print it at every run
		},
	}, nil
}
