package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/terminal/cells"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type doctorCommand struct {
	Names []string `arg:"" optional:"" name:"name" help:"The servers; by default all that are not disabled." complete:"server"`
}

// Help returns the longer text of --help.
func (doctorCommand) Help() string {
	return `Starts each server, eight at a time, lists its tools and stops it. Prints a line for each server:
{"server":NAME,"transport":…,"success":true,"tools":N,"start_ms":N,"warnings":[TEXT…],"error":FAULT}. Warnings are what a
server works without: variables that are not set, tools that are not registered. The exit status is 1 if a server has an error.
Nothing is changed, except that show prints the memory that was measured.`
}

// diagnosis is what doctor found out about a server.
type diagnosis struct {
	Server    string `json:"server"`
	Transport string `json:"transport"`
	Success   bool   `json:"success"`
	// Implementation is what the server calls itself, and Protocol the revision of MCP that it speaks.
	Implementation string `json:"implementation,omitempty"`
	Protocol       string `json:"protocol,omitempty"`
	Tools          int    `json:"tools"`
	// StartMS is the time from the start to the end of the handshake, and ListMS that of the list of tools.
	StartMS  float64 `json:"start_ms,omitempty"`
	ListMS   float64 `json:"list_ms,omitempty"`
	MemoryMB int     `json:"memory_mb,omitempty"`
	// Login is active or expired, or empty if no one has logged in.
	Login    string       `json:"login,omitempty"`
	Warnings []string     `json:"warnings,omitempty"`
	Error    *fault.Fault `json:"error,omitempty"`
}

// Run examines the servers.
func (c *doctorCommand) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	servers, err := mcpclient.LoadServers(h)
	if err != nil {
		return err
	}
	names := c.Names
	if len(names) == 0 {
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
	reg := registry.Open(h)
	found := make([]diagnosis, len(names))
	var examining errgroup.Group
	examining.SetLimit(atOnce)
	for i, name := range names {
		examining.Go(func() error {
			found[i] = r.examine(reg, name, servers)
			return nil
		})
	}
	_ = examining.Wait()                   // each has its own fault
	logins := loginStates(app, h, servers) // as the examination has left them
	for i := range found {
		found[i].Login = logins[found[i].Server]
	}
	if err := app.Context.Err(); err != nil {
		return err
	}
	record(app, h, func(records map[string]mcpclient.Record) {
		for _, d := range found {
			if d.Success {
				r := records[d.Server]
				r.MemoryMB, r.MeasuredAt, r.Implementation, r.Protocol = d.MemoryMB, now(), d.Implementation, d.Protocol
				records[d.Server] = r
			}
		}
	})
	failed := false
	for _, d := range found {
		if d.Error != nil {
			failed = true
			app.Complain(ofServer(d.Server, d.Error))
		}
	}
	if err := cli.List(app, found, func(w io.Writer) { writeDiagnoses(w, found) }); err != nil {
		return err
	}
	if len(found) == 0 && !app.JSON() && !app.Quiet {
		_, _ = fmt.Fprintf(app.Messages(), "%s: hint: No MCP server is configured; pflow-sync add NAME -- COMMAND adds one\n", app.Name)
	}
	if failed {
		return cli.Status(1)
	}
	return nil
}

// ofServer returns a fault whose message begins with the server.
func ofServer(name string, f *fault.Fault) *fault.Fault {
	of := *f
	of.Message = "server " + name + ": " + of.Message
	return &of
}

// examine starts one server, lists its tools and stops it.
func (r *connector) examine(reg *registry.Registry, name string, servers mcpclient.Servers) diagnosis {
	server := servers[name]
	d := diagnosis{Server: name, Transport: server.Transport()}
	tools, err := r.measure(&d, server)
	if err == nil {
		d.Success, d.Tools = true, len(tools)
		err = d.compare(reg, tools, servers.Names())
	}
	if err != nil {
		d.Success, d.Error = false, r.Redactor.Fault(fault.From(err))
	}
	for i, text := range d.Warnings {
		d.Warnings[i] = r.Redactor.Text(text)
	}
	return d
}

// measure connects to a server, lists its tools and disconnects.
func (r *connector) measure(d *diagnosis, server mcpclient.Server) ([]mcpclient.Tool, error) {
	resolver := r.Resolver
	resolver.Warn = func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		d.Warnings = append(d.Warnings, strings.TrimPrefix(text, "server "+d.Server+": "))
	}
	began := time.Now()
	session, err := mcpclient.Connect(r.app.Context, resolver.Spec(d.Server, server))
	if err != nil {
		return nil, err
	}
	defer session.Close()
	d.StartMS = milliseconds(time.Since(began))
	began = time.Now()
	tools, err := session.Tools(r.app.Context)
	d.ListMS = milliseconds(time.Since(began))
	d.Implementation, d.Protocol = session.About()
	d.Implementation = r.Redactor.Text(d.Implementation)
	d.MemoryMB = session.Memory()
	return tools, err
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(100*time.Microsecond).Microseconds()) / 1000
}

// compare warns if the node types of the server's tools are not those of the list.
func (d *diagnosis) compare(reg *registry.Registry, tools []mcpclient.Tool, configured []string) error {
	registered, err := reg.MCPTools(d.Server)
	if err != nil {
		return err
	}
	missing, gone := 0, len(registered)
	for _, t := range mcpclient.NodeTypes(d.Server, tools, configured) {
		if found, ok, err := reg.Known(t.Name); err != nil || !ok || found.MCP == nil || found.MCP.Server != d.Server || found.Unregistered {
			missing++
			continue
		}
		gone--
	}
	if missing > 0 || gone > 0 {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%d of its %d tools are not node types, and %d node types are of no tool: pflow-sync sync %s registers its tools",
			missing, len(tools), max(0, gone), d.Server))
	}
	return nil
}

// writeDiagnoses prints a table, and below it a line for each warning.
func writeDiagnoses(w io.Writer, found []diagnosis) {
	var table cells.Table
	for _, d := range found {
		state := "ok"
		if !d.Success {
			state = "failed"
		}
		table.Row(d.Server, state, fmt.Sprintf("%d tools", d.Tools), fmt.Sprintf("%.0f ms", d.StartMS+d.ListMS), fmt.Sprintf("%d MB", d.MemoryMB))
	}
	_ = table.Write(w, 0)
	for _, d := range found {
		for _, text := range d.Warnings {
			_, _ = fmt.Fprintf(w, "%s: warning: %s\n", d.Server, text)
		}
	}
}
