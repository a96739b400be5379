package node

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// idempotencyHeader is the header by which a server recognizes a repeated request
// (draft-ietf-httpapi-idempotency-key-header).
const idempotencyHeader = "Idempotency-Key"

// outgoing is a request that can be sent any number of times.
type outgoing struct {
	method string
	url    *url.URL
	// written is the URL as the workflow has it. Redaction finds secrets in it, which it may not in the encoding of a
	// url.URL.
	written string
	header  http.Header
	// host is the Host header if it differs from the URL's host.
	host string
	// body is nil for a request without a body, which differs from one with an empty body.
	body *string
	// secrets are the values of auth_token and api_key. A header that contains one is a credential.
	secrets []string
	// leftOrigin is set once a redirect has led to another origin: the credentials have been removed.
	leftOrigin bool
}

// newOutgoing returns the request that a node describes. key is the node's key.
func newOutgoing(in *nodetype.HTTP, key string) (outgoing, *fault.Fault) {
	u, err := url.Parse(in.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return outgoing{}, fault.New(fault.Execution, "%q is not an http or https URL", displayText(in.URL)).Suggest("Give a complete URL, such as https://example.org/path")
	}
	if !validPort(u) {
		return outgoing{}, fault.New(fault.Execution, "%q is not an http or https URL: invalid port %s", displayText(in.URL), shorten(u.Port())).
			Suggest("Give a port from 1 to 65535, or omit it for the scheme's default")
	}
	u.RawQuery = strings.Trim(u.RawQuery+"&"+encodeQuery(in.Params), "&")
	c := outgoing{method: strings.ToUpper(in.Method), url: u, written: in.URL, header: http.Header{}}
	if len(in.Params) > 0 {
		before, _, _ := strings.Cut(in.URL, "?")
		c.written = before + "?" + u.RawQuery
	}
	if len(in.Body) > 0 && string(in.Body) != "null" {
		body := template.AsText(in.Body)
		c.body = &body
		if in.Body[0] != '"' {
			c.header.Set("Content-Type", "application/json")
		}
	}
	switch {
	case c.method != "":
	case c.body != nil:
		c.method = http.MethodPost
	default:
		c.method = http.MethodGet
	}
	c.setHeaders(in.Headers)
	if _, given := c.header[idempotencyHeader]; in.IdempotencyKey && !given {
		c.header.Set(idempotencyHeader, key)
	}
	return c, c.authorize(in)
}

// setHeaders sets the given headers and the default ones.
func (c *outgoing) setHeaders(given map[string]string) {
	for k, v := range given {
		if strings.EqualFold(k, "Host") { // net/http has a field of its own for it
			c.host = v
			continue
		}
		c.header.Set(k, v)
	}
	if c.header.Get("User-Agent") == "" { // some servers refuse Go's default
		c.header.Set("User-Agent", "pflow")
	}
	if c.header.Get("Accept-Encoding") == "" && c.header.Get("Range") == "" && c.method != http.MethodHead {
		c.header.Set("Accept-Encoding", "gzip")
	}
}

// authorize adds the credentials.
func (c *outgoing) authorize(in *nodetype.HTTP) *fault.Fault {
	switch {
	case in.AuthToken != "" && in.APIKey != "":
		return fault.New(fault.Execution, "auth_token and api_key cannot be used together").Suggest("Give one of them")
	case in.AuthToken != "":
		c.header.Set("Authorization", "Bearer "+in.AuthToken)
		c.secrets = []string{in.AuthToken}
	case in.APIKey != "":
		c.header.Set(in.APIKeyHeader, in.APIKey)
		c.secrets = []string{in.APIKey}
	case c.url.User != nil && c.header.Get("Authorization") == "":
		password, _ := c.url.User.Password()
		c.header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(c.url.User.Username()+":"+password)))
	}
	return nil
}

