package mcpserver

import (
	"context"
	"reflect"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// initialize answers the request that begins a session of the revisions before the stateless one. The SDK takes a
// request of the stateless revision for such a beginning, and would refuse this one behind it. But a client that probes
// with server/discover, and gives up before the answer is there, goes on with initialize on the same pipe.
func (d *dispatcher) initialize(ctx context.Context, next mcp.MethodHandler, method string, req *mcp.ServerRequest[*mcp.InitializeParams]) (mcp.Result, error) {
	if !d.begun.CompareAndSwap(false, true) {
		return next(ctx, method, req) // which refuses it
	}
	result := d.greeting
	result.ProtocolVersion = agreed(req.Params.ProtocolVersion)
	d.revision.Store(&result.ProtocolVersion)
	if req.Session.InitializeParams() == nil {
		// For the SDK the session begins here, unless it takes a request of the stateless revision at the same time.
		_, _ = next(ctx, method, req)
	}
	return &result, nil
}

// agreed is the revision of a session whose client asks for one: that, or the newest that begins with initialize.
func agreed(asked string) string {
	if asked < statelessRevision && slices.Contains(mcp.SupportedProtocolVersions(), asked) {
		return asked
	}
	return newestWithHandshake
}

// revisionOf is the revision that a request follows: the one it names, else the one that the session began with, which
// is the newest possible when it never did.
func (d *dispatcher) revisionOf(req request) string {
	if params := req.GetParams(); !reflect.ValueOf(params).IsNil() { // as they are when the client sent none
		if _, named := params.GetMeta()[mcp.MetaKeyProtocolVersion]; named {
			return req.ProtocolVersion()
		}
	}
	if revision := d.revision.Load(); revision != nil {
		return *revision
	}
	return newestWithHandshake
}
