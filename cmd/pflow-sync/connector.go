package main

import (
	"context"
	"os"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/mcp/oauth"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// connector connects to servers with the environment of the command line and the settings. It collects the secrets that
// are sent to a server, so that they can be removed from what the server returns.
type connector struct {
	mcpclient.Resolver
	app      *cli.App
	children *children
}

// newConnector returns a connector, which the caller must close.
func newConnector(app *cli.App, h *home.Home) (*connector, error) {
	app.EndsWithin(time.Minute) // servers and programs end in order
	resolver, err := newResolver(app, h)
	if err != nil {
		return nil, err
	}
	r := &connector{Resolver: resolver, app: app, children: newChildren(app, h)}
	r.Mark = r.children.mark
	return r, nil
}

// newResolver returns a resolver of servers with the environment of the command line, the settings, and the logins.
func newResolver(app *cli.App, h *home.Home) (mcpclient.Resolver, error) {
	set, err := settings.Load(h)
	if err != nil {
		return mcpclient.Resolver{}, err
	}
	dir, _ := os.Getwd() // without one the servers get no root
	r := mcpclient.Resolver{Dir: dir, Env: app.Env, Settings: set.Env, Home: h, Redactor: redact.For(set.Env, app.Env), Log: app.Log, Warn: app.Warn}
	oauth.AddSecrets(h, r.Redactor)
	return r, nil
}

// close ends all processes that the servers have left. The sessions must have been closed.
func (r *connector) close() { r.children.end() }

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
