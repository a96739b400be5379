package main

import (
	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
	"github.com/pflow-suite/pflow/pkg/terminal/completion"
)

// values returns for completions the configured servers, the tools of a server, and the arguments of a tool. It starts no server.
func values(app *cli.App, kind string, of []string) (list []completion.Candidate, err error) {
	h, err := app.Home()
	if err != nil {
		return nil, err
	}
	if kind == "server" {
		servers, err := mcpclient.LoadServers(h)
		for _, name := range servers.Names() {
			list = append(list, completion.Candidate{Value: name, Description: servers[name].Transport()})
		}
		return list, err
	}
	if len(of) == 0 || of[0] == "" {
		return nil, nil
	}
	set, err := settings.Load(h)
	if err != nil {
		return nil, err
	}
	types, err := registry.Open(h).MCPTools(of[0])
	if err != nil {
		return nil, err
	}
	secrets := redact.For(set.Env, app.Env)
	for _, t := range types {
		switch {
		case kind == "tool":
			list = append(list, completion.Candidate{Value: t.MCP.Tool, Description: secrets.Text(t.Description)})
		case len(of) == 2 && t.MCP.Tool == of[1]:
			for _, p := range nodetype.Redacted(t.Params, secrets) {
				list = append(list, completion.Assignment(p.Name, p.Type, p.Description, p.Enum))
			}
		}
	}
	return list, nil
}
