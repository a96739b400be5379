package mcpserver

import (
	"cmp"
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

// read gives a resource's content to the SDK.
func (r *Resource) read(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return contents(ctx, req, r.Read, "") // the SDK knows the type
}

// read gives the content of any URI, whatever the SDK has in its table.
func (s *Server) read(ctx context.Context, req *mcp.ReadResourceRequest) (mcp.Result, error) {
	result, err := contents(ctx, req, s.config.Read, s.table.mimeType(req.Params.URI))
	if err != nil {
		return nil, err
	}
	if revisionOf(ctx, req) < statelessRevision {
		return result, nil
	}
	return &readResult{Cacheable: &result.Cacheable, Contents: result.Contents, ResultType: "complete"}, nil
}

// readResult is the result of resources/read where the SDK does not make it: only the SDK can say in its own that it is
// complete.
type readResult struct {
	mcp.ResultBase
	*mcp.Cacheable
	Contents   []*mcp.ResourceContents `json:"contents"`
	ResultType string                  `json:"resultType,omitempty"`
}

// contents asks a resource. The errors are faults or are an *Error.
func contents(ctx context.Context, req *mcp.ReadResourceRequest, read func(context.Context, string) (*Content, error), mimeType string) (*mcp.ReadResourceResult, error) {
	uri := req.Params.URI
	c, err := read(ctx, uri)
	if err != nil {
		return nil, wrong(err)
	}
	if c == nil {
		return nil, fault.New(fault.Internal, "The resource %s gave nothing at all", fault.Truncate(uri, maxEcho))
	}
	result := &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
		{URI: uri, MIMEType: cmp.Or(c.MIMEType, mimeType), Text: c.Text, Blob: c.Blob},
	}}
	setCache(&result.Cacheable, c.TTL, c.Private)
	return result, nil
}

// readError turns the failure of a read into the protocol's error: a fault or an *Error is our own, anything else is the
// SDK's word that no resource has this URI.
func (s *Server) readError(ctx context.Context, req *mcp.ReadResourceRequest, err error) error {
	if err == nil {
		return nil
	}
	if !isOurs(err) {
		err = unknown("resource", req.Params.URI, s.table.uris())
	}
	if revisionOf(ctx, req) < statelessRevision {
		return protocolError(err, codeResourceNotFound)
	}
	return protocolError(err, jsonrpc.CodeInvalidParams)
}

func isOurs(err error) bool {
	_, own := errors.AsType[*Error](err)
	_, isFault := errors.AsType[*fault.Fault](err)
	return own || isFault
}
