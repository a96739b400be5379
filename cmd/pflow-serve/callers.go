package main

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/access"
	"github.com/pflow-suite/pflow/pkg/mcp/mcphttp"
	"github.com/pflow-suite/pflow/pkg/mcp/mcphttp/runpage"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools"
)

// callers decides who may call what over HTTP: those who have a bearer token, and the programs of this machine if the server listens
// for them alone.
type callers struct {
	ctx      context.Context
	fronts   *fronts
	toolsets []string
	// open reports that the server is for this machine alone.
	open bool
	// public is the URL under which clients reach the server, or nil.
	public *url.URL
	watch  access.Watch

	mu      sync.Mutex
	servers map[string]*mcpserver.Server // by what they reach
	asked   []chan struct{}              // of the servers, to look for changes
}

// check returns a fault if everybody could call tools that need a credential.
func (c *callers) check() error {
	tokens, err := access.List(c.fronts.suite.Home)
	if err != nil {
		return err
	}
	if !c.open && len(tokens) == 0 && !slices.Equal(c.toolsets, onlyFlows) {
		return fault.New(fault.Usage, "Everyone who reaches the server could call its tools: there are no tokens").
			Suggest("Or listen on 127.0.0.1, without a --public-url of another machine").Then(fault.Command("Make one", "pflow-serve token add NAME"))
	}
	return nil
}

// onlyFlows are the toolsets whose tools carry their own credential.
var onlyFlows = []string{suitetools.Flows}

// anyone returns the toolsets that a request without a token reaches. A request that a proxy has passed on can come from anywhere.
func (c *callers) anyone(r *http.Request) []string {
	switch {
	case c.open && !forwarded(r.Header):
		return c.toolsets
	case slices.Contains(c.toolsets, suitetools.Flows):
		return onlyFlows
	}
	return nil
}

// challenge is the value of WWW-Authenticate.
const challenge = `Bearer realm="pflow"`

// sender is who sends a request, and what it reaches.
type sender struct {
	// token is the name of its token, or "".
	token    string
	toolsets []string
	// flows are the only workflows that it reaches; nil is all.
	flows []string
}

// sender returns who sends a request. The error is a *mcphttp.Denied if it may not call.
func (c *callers) sender(r *http.Request) (*sender, error) {
	find, err := c.credential(r)
	if err != nil {
		return nil, err
	}
	if find == nil {
		toolsets := c.anyone(r)
		if toolsets == nil {
			return nil, &mcphttp.Denied{Status: http.StatusUnauthorized, Challenge: challenge, Message: "A bearer token is needed"}
		}
		return &sender{toolsets: toolsets}, nil
	}
	tokens, err := access.List(c.fronts.suite.Home)
	if err != nil {
		return nil, err
	}
	token := find(tokens)
	if token == nil {
		return nil, errInvalid()
	}
	toolsets := c.toolsets
	if len(token.Toolsets) > 0 {
		toolsets = slices.DeleteFunc(slices.Clone(toolsets), func(name string) bool { return !slices.Contains(token.Toolsets, name) })
	}
	if len(toolsets) == 0 {
		return nil, &mcphttp.Denied{Status: http.StatusForbidden, Challenge: challenge + `, error="insufficient_scope"`, Message: "The token reaches no toolset of this server"}
	}
	return &sender{token.Name, toolsets, token.Flows}, nil
}

// errInvalid returns the error for a credential by which no token is found.
func errInvalid() *mcphttp.Denied {
	return &mcphttp.Denied{Status: http.StatusUnauthorized, Challenge: challenge + `, error="invalid_token"`, Message: "The bearer token is wrong or was removed, or the session has ended"}
}

// credential returns what finds the token of a request, by the bearer in Authorization or by the session in a browser's cookie, or nil if the
// request has neither. A browser says by Origin which page has it change something.
func (c *callers) credential(r *http.Request) (find func([]access.Token) *access.Token, err error) {
	values, server := r.Header.Values("Authorization"), runpage.ServerOf(c.public, r)
	cookie, missing := r.Cookie(runpage.Cookie(server))
	switch {
	case len(values) == 1:
		scheme, secret, _ := strings.Cut(values[0], " ")
		return func(tokens []access.Token) *access.Token {
			if !strings.EqualFold(scheme, "Bearer") {
				return nil
			}
			return access.Find(tokens, strings.TrimSpace(secret))
		}, nil
	case len(values) > 1:
		return nil, errInvalid()
	case missing != nil:
		return nil, nil
	case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Header.Get("Origin") == "":
		return nil, &mcphttp.Denied{Status: http.StatusForbidden, Message: "A request with a cookie must have the Origin of a page of this server"}
	}
	return func(tokens []access.Token) *access.Token {
		return access.FindSession(tokens, cookie.Value, server, time.Now())
	}, nil
}

