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

// Resource is one thing to read, or all whose URIs come of a template.
type Resource struct {
	// URI is a URI, or a template for URIs (RFC 6570) where Template says so. The scheme may be written in any case.
	URI         string `json:"uri"`
	Template    bool   `json:"template"`
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	MIMEType    string `json:"mime_type"`

	path   string // the URI without scheme and query
	narrow string // what to do when it is too large
	fetch  func(ctx context.Context, m *Manager, name string) (json.RawMessage, error)
}

// Content is what a resource holds.
type Content struct {
	// URI is the one that was asked for.
	URI      string
	MIMEType string
	// Document is JSON, the same bytes for every read until it is fetched anew.
	Document json.RawMessage
	// TTL is how long it stays fresh; 0 when nothing is cached.
	TTL time.Duration
	// Private says that the Manager was asked with credentials.
	Private bool
}

const scheme = "veloFlux"

// Resources are the resources there are.
func Resources() []Resource {
	all := []Resource{
		{
			path: "catalog/functions_digest", narrow: "Allow more bytes, or describe functions one by one", Name: "functions_digest", Title: "SQL functions, in short",
			Description: "All built-in SQL functions with kind, aliases, number of arguments, and where they may stand",
			fetch: func(ctx context.Context, m *Manager, _ string) (json.RawMessage, error) {
				return m.digested(functionsDigest)(m.Functions(ctx))
			},
		},
		{
			path: "catalog/syntax_digest", narrow: "Allow more bytes", Name: "syntax_digest", Title: "SQL syntax, in short",
			Description: "The SQL constructs with their status, semantics and syntax",
			fetch: func(ctx context.Context, m *Manager, _ string) (json.RawMessage, error) {
				return m.digested(syntaxDigest)(m.Syntax(ctx))
			},
		},
		{
			path: "streams/snapshot", narrow: "Allow more bytes, or read veloFlux://streams/schema?name=STREAM for one stream", Name: "streams_snapshot", Title: "Streams, in short",
			Description: "The streams, each with the number of its columns and the first of them, and when they were fetched",
			fetch: func(ctx context.Context, m *Manager, _ string) (json.RawMessage, error) {
				body, err := m.Streams(ctx)
				return m.digested(func(b []byte) (json.RawMessage, error) { return streamsSnapshot(b, time.Now()) })(body, err)
			},
		},
		{
			path: "streams/schema", narrow: "Allow more bytes for a stream with this many columns", Template: true, Name: "stream_schema", Title: "Schema of a stream",
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

// digested makes a digest of the Manager's answer.
func (m *Manager) digested(digest func([]byte) (json.RawMessage, error)) func(json.RawMessage, error) (json.RawMessage, error) {
	return func(body json.RawMessage, err error) (json.RawMessage, error) {
		if err != nil {
			return nil, err
		}
		document, err := digest(body)
		if err != nil {
			return nil, m.undigested(body, err)
		}
		return document, nil
	}
}

// ReadResource reads a resource. Every error is an *Error.
func (r *Runtime) ReadResource(ctx context.Context, uri string) (*Content, error) {
	started := time.Now()
	content, traced, hit, err := r.read(ctx, uri)
	args, _ := rawjson.Marshal(map[string]string{"uri": uri})
	if failure := r.record(KindResourceRead, traced, args, started, hit, err); failure != nil {
		return nil, failure
	}
	return content, nil
}

// read gives also the resource's own URI, or the one asked for where there is none, for the trace.
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
	if err := r.bounded(own, len(found.document), resource.narrow); err != nil {
		return nil, own, hit, err
	}
	return &Content{
		URI: uri, MIMEType: resource.MIMEType, Document: bytes.Clone(found.document),
		TTL: max(0, time.Until(found.until)), Private: r.manager.credentialed(),
	}, own, hit, nil
}

// locate finds the resource that a URI names, and the name in its query.
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
	return nil, "", unknown("resource", uri, available)
}

// queried is the name in a query, which has nothing else.
func queried(uri, query string) (string, error) {
	values, err := url.ParseQuery(query)
	if err != nil || len(values) != 1 || len(values["name"]) != 1 || values.Get("name") == "" {
		return "", &Error{
			Code:    CodeInvalidParams,
			Message: fmt.Sprintf("%s must have a query that names one stream, and nothing else. Write %s://streams/schema?name=STREAM, with the stream's name percent-encoded", fault.Truncate(uri, maxShownRoute), scheme),
		}
	}
	return values.Get("name"), nil
}
