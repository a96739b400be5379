package main

import (
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type enableCommand struct {
	Names []string `arg:"" name:"name" help:"The servers." complete:"server"`
}

// Run permits to start the servers.
func (c *enableCommand) Run(app *cli.App) error { return setDisabled(app, c.Names, false) }

type disableCommand struct {
	Names []string `arg:"" name:"name" help:"The servers." complete:"server"`
}

// Help returns the longer text of --help.
func (disableCommand) Help() string {
	return `A disabled server is never started: sync --all and doctor leave it out, and a node or call that needs it fails. Its
entry and its node types stay. enable reverts it.`
}

// Run forbids to start the servers.
func (c *disableCommand) Run(app *cli.App) error { return setDisabled(app, c.Names, true) }

// setDisabled sets whether the servers are disabled, all or none of them.
func setDisabled(app *cli.App, names []string, disabled bool) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	changed, err := changeDisabled(app, h, names, disabled)
	if err != nil {
		return err
	}
	answer := struct {
		Servers  []string `json:"servers"`
		Disabled bool     `json:"disabled"`
		Changed  []string `json:"changed"`
	}{names, disabled, changed}
	return app.Document(answer, func(w io.Writer) {
		verb := "enabled"
		if disabled {
			verb = "disabled"
		}
		for _, name := range names {
			_, _ = fmt.Fprintf(w, "%s %s\n", verb, name)
		}
	})
}

// changeDisabled returns the servers for which it was not so before.
func changeDisabled(app *cli.App, h *home.Home, names []string, disabled bool) ([]string, error) {
	changed := []string{}
	err := mcpclient.ChangeServers(app.Context, h, func(all mcpclient.Servers) error {
		for _, name := range names {
			server, err := all.Get(name)
			if err != nil {
				return err
			}
			if server.Disabled != disabled {
				changed = append(changed, name)
			}
			server.Disabled = disabled
			all[name] = server
		}
		return nil
	})
	return changed, err
}
