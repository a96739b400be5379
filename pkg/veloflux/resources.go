package veloflux

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Resource is a resource, or all resources whose URIs match a template.
type Resource struct {
	// URI is a URI, or a URI template (RFC 6570) if Template is true. The scheme is not case-sensitive.
	URI         string `json:"uri"`
	Template    bool   `json:"template"`
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	MIMEType    string `json:"mime_type"`

	path       string // the URI without scheme and query
	ifTooLarge string // what to do if the document is too large
	fetch      func(ctx context.Context, m *Manager, name string) (json.RawMessage, error)
}

// Content is the content of a resource.
type Content struct {
	// URI is the URI that was requested.
	URI      string
	MIMEType string
	// Document is JSON. It has the same bytes for every read until it is fetched again.
	Document json.RawMessage
	// TTL is how long the document stays fresh, or 0 if it is not cached.
	TTL time.Duration
	// Private is true if credentials were sent, so that the document may be for this user only.
	Private bool
}

const scheme = "veloFlux"

// Resources returns all resources.
func Resources() []Resource {
	all := []Resource{
		{
			path: "catalog/functions_digest", ifTooLarge: "Allow more bytes, or describe functions one by one", Name: "functions_digest", Title: "SQL functions, in short",
			Description: "All built-in SQL functions with kind, aliases, number of arguments, and where they may be used",
			fetch: func(ctx context.Context, m *Manager, _ string) (json.RawMessage, error) {
				return m.digested(functionsDigest)(m.Functions(ctx))
			},
		},
		{
			path: "catalog/syntax_digest", ifTooLarge: "Allow more bytes", Name: "syntax_digest", Title: "SQL syntax, in short",
			Description: "The SQL constructs with their status, semantics and syntax",
			fetch: func(ctx context.Context, m *Manager, _ string) (json.RawMessage, error) {
				return m.digested(syntaxDigest)(m.Syntax(ctx))
			},
		},
		{
			path: "streams/snapshot", ifTooLarge: "Allow more bytes, or read veloFlux://streams/schema?name=STREAM for one stream", Name: "streams_snapshot", Title: "Streams, in short",
			Description: "The streams, each with the number of its columns and the names of the first ones, and the time of the fetch",
			fetch: func(ctx context.Context, m *Manager, _ string) (json.RawMessage, error) {
				body, err := m.Streams(ctx)
				return m.digested(func(b []byte) (json.RawMessage, error) { return streamsSnapshot(b, time.Now()) })(body, err)
			},
		},
		{
			path: "streams/schema", ifTooLarge: "Allow more bytes for a stream with this many columns", Template: true, Name: "stream_schema", Title: "Schema of a stream",
			Description: "The columns of the stream with this name",
			fetch: func(ctx context.Context, m *Manager, name string) (json.RawMessage, error) {
				body, err := m.DescribeStream(ctx, name)
				return m.digested(func(b []byte) (json.RawMessage, error) { return streamSchema(name, b) })(body, err)
			},
		},
	}
	for i := range all {
		all[i].URI, all[i].MIMEType = scheme+"://"+all[i].path, "application/json"
		if all[i].Template {
			all[i].URI += "{?name}"
		}
	}
	return all
}

// digested returns a function that makes a digest of the Manager's response, or passes its error on.
func (m *Manager) digested(digest func([]byte) (json.RawMessage, error)) func(json.RawMessage, error) (json.RawMessage, error) {
	return func(body json.RawMessage, err error) (json.RawMessage, error) {
		if err != nil {
			return nil, err
		}
		document, err := digest(body)
		if err != nil {
			return nil, m.digestError(body, err)
		}
		return document, nil
	}
}

// ReadResource returns the content of the resource with the given URI. Every error is an *Error.
func (r *Runtime) ReadResource(ctx context.Context, uri string) (*Content, error) {
	started := time.Now()
	content, traced, hit, err := r.read(ctx, uri)
	args, _ := rawjson.Marshal(map[string]string{"uri": uri})
	if failure := r.record(KindResourceRead, traced, args, started, hit, err); failure != nil {
		return nil, failure
	}
	return content, nil
}

// read reads a resource. For the trace, it also returns the resource's URI without the query, or uri itself if no
// resource has it.
func (r *Runtime) read(ctx context.Context, uri string) (content *Content, traced string, hit bool, err error) {
	resource, name, err := locate(uri)
	if err != nil {
		return nil, uri, false, err
	}
	own := scheme + "://" + resource.path
	key := own
	if resource.Template {
		key += "?name=" + url.QueryEscape(name)
	}
	found, hit, err := r.cache.get(ctx, key, func(ctx context.Context) (json.RawMessage, error) { return resource.fetch(ctx, r.manager, name) })
	if err != nil {
		return nil, own, hit, err
	}
	if err := r.checkSize(own, len(found.document), resource.ifTooLarge); err != nil {
		return nil, own, hit, err
	}
	return &Content{
		URI: uri, MIMEType: resource.MIMEType, Document: bytes.Clone(found.document),
		TTL: max(0, time.Until(found.until)), Private: r.manager.sendsCredentials(),
	}, own, hit, nil
}

// locate returns the resource that a URI names, and the name in its query.
func locate(uri string) (*Resource, string, error) {
	all := Resources()
	rest, query, asked := strings.Cut(strings.TrimSpace(uri), "?")
	given, path, ok := strings.Cut(rest, "://")
	for i := range all {
		r := &all[i]
		switch {
		case !ok || !strings.EqualFold(given, scheme) || path != r.path:
			continue
		case r.Template:
			name, err := queried(uri, query)
			return r, name, err
		case asked:
			return nil, "", &Error{Code: CodeInvalidParams, Message: fmt.Sprintf("The resource %s takes no query", r.URI)}
		}
		return r, "", nil
	}
	var available []string
	for _, r := range all {
		available = append(available, r.URI)
	}
	return nil, "", unknownName("resource", uri, available)
}

// queried returns the name in a query. The query must not have anything else.
func queried(uri, query string) (string, error) {
	values, err := url.ParseQuery(query)
	if err != nil || len(values) != 1 || len(values["name"]) != 1 || values.Get("name") == "" {
		return "", &Error{
			Code:    CodeInvalidParams,
			Message: fmt.Sprintf("The query of %s must name one stream and nothing else. Write %s://streams/schema?name=STREAM, with the stream's name percent-encoded", fault.Truncate(uri, maxShownRoute), scheme),
		}
	}
	return values.Get("name"), nil
}
