package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/access"
	"github.com/pflow-suite/pflow/pkg/mcp/flowhttp"
	"github.com/pflow-suite/pflow/pkg/mcp/mcphttp"
	"github.com/pflow-suite/pflow/pkg/mcp/mcphttp/runpage"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/feed"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/flow"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type httpCommand struct {
	toolFlags

	Listen    string        `help:"The address to listen on, HOST:PORT. With port 0 the system chooses a free one." default:"127.0.0.1:3000" placeholder:"HOST:PORT"`
	PublicURL string        `help:"The URL under which clients reach the server, if that is another than the address, as behind a proxy. Default: NEXT_PUBLIC_SITE_URL." name:"public-url" env:"NEXT_PUBLIC_SITE_URL" placeholder:"URL"`
	Drain     time.Duration `help:"How long calls in flight may take to end after a signal. Those that wait for a run then answer with its run_id; the run goes on." default:"5s" placeholder:"DURATION"`
}

// Help returns more text for --help.
func (httpCommand) Help() string {
	return `Clients reach the server at /api/mcp, by streamable HTTP of every revision of MCP from 2025-03-26 on. GET /api/mcp tells what is served.
With the toolset core, runs or workflows, the server has web pages at /: runs as they happen, with answers to questions, cancel and resume,
two runs compared, and forms that start workflows. GET /api/runs/RUN/events is the stream of a run's events.
The first line of standard output is a JSON document with the server's url.`
}

// cronVariable has the secret of those who may remove expired jobs.
const cronVariable = "CRON_SECRET"

// endpoint is the path of MCP.
const endpoint = "/api/mcp"

// listening is what the server prints when it has begun.
type listening struct {
	Success bool   `json:"success"`
	URL     string `json:"url"`
}

// Run serves until the process receives a signal.
func (c *httpCommand) Run(app *cli.App) error {
	made, toolsets, err := c.fronts(app, suitetools.Flows)
	if err != nil {
		return err
	}
	defer made.suite.Close()
	public, err := parsePublic(c.PublicURL)
	if err != nil {
		return err
	}
	host, err := mcphttp.Host(c.Listen)
	if err != nil {
		return err
	}
	callers := &callers{
		ctx: app.Context, fronts: made, toolsets: toolsets, public: public, watch: access.Watch{Home: made.suite.Home}, servers: map[string]*mcpserver.Server{},
		open: mcphttp.IsLoopback(host) && (public == nil || mcphttp.IsLoopback(public.Hostname())),
	}
	if err := callers.check(); err != nil {
		return err
	}
	listener, err := mcphttp.Listen(app.Context, c.Listen)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }()
	at := baseURL(listener, host)
	made.base, made.feed = at, feed.New(context.WithoutCancel(app.Context), made.suite)
	if public != nil {
		made.base = public.String()
	}
	defer made.feed.Close()
	if _, err := callers.server(toolsets, nil); err != nil {
		return err
	}
	go callers.pass(cli.Hangups(app))
	continued := ""
	if slices.Contains(toolsets, suitetools.Flows) {
		continued = flow.Streamed
	}
	handler := mcphttp.New(mcphttp.Config{
		Name: "pflow", Version: cli.Version, Description: "Workflows for agents: find building blocks, run, resume, save.", Log: app.Log,
		Client: callers.client, Health: callers.health, Continued: continued,
	})
	routes := http.NewServeMux()
	routes.Handle(endpoint, handler)
	if slices.Contains(toolsets, suitetools.Flows) {
		flows := &flowhttp.Handler{Suite: made.suite, Secret: app.Getenv(cronVariable), Log: app.Log}
		flows.Mount(routes)
		go flows.Sweep(app.Context)
	}
	drain := handler.Drain(max(0, c.Drain))
	if showsRuns(toolsets) {
		pages := &runpage.Handler{Programs: made.suite, Feed: made.feed, Reach: callers.reach, SignIn: callers.signIn, SignOut: callers.signOut, Public: public, Log: app.Log}
		pages.Mount(routes)
		defer pages.Close()
		endCalls := drain.Begin
		drain.Begin = func() { endCalls(); pages.Close() }
	}
	if err := app.Document(listening{true, at + endpoint}, func(w io.Writer) { _, _ = fmt.Fprintf(w, "Serving MCP on %s\n", at+endpoint) }); err != nil {
		return err
	}
	guard := &mcphttp.Guard{Public: public, Host: host}
	app.EndsWithin(max(0, c.Drain) + time.Minute)
	return mcphttp.Serve(app.Context, listener, guard.Handler(mcphttp.Revocable(routes, callers.bind)), drain, app.Log)
}

// baseURL returns the URL of a listener for programs of this machine.
func baseURL(listener net.Listener, host string) string {
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	if address, err := netip.ParseAddr(host); host == "" || err == nil && address.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// parsePublic returns the URL under which clients reach the server, or nil.
func parsePublic(text string) (*url.URL, error) {
	if text == "" {
		return nil, nil
	}
	public, err := url.Parse(strings.TrimSuffix(text, "/"))
	if err != nil || public.Hostname() == "" || public.Scheme != "http" && public.Scheme != "https" || public.User != nil || public.RawQuery != "" || public.Fragment != "" {
		return nil, fault.New(fault.Usage, "--public-url must be an http or https URL without a user, a query and a fragment, such as https://flows.example.com")
	}
	return public, nil
}
