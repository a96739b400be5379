package mcpserver

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// structuredRevision is the first revision whose results have structured content.
	structuredRevision = "2025-06-18"
	// newestWithHandshake is the last revision whose sessions begin with initialize.
	newestWithHandshake = "2025-11-25"
	// statelessRevision is the first one in which each request names the revision that it follows. Its results say that they
	// are complete, and how long they may be kept.
	statelessRevision = "2026-07-28"
	// NewestRevision is the newest revision that the server speaks.
	NewestRevision = statelessRevision
)

// request is what every request of a client knows about itself.
type request interface {
	mcp.Request
	ProtocolVersion() string
}

// setCacheable fills in how long the answer to a list or to server/discover may be kept. The answer to a read has its own
// values. The SDK calls it with its lock held.
func (s *Server) setCacheable(ctx context.Context, req mcp.Request, c *mcp.Cacheable) {
	if s.config.CachePolicy == nil {
		return
	}
	if method := cacheableMethod(req); method != "" && revisionOf(ctx, req.(request)) >= statelessRevision {
		ttl, private := s.config.CachePolicy(method)
		setCache(c, ttl, private)
	}
}

// cacheableMethod returns the method of a request that Config.CachePolicy is called for, or "".
func cacheableMethod(req mcp.Request) string {
	switch req.(type) {
	case *mcp.ListToolsRequest:
		return "tools/list"
	case *mcp.ListPromptsRequest:
		return "prompts/list"
	case *mcp.ListResourcesRequest:
		return "resources/list"
	case *mcp.ListResourceTemplatesRequest:
		return "resources/templates/list"
	case *mcp.ServerRequest[*mcp.DiscoverParams]:
		return "server/discover"
	}
	return ""
}

// setCache fills in how long a result may be kept.
func setCache(c *mcp.Cacheable, ttl time.Duration, private bool) {
	c.TTLMs, c.CacheScope = int(max(0, ttl.Milliseconds())), "public"
	if private {
		c.CacheScope = "private"
	}
}

// unhinted returns a result without the members that say how long it may be kept, for the revisions before these exist.
// The SDK's results always have them.
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
	}
	return result
}

// noHints hides the members of mcp.Cacheable from the encoder, which prefers the less deeply embedded members and omits
// nil.
type noHints struct {
	TTLMs      *int    `json:"ttlMs,omitempty"`
	CacheScope *string `json:"cacheScope,omitempty"`
}
