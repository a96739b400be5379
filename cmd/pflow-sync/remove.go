package main

import (
	"fmt"
	"io"

	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/mcp/oauth"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type removeCommand struct {
	Name string `arg:"" help:"The server." complete:"server"`
}

// Run removes the server from the configuration and its tools from the registry.
func (c *removeCommand) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	r := registry.Open(h)
	tools, err := r.MCPTools(c.Name)
	if err != nil {
		return err
	}
	err = mcpclient.ChangeServers(app.Context, h, func(all mcpclient.Servers) error {
		if _, err := all.Get(c.Name); err != nil && len(tools) == 0 { // leftover tools of a removed server can be removed too
			return err
		}
		delete(all, c.Name)
		return nil
	})
	if err != nil {
		return err
	}
	if _, _, err := oauth.Remove(app.Context, h, c.Name); err != nil {
		return err
	}
	removed, err := r.RemoveServer(app.Context, c.Name)
	if err != nil {
		return err
	}
	record(app, h, func(map[string]mcpclient.Record) {}) // it drops that of the server
	answer := struct {
		Server string `json:"server"`
		Tools  int    `json:"tools_removed"`
	}{c.Name, len(removed)}
	return app.Document(answer, func(w io.Writer) {
		_, _ = fmt.Fprintf(w, "removed %s and %d tools\n", answer.Server, answer.Tools)
	})
}
