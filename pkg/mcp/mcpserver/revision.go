package mcpserver

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// structuredRevision is the first revision whose results have structured content.
	structuredRevision = "2025-06-18"
	// newestWithHandshake is the last revision that a session begins with initialize in.
	newestWithHandshake = "2025-11-25"
	// statelessRevision is the first one whose requests each say which they follow. Its results say that they are complete,
	// and how long they may be kept.
	statelessRevision = "2026-07-28"
)

// request is what every request of a client knows of itself.
type request interface {
	mcp.Request
	ProtocolVersion() string
}

// setHint says how long the answer to a list or to discover may be kept. What is read says so itself.
func (d *dispatcher) setHint(_ context.Context, req mcp.Request, c *mcp.Cacheable) {
	if d.server.CachePolicy == nil {
		return
	}
	if method := hinted(req); method != "" && d.revisionOf(req.(request)) >= statelessRevision {
		ttl, private := d.server.CachePolicy(method)
		hint(c, ttl, private)
	}
}

// hinted is the method of a request that Server.Hint is asked about.
func hinted(req mcp.Request) string {
	switch req.(type) {
	case *mcp.ListToolsRequest:
		return "tools/list"
	case *mcp.ListResourcesRequest:
		return "resources/list"
	case *mcp.ListResourceTemplatesRequest:
		return "resources/templates/list"
	case *mcp.ServerRequest[*mcp.DiscoverParams]:
		return "server/discover"
	}
	return ""
}

// hint fills in how long a result may be kept.
func hint(c *mcp.Cacheable, ttl time.Duration, private bool) {
	c.TTLMs, c.CacheScope = int(max(0, ttl.Milliseconds())), "public"
	if private {
		c.CacheScope = "private"
	}
}

// unhinted is a result for a revision that does not say how long one may be kept. The SDK's results always do.
func unhinted(result mcp.Result) mcp.Result {
	switch r := result.(type) {
	case *mcp.ListToolsResult:
		return &struct {
			*mcp.ListToolsResult
			noHints
		}{ListToolsResult: r}
	case *mcp.ListResourcesResult:
		return &struct {
			*mcp.ListResourcesResult
			noHints
		}{ListResourcesResult: r}
	case *mcp.ListResourceTemplatesResult:
		return &struct {
			*mcp.ListResourceTemplatesResult
			noHints
		}{ListResourceTemplatesResult: r}
	case *mcp.ListPromptsResult:
		return &struct {
			*mcp.ListPromptsResult
			noHints
		}{ListPromptsResult: r}
	case *mcp.ReadResourceResult:
		return &readResult{Contents: r.Contents}
	}
	return result
}

// noHints hides the members of mcp.Cacheable from the encoder, which takes the less embedded ones and leaves out nil.
type noHints struct {
	TTLMs      *int    `json:"ttlMs,omitempty"`
	CacheScope *string `json:"cacheScope,omitempty"`
}
