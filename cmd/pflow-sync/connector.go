package main

import (
	"context"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// reach is how servers are reached from a command line: with its environment and the settings behind it. The secrets
// that go to a server are kept, so that what comes back of them is not shown.
type reach struct {
	mcpclient.Resolver
	app *cli.App
}

func newReach(app *cli.App, h *home.Home) (*reach, error) {
	process.AdoptOrphans()
	set, err := settings.Load(h)
	if err != nil {
		return nil, err
	}
	return &reach{mcpclient.Resolver{Env: app.Env, Settings: set.Env, Redactor: redact.New(), Log: app.Log, Warn: app.Warn}, app}, nil
}

// session connects to a server as it is configured.
func (r *reach) session(ctx context.Context, name string, server mcpclient.Server) (*mcpclient.Session, error) {
	return mcpclient.Connect(ctx, r.Spec(name, server))
}

// clean is an error as a fault without secrets, or an interruption as it is.
func (r *reach) clean(err error) error {
	if err == nil || r.app.Context.Err() != nil {
		return err
	}
	return r.Redactor.Fault(fault.From(err))
}
