package mcpserver

import (
	"context"
	"slices"
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

// revisionOf is the revision that a request follows: the one it names, else the one that the server agreed to, which is
// the newest possible when the client asked for one that there is not.
func revisionOf(req request) string {
	revision := req.ProtocolVersion()
	if _, named := req.GetParams().GetMeta()[mcp.MetaKeyProtocolVersion]; named {
		return revision
	}
	if revision >= statelessRevision || !slices.Contains(mcp.SupportedProtocolVersions(), revision) {
		return newestWithHandshake
	}
	return revision
}

// setHint says how long the answer to a list or to discover may be kept. What is read says so itself.
func (s *Server) setHint(_ context.Context, req mcp.Request, c *mcp.Cacheable) {
	if s.Hint == nil {
		return
	}
	if method := hinted(req); method != "" && revisionOf(req.(request)) >= statelessRevision {
		ttl, private := s.Hint(method)
		hint(c, statelessRevision, ttl, private)
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

// hint fills in what the revision has. The SDK sends the two fields in every revision; an older one gets what it would
// get without any hint.
func hint(c *mcp.Cacheable, revision string, ttl time.Duration, private bool) {
	c.CacheScope = "public"
	if revision < statelessRevision {
		return
	}
	c.TTLMs = int(max(0, ttl.Milliseconds()))
	if private {
		c.CacheScope = "private"
	}
}
