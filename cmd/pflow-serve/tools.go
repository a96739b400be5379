package main

import (
	"cmp"
	"context"
	"runtime/debug"
	"slices"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/offer"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/feed"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// toolFlags say which tools a server has.
type toolFlags struct {
	Toolsets  string   `help:"The toolsets to serve, separated by commas: core (the five tools for workflows; the default over stdio), drafts (writing drafts without files), workflows (a tool for each saved workflow, with runs), runs (runs that outlive a call), servers (MCP servers), veloflux (a veloFlux Manager) and flows (workflows shared by a link; the default over HTTP)." env:"PFLOW_TOOLSETS" placeholder:"TOOLSET,…" complete:"toolset"`
	Workflows []string `help:"With the toolset workflows: offer only the saved workflows that match, instead of those that serve.json includes: a name with * and ?, tag:TAG or category:CATEGORY. Can be repeated." placeholder:"PATTERN"`
}

// fronts makes the fronts of one server.
type fronts struct {
	suite   *suite.Programs
	drafts  string
	include []string
	// base is the URL of the server for its clients, and feed brings events to streams; both are for HTTP.
	base string
	feed *feed.Feed
}

// fronts returns what makes fronts, and the toolsets that the flags choose.
func (c *toolFlags) fronts(app *cli.App, standard string) (*fronts, []string, error) {
	toolsets, err := suitetools.ParseToolsets(cmp.Or(c.Toolsets, standard))
	if err != nil {
		return nil, nil, err
	}
	if err := offer.CheckPatterns(c.Workflows); err != nil {
		return nil, nil, err
	}
	h, err := app.Home()
	if err != nil {
		return nil, nil, err
	}
	drafts, err := h.Make("workflows")
	if err != nil { // a home that cannot be written can still be read
		drafts = h.Path("workflows")
		app.Log.Warn("the folder for drafts cannot be created", "error", err)
	}
	dir, err := app.Suite()
	if err != nil {
		return nil, nil, err
	}
	made := &fronts{
		suite:  &suite.Programs{Dir: dir, Env: app.Env, Home: h, Version: cli.Version, Log: app.Log},
		drafts: drafts, include: c.Workflows,
	}
	if slices.Contains(toolsets, suitetools.Flows) { // the server's own secrets are not for the workflows that its clients run
		made.suite.Reserve("ENCRYPTION_KEY", "pflow-share")
		made.suite.Reserve(cronVariable, "")
	}
	if len(c.Workflows) > 0 && !made.front(toolsets, nil).ServesWorkflows() {
		return nil, nil, fault.New(fault.Usage, "--workflows chooses among the tools of the toolset workflows, which is not served").Suggest("Add it with --toolsets core,workflows")
	}
	return made, toolsets, nil
}

// front returns the front of the given toolsets, for all workflows or only for some.
func (s *fronts) front(toolsets, only []string) *suitetools.Front {
	f := &suitetools.Front{Suite: s.suite, Toolsets: toolsets, Only: only, Base: s.base, Feed: s.feed}
	if f.ServesWorkflows() {
		f.Workflows = suitetools.NewWorkflows(f, s.include)
		if only != nil {
			f.Workflows.Include = only
		}
	}
	return f
}

// server returns the server of the given toolsets, for all workflows or only for some. The tools of the workflows change with them until ctx ends, and are looked for
// when asked receives a value.
func (s *fronts) server(ctx context.Context, toolsets, only []string, asked <-chan struct{}) (*mcpserver.Server, error) {
	f := s.front(toolsets, only)
	prompts := f.Prompts(s.drafts)
	if only != nil || slices.Equal(toolsets, []string{suitetools.Flows}) {
		prompts = nil // they bring what is known about all workflows
	}
	server, err := mcpserver.New(mcpserver.Config{
		Name: "pflow", Title: "pflow", Version: cli.Version, Instructions: f.Instructions(s.drafts), ToolsChange: f.ServesWorkflows(),
		Tools: f.Tools(), Unknown: f.Unknown, Resources: f.Resources(), Read: f.Read, Prompts: prompts, Tasks: suitetools.NewTasks(f), CachePolicy: suitetools.CachePolicy(f), Log: s.suite.Log,
	})
	if err != nil {
		return nil, err
	}
	if f.ServesWorkflows() {
		debug.SetGCPercent(50) // a server with a thousand tools is idle most of the time
		f.Workflows.Serve(ctx, server)
		go f.Workflows.Watch(ctx, asked)
	}
	return server, nil
}
