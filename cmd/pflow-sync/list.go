package main

import (
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/page"
	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type listCommand struct{ pageFlags }

// listed is a server as list shows it. Env and Headers have only names, because the values may be secret.
type listed struct {
	Server    string       `json:"server"`
	Transport string       `json:"transport"`
	Command   string       `json:"command,omitempty"`
	Args      []string     `json:"args,omitempty"`
	URL       string       `json:"url,omitempty"`
	Env       []string     `json:"env,omitempty"`
	Headers   []string     `json:"headers,omitempty"`
	Tools     *int         `json:"tools,omitempty"` // nil if the registry cannot be read
	Disabled  bool         `json:"disabled,omitempty"`
	Login     string       `json:"login,omitempty"` // active or expired
	Error     *fault.Fault `json:"error,omitempty"`
}

// Run prints the configured servers, each with the number of its tools in the registry.
func (c *listCommand) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	servers, err := mcpclient.LoadServers(h)
	if err != nil {
		return err
	}
	found, err := findTools(registry.Open(h))
	if err != nil {
		return err
	}
	count := map[string]int{}
	for _, t := range found.types {
		count[t.MCP.Server]++
	}
	items := make([]listed, 0, len(servers))
	logins := loginStates(app, h, servers)
	for _, name := range servers.Names() {
		s := servers[name].Shown()
		var tools *int
		if !found.unknown {
			tools = new(count[name])
		}
		items = append(items, listed{
			Server: name, Transport: s.Transport(), Command: s.Command, Args: s.Args, URL: s.URL,
			Env: slices.Sorted(maps.Keys(s.Env)), Headers: slices.Sorted(maps.Keys(s.Headers)),
			Tools: tools, Disabled: s.Disabled, Login: logins[name], Error: fault.From(servers[name].Check(name)),
		})
	}
	list := listing[listed]{
		items: items, key: func(s listed) string { return s.Server }, query: "list", shorten: listed.shortened, text: func(w io.Writer, items []listed) { writeServers(w, items, app.Stdout.Columns()) },
		warnings: found.warn(app, &c.pageFlags),
		document: func(items []listed, end pageEnd) any {
			return struct {
				Servers []listed `json:"servers"`
				pageEnd
			}{items, end}
		},
	}
	return list.print(app, &c.pageFlags)
}

// shortened returns the server with the beginnings of its command, its URL and its fault, without arguments and names.
func (s listed) shortened(bytes int) listed {
	s.Args, s.Env, s.Headers = nil, nil, nil
	s.Command, s.URL = page.Cut(s.Command, bytes/8), page.Cut(s.URL, bytes/8)
	if s.Error != nil {
		s.Error = &fault.Fault{Type: s.Error.Type, Message: page.Cut(s.Error.Message, bytes/4)}
	}
	return s
}

func writeServers(w io.Writer, servers []listed, columns int) {
	var table cells.Table
	for _, s := range servers {
		where := strings.Join(append([]string{s.Command}, s.Args...), " ")
		if s.Transport == mcpclient.HTTP {
			where = s.URL
		}
		if s.Disabled {
			where = "(disabled) " + where
		}
		if s.Login != "" {
			where += " (login " + s.Login + ")"
		}
		tools := "?"
		if s.Tools != nil {
			tools = strconv.Itoa(*s.Tools)
		}
		table.Row(s.Server, s.Transport, tools+" tools", where)
	}
	_ = table.Write(w, columns)
}
