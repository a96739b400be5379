package main

import (
	"context"
	"crypto/rand"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// connector connects to servers with the environment of the command line and the settings. It collects the secrets that
// are sent to a server, so that they can be removed from what the server returns.
type connector struct {
	mcpclient.Resolver
	app    *cli.App
	strays process.Strays
	// unwatch ends the watch for the signal that stops the command.
	unwatch func() bool
	// claim makes another program end the servers' processes if this one is killed. It is nil if the home cannot be written.
	claim *process.Claim
	// awaitAbandoned waits until the processes of killed programs have ended.
	awaitAbandoned func(ctx context.Context)
}

// newConnector returns a connector, which the caller must close.
func newConnector(app *cli.App, h *home.Home) (*connector, error) {
	process.AdoptOrphans()
	set, err := settings.Load(h)
	if err != nil {
		return nil, err
	}
	mark := mcpclient.SyncVariable + "=" + rand.Text()
	r := &connector{
		Resolver: mcpclient.Resolver{
			Env: app.Env, Settings: set.Env, Mark: mark, Redactor: redact.For(set.Env, app.Env), Log: app.Log, Warn: app.Warn,
		},
		app: app, strays: process.Strays{Mark: mark, Grace: process.DefaultGrace},
	}
	live := h.Path(home.Live)
	if r.claim, err = process.NewClaim(live, mark); err != nil {
		app.Log.Info("processes of the servers will be left if this program is killed", "error", err)
	}
	r.unwatch = context.AfterFunc(app.Context, r.strays.Terminate)
	r.awaitAbandoned = process.EndAbandoned(live, process.DefaultGrace)
	return r, nil
}

// close ends all processes that the servers have left. The sessions must have been closed. It also waits until the processes
// of killed programs have ended, unless this program is stopped: then the next one ends them.
func (r *connector) close() {
	r.unwatch()
	r.strays.EndRemaining()
	if r.claim != nil {
		r.claim.Release()
	}
	r.awaitAbandoned(r.app.Context)
}

// session connects to a configured server.
func (r *connector) session(ctx context.Context, name string, server mcpclient.Server) (*mcpclient.Session, error) {
	return mcpclient.Connect(ctx, r.Spec(name, server))
}

// clean returns an error as a fault without secrets, or err itself after an interruption.
func (r *connector) clean(err error) error {
	if err == nil || r.app.Context.Err() != nil {
		return err
	}
	return r.Redactor.Fault(fault.From(err))
}
