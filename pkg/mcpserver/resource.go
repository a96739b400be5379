package mcpserver

import (
	"context"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// codeResourceNotFound is what revisions before the stateless one call a resource that is not there; since then it is
// one of the invalid parameters.
const codeResourceNotFound = -32002

// add lists the resource, as a template when its URI is one.
func (r *Resource) add(server *mcp.Server) {
	if strings.Contains(r.URI, "{") {
		server.AddResourceTemplate(&mcp.ResourceTemplate{
			URITemplate: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType,
		}, r.read)
		return
	}
	server.AddResource(&mcp.Resource{
		URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType,
	}, r.read)
}

// read gives a resource's content to the SDK. Its errors are faults.
func (r *Resource) read(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	c, err := r.Read(ctx, req.Params.URI)
	if err != nil {
		return nil, fault.From(err)
	}
	if c == nil {
		return nil, fault.New(fault.Internal, "The resource %s gave nothing at all", req.Params.URI)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
		{URI: req.Params.URI, MIMEType: c.MIMEType, Text: c.Text, Blob: c.Blob},
	}}, nil
}

// readError turns the failure of a read into the protocol's error: a fault is our own, anything else is the SDK's word
// that no resource has this URI.
func (d *dispatcher) readError(req *mcp.ReadResourceRequest, err error) error {
	if err == nil {
		return nil
	}
	f, ours := errors.AsType[*fault.Fault](err)
	if !ours {
		var known []string
		for _, r := range d.server.Resources {
			known = append(known, r.URI)
		}
		f = unknown("resource", req.Params.URI, known)
	}
	switch {
	case f.Type != fault.NotFound && f.ExitStatus() != 2:
		return rpcError(jsonrpc.CodeInternalError, f)
	case f.Type == fault.NotFound && req.ProtocolVersion() < statelessRevision:
		return rpcError(codeResourceNotFound, f)
	}
	return rpcError(jsonrpc.CodeInvalidParams, f)
}
