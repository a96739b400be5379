package main

import (
	"io"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/catalog/page"
	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpclient"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type showCommand struct {
	Name string `arg:"" help:"The server." complete:"server"`
}

// Help returns the longer text of --help.
func (showCommand) Help() string {
	return `Prints the server's entry, without secrets and with its variables as they are written, which of them are set, its limits, its tools
that are node types, when it was synced, what that has changed, and the memory that doctor has measured. It starts no server.`
}

// shown is all that is known of a server.
type shown struct {
	Server    string `json:"server"`
	File      string `json:"file"`
	Transport string `json:"transport"`
	Disabled  bool   `json:"disabled"`
	Login     string `json:"login,omitempty"` // active or expired

	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Cwd     string            `json:"cwd,omitempty"`
	URL     string            `json:"url,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	// InheritEnv is set if the server gets the whole environment.
	InheritEnv bool `json:"inherit_env,omitempty"`
	// Variables are those that the entry refers to.
	Variables []variable `json:"variables,omitempty"`
	Limits    limits     `json:"limits"`

	Tools []shownTool `json:"tools"`
	Total *int        `json:"total,omitempty"` // nil if the registry cannot be read
	// Omitted is the number of tools that are left out.
	Omitted int `json:"omitted,omitempty"`
	mcpclient.Record
	Warnings []*fault.Fault `json:"warnings,omitempty"`
	Error    *fault.Fault   `json:"error,omitempty"`
}

// variable is a variable that an entry refers to, and where it is set: "environment", "settings", "default" or nowhere.
type variable struct {
	Name string `json:"name"`
	Set  string `json:"set,omitempty"`
}

// limits are the limits of a server, the times in seconds. A maximal memory of 0 means no limit.
type limits struct {
	Start       float64 `json:"start_seconds"`
	List        float64 `json:"list_seconds"`
	Call        float64 `json:"call_seconds"`
	MaxMemoryMB int     `json:"max_memory_mb,omitempty"`
}

// shownTool is a tool with the first sentence of its description.
type shownTool struct {
	Tool        string `json:"tool"`
	NodeType    string `json:"node_type"`
	Description string `json:"description,omitempty"`
}

// Run prints what is known of the server.
func (c *showCommand) Run(app *cli.App) error {
	h, err := app.Home()
	if err != nil {
		return err
	}
	servers, err := mcpclient.LoadServers(h)
	if err != nil {
		return err
	}
	server, err := servers.Get(c.Name)
	if err != nil {
		return err
	}
	found, err := findTools(registry.Open(h))
	if err != nil {
		return err
	}
	set, err := settings.Load(h)
	if err != nil {
		found.warnings = append(found.warnings, fault.From(err))
		set = &settings.Settings{}
	}
	resolver := mcpclient.Resolver{Env: app.Env, Settings: set.Env, Redactor: redact.For(set.Env, app.Env)}
	resolver.AddSecrets(server)
	s := shown{
		Server: c.Name, File: h.Path(mcpclient.File), Transport: server.Transport(), Disabled: server.Disabled,
		Login: loginStates(app, h, mcpclient.Servers{c.Name: server})[c.Name],
		Tools: []shownTool{}, Record: mcpclient.Records(h)[c.Name],
		Warnings: found.warnings, Error: fault.From(server.Check(c.Name)),
	}
	s.Limits.Start, s.Limits.List, s.Limits.Call = server.Limits()
	s.Limits.MaxMemoryMB = server.MaxMemory
	s.entry(server, resolver.Redactor)
	s.Variables = variables(server, app.Env, set.Env)
	for _, t := range found.types {
		if t.MCP.Server == c.Name {
			s.Tools = append(s.Tools, shownTool{t.MCP.Tool, t.Name, resolver.Redactor.Text(sentence(t.Description))})
		}
	}
	if !found.unknown {
		s.Total = new(len(s.Tools))
	}
	if !app.JSON() {
		for _, w := range s.Warnings {
			app.Warn("%s", w.Message)
		}
	}
	if app.MaxBytes > 0 {
		s.shorten(app.MaxBytes)
	}
	return app.Document(s, func(w io.Writer) { writeShown(w, s, app.Stdout.Columns()) })
}

// entry sets what the entry says, without secrets.
func (s *shown) entry(server mcpclient.Server, secrets *redact.Redactor) {
	server = server.Shown()
	s.Command, s.Args, s.Cwd, s.URL = secrets.Text(server.Command), secrets.Texts(server.Args), server.Cwd, secrets.Text(server.URL)
	s.Env, s.Headers, s.InheritEnv = server.Env, server.Headers, server.InheritEnv
}

// variables returns the variables that an entry refers to, sorted as they are found.
func variables(server mcpclient.Server, env []string, set map[string]string) (list []variable) {
	seen := map[string]bool{}
	x := server.Expand(func(name string) (string, bool) {
		v := variable{Name: name}
		value, ok := process.LookupEnv(env, name)
		if v.Set = "environment"; !ok {
			if value, ok = set[name]; ok {
				v.Set = "settings"
			} else {
				v.Set = "default"
			}
		}
		if !seen[name] {
			seen[name] = true
			list = append(list, v)
		}
		return value, ok
	})
	for i := range list {
		if slices.Contains(x.Undefined, list[i].Name) {
			list[i].Set = ""
		}
	}
	return list
}

// sentence returns the first sentence of a description, or its first line if that is shorter.
func sentence(description string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(description), "\n")
	if first, _, ok := strings.Cut(line, ". "); ok {
		line = first + "."
	}
	return page.Cut(line, 300)
}

// shorten makes the document take at most the given number of bytes, as far as leaving out tools and lists allows it.
func (s *shown) shorten(most int) {
	if page.Size(s) <= most {
		return
	}
	for i := range s.Tools {
		s.Tools[i].Description = ""
	}
	for len(s.Tools) > 0 && page.Size(s) > most {
		left := len(s.Tools) / 2
		s.Omitted += len(s.Tools) - left
		s.Tools = s.Tools[:left]
	}
	if page.Size(s) <= most {
		return
	}
	s.Args, s.Env, s.Headers, s.Variables, s.Warnings, s.Changes = nil, nil, nil, nil, nil, nil
	s.Command, s.URL, s.Cwd, s.File = page.Cut(s.Command, most/16), page.Cut(s.URL, most/16), page.Cut(s.Cwd, most/16), page.Cut(s.File, most/16)
	if s.Error != nil {
		s.Error = &fault.Fault{Type: s.Error.Type, Message: page.Cut(s.Error.Message, most/16)}
	}
}
