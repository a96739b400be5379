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
	Names   []string `arg:"" optional:"" name:"name" help:"The servers."`
	All     bool     `help:"All configured servers."`
	Replace bool     `help:"Replace entries of the servers' tools that another program has written, such as upstream pflow."`
}

// Help returns the longer text of --help.
func (syncCommand) Help() string {
	return `Each tool becomes the node type mcp-SERVER-TOOL. Tools that a server no longer has are removed. If a server fails, its
	tools are kept and the exit status is 1. Entries that another program has written stay, unless --replace is given. Prints
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
	Overwritten []string `json:"overwritten,omitempty"`
	// Kept are the tools whose entries another program has written.
	Kept []string `json:"kept,omitempty"`
	// Omitted is how many names are missing at the ends of Overwritten and Kept.
	Omitted int          `json:"omitted,omitempty"`
	Error   *fault.Fault `json:"error,omitempty"`
}

type syncOutput struct {
	counts
	Servers []synced `json:"servers"`
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
		}
	}
}

// atOnce is the most servers that are started at the same time. Most are Node programs, which are expensive to start.
const atOnce = 4

// Run syncs the servers. It starts none of them if a name is not configured.
func (c *syncCommand) Run(app *cli.App) error {
	if len(c.Names) > 0 == c.All {
		return fault.New(fault.Usage, "Name the servers to sync, or give --all").SuggestCommand("pflow-sync list shows the configured servers")
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
		names = servers.Names()
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	for _, name := range names {
		if _, err := servers.Get(name); err != nil {
			return err
		}
	}
	r, err := newConnector(app, h)
	if err != nil {
		return err
	}
	defer r.close()
	reg := registry.Open(h)
	answer := syncOutput{Servers: make([]synced, len(names))}
	var syncing errgroup.Group
	syncing.SetLimit(atOnce)
	for i, name := range names {
		syncing.Go(func() error {
			answer.Servers[i] = r.sync(reg, name, servers[name], c.Replace)
			return nil
		})
	}
	_ = syncing.Wait() // each has its own fault
	if err := app.Context.Err(); err != nil {
		return err
	}
	return answer.report(app)
}

// sync lists the tools of one server and writes them to the registry.
func (r *connector) sync(reg *registry.Registry, name string, server mcpclient.Server, foreign bool) synced {
	s := synced{Server: name}
	tools, err := r.tools(name, server)
	if err == nil {
		types := make([]nodetype.Type, len(tools))
		for i, t := range tools {
			types[i] = mcpclient.NodeType(name, r.cleanTool(t))
		}
		var change registry.Change
		change, err = reg.ReplaceServer(r.app.Context, name, types, foreign)
		if err == nil {
			s.counts = counts{len(tools), len(types), len(change.Removed)}
			s.Overwritten, s.Kept = change.Overwritten, change.Foreign
			s.Registered -= len(s.Kept)
		}
	}
	if err != nil {
		s.Error = r.Redactor.Fault(fault.From(err))
	}
	return s
}

// cleanTool returns a tool without the secrets that its server has put into its description and its schemas.
func (r *connector) cleanTool(t mcpclient.Tool) mcpclient.Tool {
	t.Title, t.Description = r.Redactor.Text(t.Title), r.Redactor.Text(t.Description)
	t.InputSchema, _ = r.Redactor.JSON(t.InputSchema)
	t.OutputSchema, _ = r.Redactor.JSON(t.OutputSchema)
	t.Annotations, _ = r.Redactor.JSON(t.Annotations)
	return t
}

func (r *connector) tools(name string, server mcpclient.Server) ([]mcpclient.Tool, error) {
	session, err := r.session(r.app.Context, name, server)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	return session.Tools(r.app.Context)
}

// report sums up and prints the output. The exit status is 1 if a server failed.
func (a *syncOutput) report(app *cli.App) error {
	failed := false
	for _, s := range a.Servers {
		a.Discovered += s.Discovered
		a.Registered += s.Registered
		a.Removed += s.Removed
		for _, name := range s.Overwritten {
			app.Warn("%s was another tool and now belongs to server %s", name, s.Server)
		}
		for _, name := range s.Kept {
			app.Warn("%s is an entry of another program and was left as it is; pflow-sync sync %s --replace replaces it", name, s.Server)
		}
		if s.Error != nil {
			failed = true
			f := *s.Error
			f.Message = "server " + s.Server + ": " + f.Message
			app.Complain(&f)
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