// bind returns the context of a request. It ends soon after the token or the session that the request has come with.
func (c *callers) bind(r *http.Request) (ctx context.Context, end func()) {
	find, err := c.credential(r)
	if err != nil || find == nil {
		return r.Context(), func() {}
	}
	return c.watch.Bind(r.Context(), find, errInvalid())
}

// signIn begins a session of a browser by a token. The error is a *mcphttp.Denied if the token does not reach the pages.
func (c *callers) signIn(r *http.Request, token string) (session string, err error) {
	check := r.Clone(r.Context())
	check.Header.Set("Authorization", "Bearer "+token)
	if _, err := c.reach(check); err != nil {
		return "", err
	}
	return access.Begin(r.Context(), c.fronts.suite.Home, token, runpage.ServerOf(c.public, r))
}

// signOut ends the session of a request.
func (c *callers) signOut(r *http.Request) error {
	server := runpage.ServerOf(c.public, r)
	cookie, missing := r.Cookie(runpage.Cookie(server))
	if missing != nil {
		return nil
	}
	return access.End(r.Context(), c.fronts.suite.Home, cookie.Value, server)
}

// client returns who sends a request to the MCP endpoint. The error is a *mcphttp.Denied.
func (c *callers) client(r *http.Request) (*mcphttp.Client, error) {
	from, err := c.sender(r)
	if err != nil {
		return nil, err
	}
	server, err := c.server(from.toolsets, from.flows)
	return &mcphttp.Client{Name: from.token, Server: server}, err
}

// reach returns what a request for a page may see. The error is a *mcphttp.Denied.
func (c *callers) reach(r *http.Request) (*runpage.Reach, error) {
	from, err := c.sender(r)
	if err != nil {
		return nil, err
	}
	if !showsRuns(from.toolsets) {
		return nil, &mcphttp.Denied{Status: http.StatusForbidden, Challenge: challenge, Message: "A token that reaches the toolset core, runs or workflows is needed"}
	}
	runs := slices.Contains(from.toolsets, "runs") || slices.Contains(from.toolsets, "workflows")
	return &runpage.Reach{Token: from.token, Start: slices.Contains(from.toolsets, suitetools.DefaultToolset), Go: runs, Cancel: runs, Flows: from.flows}, nil
}

// showsRuns reports whether toolsets have tools for runs.
func showsRuns(toolsets []string) bool {
	return slices.ContainsFunc(toolsets, func(name string) bool {
		return name == suitetools.DefaultToolset || name == "runs" || name == "workflows"
	})
}

// health returns the client whose tools the health document names. Without a token, a server for other machines names none.
func (c *callers) health(r *http.Request) (*mcphttp.Client, error) {
	if len(r.Header.Values("Authorization")) == 0 && c.anyone(r) == nil {
		return nil, nil
	}
	return c.client(r)
}

// forwarded reports whether a proxy has passed a request on, which then can come from anywhere.
func forwarded(header http.Header) bool {
	return slices.ContainsFunc([]string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"}, func(name string) bool { return header.Get(name) != "" })
}

// server returns the server that reaches the given toolsets, and all workflows or only some. It is made when it is first needed.
func (c *callers) server(toolsets, only []string) (*mcpserver.Server, error) {
	key := strings.Join(toolsets, ",") + "/" + strings.Join(only, ",")
	c.mu.Lock()
	defer c.mu.Unlock()
	if server := c.servers[key]; server != nil {
		return server, nil
	}
	asked := make(chan struct{}, 1)
	server, err := c.fronts.server(c.ctx, toolsets, only, asked)
	if err != nil {
		return nil, err
	}
	c.servers[key], c.asked = server, append(c.asked, asked)
	return server, nil
}

// pass passes each hangup on to all servers.
func (c *callers) pass(hangups <-chan struct{}) {
	for range hangups {
		c.mu.Lock()
		for _, asked := range c.asked {
			select {
			case asked <- struct{}{}:
			default: // it has not yet seen the one before
			}
		}
		c.mu.Unlock()
	}
}
