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

// outgoing is a request that can be sent any number of times.
type outgoing struct {
	method string
	url    *url.URL
	// written is the URL as it was written. A secret in it is known there, and may not be in what an url.URL makes of it.
	written string
	header  http.Header
	// host is the Host header where it is not that of the URL.
	host string
	// body is nil when there is none, which is not the same as an empty one.
	body *string
	// secrets are the credentials that the node names as such: a header that has one in it is a credential too.
	secrets []string
	// strayed says that a redirect led to where credentials must not go: they are gone for good.
	strayed bool
}

// newCall is the request that a node asks for.
func newCall(in *nodetype.HTTP) (outgoing, *fault.Fault) {
	u, err := url.Parse(in.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return outgoing{}, fault.New(fault.Execution, "%q is no http or https URL", shownText(in.URL)).Suggest("Give a whole URL, such as https://example.org/path")
	}
	if !validPort(u) {
		return outgoing{}, fault.New(fault.Execution, "%q is no http or https URL: there is no port %s", shownText(in.URL), excerpt(u.Port())).
			Suggest("Give a port from 1 to 65535, or none for the scheme's own")
	}
	u.RawQuery = strings.Trim(u.RawQuery+"&"+query(in.Params), "&")
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
	c.headers(in.Headers)
	return c, c.authorize(in)
}

func (c *outgoing) headers(given map[string]string) {
	for k, v := range given {
		if strings.EqualFold(k, "Host") { // Go sends it from elsewhere
			c.host = v
			continue
		}
		c.header.Set(k, v)
	}
	if c.header.Get("User-Agent") == "" { // Go's own is turned away by some
		c.header.Set("User-Agent", "pflow")
	}
	if c.header.Get("Accept-Encoding") == "" && c.header.Get("Range") == "" && c.method != http.MethodHead {
		c.header.Set("Accept-Encoding", "gzip")
	}
}

// authorize puts in the credentials.
func (c *outgoing) authorize(in *nodetype.HTTP) *fault.Fault {
	switch {
	case in.AuthToken != "" && in.APIKey != "":
		return fault.New(fault.Execution, "auth_token and api_key exclude each other").Suggest("Give one of them")
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

// query is parameters as a URL has them, sorted. A list gives its name once for each item; null gives none.
func query(params map[string]json.RawMessage) string {
	values := url.Values{}
	for name, value := range params {
		items := []json.RawMessage{value}
		if value[0] == '[' {
			_ = json.Unmarshal(value, &items) // it begins like a list, and is valid
		}
		for _, item := range items {
			if string(item) != "null" {
				values.Add(name, template.AsText(item))
			}
		}
	}
	return values.Encode()
}

// repeatable says whether doing it twice has the effect of doing it once: RFC 9110, 9.2.2, and for other methods the
// word of who sends it, by a key that the server tells repetitions by.
func (c *outgoing) repeatable() bool {
	switch c.method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	}
	return c.header.Get("Idempotency-Key") != "" || c.header.Get("X-Idempotency-Key") != ""
}

// request is the call as Go sends it.
func (c *outgoing) request(ctx context.Context) (*http.Request, error) {
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

// shown is the URL as errors show it: without its password. One whose query has something under the name of a secret is
// cut at the host: were only that taken out, what is left of a secret that a path or a query splits would not be known.
func (c *outgoing) shown() string {
	for pair := range strings.SplitSeq(c.url.RawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); value != "" && err == nil && credentialName(plain) {
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

// shownText is what errors show of a text that should be a URL: nothing that may be a password or stands in a query.
func shownText(text string) string {
	end := strings.IndexAny(text, "?#")
	if end < 0 {
		end = len(text)
	}
	before, rest := text[:end], ""
	if end < len(text) {
		rest = text[end:end+1] + "…"
	}
	switch at := strings.LastIndexByte(text, '@'); {
	case at >= end: // of a password, or of the query
		return "…"
	case at >= 0:
		before = "…" + before[at:]
	}
	return excerpt(before) + rest
}

// send sends the request and gives the response, of which the body is still to be read.
func (x *exchange) send(ctx context.Context) (*http.Response, *fault.Fault) {
	x.answer, x.refused, x.reached = nodetype.HTTPOutputs{}, nil, false
	var connected atomic.Bool
	d := &dialing{ctx: ctx, secure: x.call.url.Scheme == "https"}
	req, err := x.call.request(httptrace.WithClientTrace(d.carried(), &httptrace.ClientTrace{
		GotConn:          func(httptrace.GotConnInfo) { connected.Store(true) },
		TLSHandshakeDone: func(tls.ConnectionState, error) { d.done() },
	}))
	if err != nil {
		return nil, x.broken(ctx, err)
	}
	resp, err := x.client.RoundTrip(req)
	x.reached = connected.Load()
	if err != nil {
		return nil, x.broken(ctx, err)
	}
	x.note(resp)
	if resp.StatusCode == http.StatusSwitchingProtocols { // its body is the connection itself, which no context ends
		_ = resp.Body.Close()
		return nil, fault.New(fault.Protocol, "%s answers HTTP 101: it leaves HTTP for another protocol, which an http node does not speak", x.call.shown()).
			Suggest("Leave out the header Upgrade, or check the URL: it may be that of a WebSocket")
	}
	return resp, nil
}

// discard lets go of a response that nobody wants. Of a short one the connection can be used again.
func discard(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
	_ = resp.Body.Close()
}
