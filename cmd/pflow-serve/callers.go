package main

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/access"
	"github.com/pflow-suite/pflow/pkg/mcp/mcphttp"
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
			SuggestCommand("Make one with pflow-serve token add NAME, or listen on 127.0.0.1, without a --public-url of another machine")
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

// client returns who sends a request. The error is a *mcphttp.Denied.
func (c *callers) client(r *http.Request) (*mcphttp.Client, error) {
	values := r.Header.Values("Authorization")
	if len(values) == 0 {
		toolsets := c.anyone(r)
		if toolsets == nil {
			return nil, &mcphttp.Denied{Status: http.StatusUnauthorized, Challenge: challenge, Message: "A bearer token is needed"}
		}
		server, err := c.server(toolsets, nil)
		return &mcphttp.Client{Server: server}, err
	}
	tokens, err := access.List(c.fronts.suite.Home)
	if err != nil {
		return nil, err
	}
	scheme, secret, _ := strings.Cut(values[0], " ")
	token := access.Find(tokens, strings.TrimSpace(secret))
	if token == nil || len(values) > 1 || !strings.EqualFold(scheme, "Bearer") {
		return nil, &mcphttp.Denied{Status: http.StatusUnauthorized, Challenge: challenge + `, error="invalid_token"`, Message: "The bearer token is wrong or was removed"}
	}
	toolsets := c.toolsets
	if len(token.Toolsets) > 0 {
		toolsets = slices.DeleteFunc(slices.Clone(toolsets), func(name string) bool { return !slices.Contains(token.Toolsets, name) })
	}
	if len(toolsets) == 0 {
		return nil, &mcphttp.Denied{Status: http.StatusForbidden, Challenge: challenge + `, error="insufficient_scope"`, Message: "The token reaches no toolset of this server"}
	}
	server, err := c.server(toolsets, token.Flows)
	return &mcphttp.Client{Name: token.Name, Server: server}, err
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
