package main

import (
	"fmt"
	"io"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/pflow-suite/pflow/pkg/catalog/page"
	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type syncCommand struct {
	Names   []string `arg:"" optional:"" name:"name" help:"The servers." complete:"server"`
	All     bool     `help:"All configured servers that are not disabled."`
	Replace bool     `help:"Replace entries of the servers' tools that another program has written, such as upstream pflow."`
	Rename  bool     `help:"Let tools get other names than they have, and names stand for other tools than they do."`
}

// Help returns the longer text of --help.
func (syncCommand) Help() string {
	return `Each tool becomes the node type mcp-SERVER-TOOL, with a digest at the end where the names of two tools would be the same.
Tools that a server no longer has are removed. If a server fails, its tools are kept and the exit status is 1. Entries
that another program has written stay, unless --replace is given. A sync that would give a tool another name, or a name
to another tool, changes nothing of the server, unless --rename is given. Prints
  {"tools_discovered":N,"tools_registered":N,"tools_removed":N,"servers":[{"server":NAME,…,"error"?}]}.`
}

// counts are numbers of tools: those that a server listed, those that are registered now, and those that were removed.
type counts struct {
	Discovered int `json:"tools_discovered"`
	Registered int `json:"tools_registered"`
	Removed    int `json:"tools_removed"`
}

type synced struct {
	Server string `json:"server"`
	counts
	// Overwritten are the names of node types whose definitions have changed.
	Overwritten []string            `json:"overwritten,omitempty"`
	Renamed     []registry.Renaming `json:"renamed,omitempty"`
	// Kept are the tools whose entries another program has written.
	Kept []string `json:"kept,omitempty"`
	// changes are those of the registry.
	changes mcpclient.Changes
	// Omitted is how many names are missing at the ends of Overwritten, Kept and Renamed.
	Omitted int          `json:"omitted,omitempty"`
	Error   *fault.Fault `json:"error,omitempty"`
}

type syncOutput struct {
	counts
	Servers []synced `json:"servers"`
	// Corrupt is the file in the home to which a registry that could not be read was moved.
	Corrupt string `json:"corrupt,omitempty"`
	// owners are the tools that were registered, by their node types.
	owners map[string]nodetype.MCP
}

// shorten omits names until the output takes at most the given number of bytes, or no names are left.
func (a *syncOutput) shorten(most int) {
	for names := 1; names > 0 && page.Size(a) > most; {
		names = 0
		for i := range a.Servers {
			s := &a.Servers[i]
			for _, list := range []*[]string{&s.Overwritten, &s.Kept} {
				left := len(*list) / 2
				s.Omitted += len(*list) - left
				*list = (*list)[:left]
				names += left
			}
			left := len(s.Renamed) / 2
			s.Omitted, names = s.Omitted+len(s.Renamed)-left, names+left
			s.Renamed = s.Renamed[:left]
		}
	}
}

// atOnce is the most servers that are started at the same time.
const atOnce = 8

// Run syncs the servers. It starts none of them if a name is not configured.
func (c *syncCommand) Run(app *cli.App) error {
	if len(c.Names) > 0 == c.All {
		return fault.New(fault.Usage, "Name the servers to sync, or give --all").Then(fault.Step{Do: fault.DoListServers})
	}
	h, err := app.Home()
	if err != nil {
		return err
	}
	servers, err := mcpclient.LoadServers(h)
	if err != nil {
		return err
	}
	names := c.Names
	if c.All {
		names = servers.Enabled()
	}
	if names, err = configured(servers, names); err != nil {
		return err
	}
	r, err := newConnector(app, h)
	if err != nil {
		return err
	}
	defer r.close()
	answer := syncOutput{Servers: make([]synced, len(names))}
	types := make([][]nodetype.Type, len(names))
	var discovery errgroup.Group
	discovery.SetLimit(atOnce)
	for i, name := range names {
		discovery.Go(func() error {
			var err error
			types[i], err = r.nodeTypes(name, servers)
			answer.Servers[i] = synced{Server: name, counts: counts{Discovered: len(types[i])}, Error: r.Redactor.Fault(fault.From(err))}
			return nil
		})
	}
	_ = discovery.Wait() // each has its own fault
	if err := app.Context.Err(); err != nil {
		return err
	}
	options := registry.SyncOptions{Foreign: c.Replace, Rename: c.Rename, Names: func(server string, tools []string) map[string]string {
		return mcpclient.ToolNames(server, tools, servers.Names())
	}}
	if err := answer.register(app, registry.Open(h), types, options); err != nil {
		return err
	}
	record(app, h, answer.record)
	return answer.report(app)
}

// nodeTypes lists the tools of one server and returns their node types.
func (r *connector) nodeTypes(name string, servers mcpclient.Servers) ([]nodetype.Type, error) {
	tools, err := r.tools(name, servers[name])
	if err != nil {
		return nil, err
	}
	for i, t := range tools {
		tools[i] = r.cleanTool(t)
	}
	return mcpclient.NodeTypes(name, tools, servers.Names()), nil
}

// register writes the tools of the servers that did not fail to the registry, in one step.
func (a *syncOutput) register(app *cli.App, reg *registry.Registry, types [][]nodetype.Type, options registry.SyncOptions) error {
	var listed []registry.ServerTools
	var at []*synced
	for i := range a.Servers {
		if s := &a.Servers[i]; s.Error == nil {
			listed, at = append(listed, registry.ServerTools{Server: s.Server, Types: types[i]}), append(at, s)
		}
	}
	done, corrupt, err := reg.ReplaceServers(app.Context, listed, options)
	if err != nil {
		return err
	}
	a.Corrupt = corrupt
	warnCorrupt(app, reg, corrupt)
	a.owners = map[string]nodetype.MCP{}
	for i, d := range done {
		if at[i].Error = d.Fault; d.Fault != nil {
			continue
		}
		for _, t := range listed[i].Types {
			a.owners[t.Name] = *t.MCP
		}
		at[i].Registered, at[i].Removed = len(listed[i].Types)-len(d.Foreign), len(d.Removed)
		at[i].Overwritten, at[i].Kept, at[i].Renamed = slices.Sorted(slices.Values(slices.Concat(d.Updated, d.Overwritten))), d.Foreign, d.Renamed
		c := &at[i].changes
		c.Add(&c.Removed, d.Removed...)
		c.Add(&c.Overwritten, at[i].Overwritten...)
		for _, r := range d.Renamed {
			c.Add(&c.Renamed, r.To)
		}
		c.Add(&c.Added, d.Added...)
	}
	return nil
}

// record keeps when the servers were synced, and what that has changed.
func (a *syncOutput) record(records map[string]mcpclient.Record) {
	for _, s := range a.Servers {
		if s.Error != nil {
			continue
		}
		r := records[s.Server]
		r.SyncedAt = now()
		if s.changes.Any() {
			r.ChangedAt, r.Changes = r.SyncedAt, &s.changes
		}
		records[s.Server] = r
	}
}

// cleanTool returns a tool without the secrets that its server has put into its description and its schemas.
func (r *connector) cleanTool(t mcpclient.Tool) mcpclient.Tool {
	t.Title, t.Description = r.Redactor.Text(t.Title), r.Redactor.Text(t.Description)
	t.InputSchema, _ = r.Redactor.JSON(t.InputSchema)
	t.OutputSchema, _ = r.Redactor.JSON(t.OutputSchema)
	t.Annotations, _ = r.Redactor.JSON(t.Annotations)
	t.More, _ = r.Redactor.JSON(t.More)
	return t
}

func (r *connector) tools(name string, server mcpclient.Server) ([]mcpclient.Tool, error) {
	session, err := r.session(r.app.Context, name, server)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	return session.Catalog(r.app.Context)
}

// warnCorrupt names the file to which a corrupt registry was moved, unless it is empty.
func warnCorrupt(app *cli.App, reg *registry.Registry, name string) {
	if name == "" {
		return
	}
	text := "the registry was corrupt: it was moved to " + name + " in the home folder, and a new one begun; sync --all and nodes register everything again"
	if backup := reg.Backup(); backup != "" {
		text += ", and " + backup + " is the last good state"
	}
	app.Warn("%s", text)
}

// report sums up and prints the output. The exit status is 1 if a server failed.
func (a *syncOutput) report(app *cli.App) error {
	failed := false
	for _, s := range a.Servers {
		a.Discovered += s.Discovered
		a.Registered += s.Registered
		a.Removed += s.Removed
		for _, name := range s.Overwritten {
			app.Warn("the definition of node type %s has changed", name)
		}
		for _, r := range s.Renamed {
			app.Warn("tool %q of server %s was %s and is now %s", r.Tool, r.Server, r.From, r.To)
			if other, taken := a.owners[r.From]; taken {
				app.Warn("%s is now tool %q of server %s: workflows with this name run that one", r.From, other.Tool, other.Server)
			}
		}
		for _, name := range s.Kept {
			app.Warn("%s is an entry of another program and was left as it is; pflow-sync sync %s --replace replaces it", name, s.Server)
		}
		if s.Error != nil {
			failed = true
			app.Complain(ofServer(s.Server, s.Error))
		}
	}
	if app.MaxBytes > 0 {
		a.shorten(app.MaxBytes)
	}
	err := app.Document(a, func(w io.Writer) {
		for _, s := range a.Servers {
			if s.Error == nil {
				_, _ = fmt.Fprintf(w, "%s: %d tools, %d removed\n", s.Server, s.Registered, s.Removed)
			}
		}
	})
	if err == nil && failed {
		return cli.Status(1)
	}
	return err
}

// configured returns the names sorted, each once. The error is that of the first one that is not configured.
func configured(servers mcpclient.Servers, names []string) ([]string, error) {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	for _, name := range names {
		if _, err := servers.Get(name); err != nil {
			return nil, err
		}
	}
	return names, nil
}
