package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/page"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/mcp/clientconfig"
	"github.com/pflow-suite/pflow/pkg/mcp/install"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// What becomes of a server of a client.
const (
	statusTaken     = "taken"
	statusUnchanged = "unchanged"
	statusKept      = "kept"
	statusRefused   = "refused"
)

// imported is a server of a client and what becomes of it. Env and Headers have only names, because the values may be secret.
type imported struct {
	Client  string `json:"client"`
	File    string `json:"file"`
	Project string `json:"project,omitempty"`
	// Name is the client's name of the server, and Server that in this configuration.
	Name      string       `json:"name"`
	Server    string       `json:"server,omitempty"`
	Status    string       `json:"status"`
	Transport string       `json:"transport,omitempty"`
	Command   string       `json:"command,omitempty"`
	Args      []string     `json:"args,omitempty"`
	Cwd       string       `json:"cwd,omitempty"`
	URL       string       `json:"url,omitempty"`
	Env       []string     `json:"env,omitempty"`
	Headers   []string     `json:"headers,omitempty"`
	Disabled  bool         `json:"disabled,omitempty"`
	Differs   []string     `json:"differs,omitempty"`
	Error     *fault.Fault `json:"error,omitempty"`
}

// importing takes servers over.
type importing struct {
	// rename has new names by the names of the clients.
	rename map[string]string
	force  bool
	// taken has the clients of the servers that were taken over, by their names here.
	taken map[string]string
}

// items adds the servers to the configuration, and returns what has become of each.
func (n *importing) items(entries []clientconfig.Entry, configured mcpclient.Servers) []imported {
	n.taken = map[string]string{}
	items := make([]imported, len(entries))
	// An entry whose name must be changed does not take the name of another one.
	for _, exact := range []bool{true, false} {
		for i, e := range entries {
			if exact == (n.rename[e.Name] != "" || home.CheckName("server", e.Name) == nil) {
				items[i] = n.item(e, configured)
			}
		}
	}
	return items
}

func (n *importing) item(e clientconfig.Entry, configured mcpclient.Servers) imported {
	i := imported{Client: e.Client, File: e.File, Project: e.Project, Name: e.Name, Status: statusRefused, Differs: e.Differs, Error: e.Fault}
	if i.Error != nil {
		return i
	}
	i.describe(e.Server)
	if i.Server = n.rename[e.Name]; i.Server == "" {
		clean, _, err := mcpclient.CleanName(e.Name)
		if err != nil {
			i.Error = fault.From(err).Then(fault.Command("Give it another name", "pflow-sync import %s", renaming(e.Name)))
			return i
		}
		i.Server = clean
	}
	there, exists := configured[i.Server]
	client, mine := n.taken[i.Server]
	switch {
	case exists && there.Same(e.Server):
		i.Status = statusUnchanged
	case mine:
		i.Status = statusKept
		from := "--from " + e.Client
		if e.Project != "" {
			from += " --project " + install.Line([]string{e.Project})
		}
		i.Error = fault.New(fault.AlreadyExists, "Another server %s is taken from %s", i.Server, client).
			Then(fault.Command("Take it under another name", "pflow-sync import %s %s", from, renaming(e.Name)))
	case exists && !n.force:
		i.Status = statusKept
		i.Error = fault.New(fault.AlreadyExists, "There is another server %s", i.Server).Suggest("To replace it, add --force").
			Then(fault.Command("Take it under another name", "pflow-sync import %s", renaming(e.Name)))
	default:
		i.Status = statusTaken
		configured[i.Server], n.taken[i.Server] = e.Server, e.Client
	}
	return i
}

// renaming returns the arguments that take a server over under another name.
func renaming(name string) string {
	return install.Line([]string{"--rename", name + "=NEW", "--", name})
}

// describe sets what is shown of the server.
func (i *imported) describe(s mcpclient.Server) {
	s = s.Shown()
	i.Transport, i.Command, i.Cwd, i.Disabled = s.Transport(), s.Command, s.Cwd, s.Disabled
	i.Args, i.URL = s.Args, s.URL
	i.Env, i.Headers = slices.Sorted(maps.Keys(s.Env)), slices.Sorted(maps.Keys(s.Headers))
}

// shortened returns the item with the beginnings of its command, its URL and its fault, without lists.
func (i imported) shortened(bytes int) imported {
	i.Args, i.Env, i.Headers, i.Differs = nil, nil, nil, nil
	i.Command, i.URL, i.Cwd = page.Cut(i.Command, bytes/8), page.Cut(i.URL, bytes/8), page.Cut(i.Cwd, bytes/8)
	i.File, i.Project, i.Name = page.Cut(i.File, bytes/8), page.Cut(i.Project, bytes/8), page.Cut(i.Name, bytes/8)
	if i.Error != nil {
		i.Error = &fault.Fault{Type: i.Error.Type, Message: page.Cut(i.Error.Message, bytes/8)}
	}
	return i
}

func writeImported(w io.Writer, items []imported) {
	if len(items) == 0 {
		_, _ = fmt.Fprintln(w, "there are no servers in the configurations of other clients")
	}
	var table cells.Table
	for _, i := range items {
		name, where := i.Name, strings.Join(append([]string{i.Command}, i.Args...), " ")
		if i.Server != "" && i.Server != name {
			name += " as " + i.Server
		}
		switch {
		case i.Error != nil:
			where = i.Error.Message
		case i.Transport == mcpclient.HTTP:
			where = i.URL
		}
		table.Row(i.Client, name, i.Status, where)
	}
	_ = table.Write(w, 0) // the end of a message may say what to do
}
