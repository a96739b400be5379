package main

import (
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/mcp/oauth"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// loginStates returns for each server to which someone has logged in at its present URL whether the login is active or expired.
func loginStates(app *cli.App, h *home.Home, servers mcpclient.Servers) map[string]string {
	r := mcpclient.Resolver{Env: app.Env, Redactor: redact.New()}
	if set, err := settings.Load(h); err == nil { // broken settings hide no login
		r.Settings = set.Env
	}
	states := map[string]string{}
	for _, name := range servers.Names() {
		if servers[name].Transport() != mcpclient.HTTP {
			continue
		}
		x := r.Expand(servers[name])
		if !x.TakesLogin() {
			continue
		}
		if login, err := oauth.Load(h, name, x.URL); err == nil && login != nil {
			states[name] = login.State()
		}
	}
	return states
}