// encodeQuery returns parameters as a URL query, sorted by name. A list repeats the name for each item; null is left out.
func encodeQuery(params map[string]json.RawMessage) string {
	values := url.Values{}
	for name, value := range params {
		items := []json.RawMessage{value}
		if value[0] == '[' {
			_ = json.Unmarshal(value, &items) // cannot fail: the value is valid JSON
		}
		for _, item := range items {
			if string(item) != "null" {
				values.Add(name, template.AsText(item))
			}
		}
	}
	return values.Encode()
}

// idempotent reports whether sending the request twice has the effect of sending it once: by its method (RFC 9110, 9.2.2),
// or because it carries a key by which the server recognizes repetitions.
func (c *outgoing) idempotent() bool {
	switch c.method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	}
	return c.header.Get(idempotencyHeader) != "" || c.header.Get("X-Idempotency-Key") != ""
}

// build returns the request for net/http.
func (c *outgoing) build(ctx context.Context) (*http.Request, error) {
	var body io.Reader
	if c.body != nil {
		body = strings.NewReader(*c.body)
	}
	req, err := http.NewRequestWithContext(ctx, c.method, c.url.String(), body)
	if err != nil {
		return nil, err
	}
	req.Header = maps.Clone(c.header)
	if c.host != "" {
		req.Host = c.host
	}
	return req, nil
}

// displayURL returns the URL for messages, without its password. If the query has a parameter with the name of a credential,
// only the host is shown: redaction could not recognize the rest of a secret that is cut.
func (c *outgoing) displayURL() string {
	for pair := range strings.SplitSeq(c.url.RawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); value != "" && err == nil && isCredentialName(plain) {
			return c.url.Scheme + "://" + c.url.Host + "/…"
		}
	}
	if _, set := c.url.User.Password(); !set {
		return c.written
	}
	scheme, rest, _ := strings.Cut(c.written, "//")
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	return scheme + "//" + c.url.User.Username() + ":xxxxx" + rest[strings.LastIndexByte(rest[:end], '@'):]
}

// displayText returns for messages what should be a URL, without what may be a password and without the query.
func displayText(text string) string {
	end := strings.IndexAny(text, "?#")
	if end < 0 {
		end = len(text)
	}
	before, rest := text[:end], ""
	if end < len(text) {
		rest = text[end:end+1] + "…"
	}
	switch at := strings.LastIndexByte(text, '@'); {
	case at >= end: // it may belong to a password
		return "…"
	case at >= 0:
		before = "…" + before[at:]
	}
	return shorten(before) + rest
}

// send sends the request and returns the response, whose body is not read yet.
func (x *exchange) send(ctx context.Context) (*http.Response, *fault.Fault) {
	x.outputs, x.retryAfter, x.connected = nodetype.HTTPOutputs{}, nil, false
	var connected atomic.Bool
	d := &dials{ctx: ctx, secure: x.request.url.Scheme == "https"}
	x.watch.progress()
	req, err := x.request.build(httptrace.WithClientTrace(d.requestContext(), x.watch.trace(&httptrace.ClientTrace{
		GotConn:          func(httptrace.GotConnInfo) { connected.Store(true) },
		TLSHandshakeDone: func(tls.ConnectionState, error) { d.done() },
	})))
	if err != nil {
		return nil, x.noResponseFault(ctx, err)
	}
	x.watch.sent(req)
	resp, err := x.client.RoundTrip(req)
	x.connected = connected.Load()
	if err != nil {
		return nil, x.noResponseFault(ctx, err)
	}
	x.recordResponse(resp)
	x.watch.received(resp)
	if resp.StatusCode == http.StatusSwitchingProtocols { // its body is the connection itself, which the context does not close
		_ = resp.Body.Close()
		return nil, fault.New(fault.Protocol, "%s responded with HTTP 101 to switch to another protocol, which an http node does not support", x.request.displayURL()).
			Suggest("Omit the header Upgrade, or check the URL: it may be that of a WebSocket")
	}
	return resp, nil
}

// discard closes a response that is not needed. If it is short, its connection can be used again.
func discard(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
	_ = resp.Body.Close()
}
