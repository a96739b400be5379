package main

import (
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/mcp/oauth"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type logoutCommand struct {
	Name string `arg:"" help:"The server." complete:"server"`
}

// Help returns the longer text of --help.
func (logoutCommand) Help() string {
	return `Removes the tokens of login, and revokes them if the authorization server permits that. Answers
{"server":…,"logged_out":true,"revoked":true}; logged_out is false if there was no login.`
}

// logoutOutput is the output of logout.
type logoutOutput struct {
	Server    string `json:"server"`
	LoggedOut bool   `json:"logged_out"`
	Revoked   bool   `json:"revoked"`
}

// Run logs out of the server.
func (c *logoutCommand) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	out, err := c.logout(app, h)
	if err != nil {
		return err
	}
	return app.Document(out, func(w io.Writer) {
		if out.LoggedOut {
			_, _ = fmt.Fprintf(w, "logged out of %s\n", out.Server)
		} else {
			_, _ = fmt.Fprintf(w, "there was no login to %s\n", out.Server)
		}
	})
}

func (c *logoutCommand) logout(app *cli.App, h *home.Home) (logoutOutput, error) {
	out := logoutOutput{Server: c.Name}
	old, found, err := oauth.Remove(app.Context, h, c.Name)
	if err != nil {
		return out, err
	}
	if out.LoggedOut = found; !found { // a server that is not configured any more may have a login
		servers, err := mcpclient.LoadServers(h)
		if err == nil {
			_, err = servers.Get(c.Name)
		}
		return out, err
	}
	switch revoked, err := oauth.Revoke(app.Context, old); {
	case err != nil:
		app.Warn("the tokens for %s are removed here, but were not revoked: %v", c.Name, err)
	default:
		out.Revoked = revoked
	}
	return out, nil
}
