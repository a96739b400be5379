package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// codeResourceNotFound is the code for an unknown resource in the revisions before the stateless one. Since then it is
// that of invalid params.
const codeResourceNotFound = -32002

// Resource is something to read: one URI, or all that match a URI template (RFC 6570, recognised by its braces).
type Resource struct {
	URI, Name, Title, Description, MIMEType string
	// Read returns the content of a URI. A *fault.Fault of type not_found becomes the protocol's own error for that; any
	// fault is sent as the data of the error. An *Error is sent as it is. Read is not called, and may be nil, if the server
	// has a Read.
	Read func(ctx context.Context, uri string) (*Content, error)
}

// Content is what a resource holds: text, or bytes if Blob is not nil. MIMEType defaults to that of the resource; with a
// Config.Read, to that of the listed resource with this URI, or else of the template that shares the longest text before
// its first brace with the URI.
type Content struct {
	MIMEType string
	Text     string
	Blob     []byte
	// Meta is sent as the content's _meta; nil omits it.
	Meta map[string]any
	// TTL is how long a client of 2026-07-28 or later may keep the content, in whole milliseconds. Private means that it is
	// for this client's user alone.
	TTL     time.Duration
	Private bool
}

// add adds the resource to the SDK's list, as a template if its URI is one.
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

// read returns the resource's content to the SDK.
func (r *Resource) read(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return contents(ctx, req, r.Read, "") // the SDK adds the type
}

// read answers resources/read with Config.Read, for any URI, or else has next find the resource.
func (s *Server) read(ctx context.Context, next mcp.MethodHandler, method string, req *mcp.ReadResourceRequest) (mcp.Result, error) {
	if s.config.Read != nil {
		result, err := contents(ctx, req, s.config.Read, s.table.mimeType(req.Params.URI))
		if err != nil {
			return nil, err
		}
		return wireRead(result, revisionOf(ctx, req)), nil
	}
	result, err := next(ctx, method, req)
	if result, ok := result.(*mcp.ReadResourceResult); ok && err == nil {
		return wireRead(result, revisionOf(ctx, req)), nil
	}
	return result, err
}

// readResult is the result of resources/read as it is sent. The SDK's own leaves out a text that is empty, which clients
// refuse, and only the SDK can set the resultType of that.
type readResult struct {
	mcp.ResultBase
	*mcp.Cacheable
	Contents   []wireContents `json:"contents"`
	ResultType string         `json:"resultType,omitempty"`
}

// wireContents is what a resource holds, with either a text or a blob.
type wireContents struct {
	URI      string   `json:"uri"`
	MIMEType string   `json:"mimeType,omitempty"`
	Text     *string  `json:"text,omitempty"`
	Blob     []byte   `json:"blob,omitzero"`
	Meta     mcp.Meta `json:"_meta,omitempty"`
}

// wireRead returns the result of resources/read in the form of the client's revision.
func wireRead(result *mcp.ReadResourceResult, revision string) *readResult {
	wire := &readResult{ResultBase: mcp.ResultBase{Meta: result.Meta}}
	for _, c := range result.Contents {
		w := wireContents{URI: c.URI, MIMEType: c.MIMEType, Blob: c.Blob, Meta: c.Meta}
		if c.Blob == nil {
			w.Text = &c.Text
		}
		wire.Contents = append(wire.Contents, w)
	}
	if revision >= statelessRevision {
		wire.Cacheable, wire.ResultType = &result.Cacheable, "complete"
	}
	return wire
}

// contents reads a resource. Its error is an *Error or a fault.
func contents(ctx context.Context, req *mcp.ReadResourceRequest, read func(context.Context, string) (*Content, error), mimeType string) (*mcp.ReadResourceResult, error) {
	uri := req.Params.URI
	c, err := read(ctx, uri)
	if err != nil {
		return nil, sendable(err)
	}
	if c == nil {
		return nil, fault.New(fault.Internal, "The resource %s has no content", fault.Truncate(uri, maxEcho))
	}
	result := &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
		{URI: uri, MIMEType: cmp.Or(c.MIMEType, mimeType), Text: c.Text, Blob: c.Blob, Meta: c.Meta},
	}}
	setCache(&result.Cacheable, c.TTL, c.Private)
	return result, nil
}

// readError returns a failed read as an error of the protocol. A fault or an *Error comes from this package; any other
// error is the SDK's, which has no resource with this URI.
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
