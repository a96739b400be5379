package mcpclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// web is the way to a streamable HTTP server: it adds the configured headers, says HTTP failures in words, and keeps
// the bytes of results. The SDK's transport stands on it.
type web struct {
	endpoint *url.URL
	headers  map[string]string
	next     *http.Transport
	// gone is set when the server has forgotten the session: a new one must be made.
	gone atomic.Bool
}

func newWeb(s Server) (*web, error) {
	endpoint, err := url.Parse(s.URL)
	if err != nil || endpoint.Host == "" {
		return nil, fault.New(fault.Validation, "The server's url is not a URL").Suggest("Check it, and the variables in it, with pflow-sync list")
	}
	next, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		next = &http.Transport{}
	}
	return &web{endpoint: endpoint, headers: s.Headers, next: next.Clone()}, nil
}

func (w *web) transport() mcp.Transport {
	return &mcp.StreamableClientTransport{
		Endpoint: w.endpoint.String(), HTTPClient: &http.Client{Transport: w},
		DisableStandaloneSSE: true, // nothing that a server says unasked is of use here
		MaxEventSize:         MaxLineLength,
	}
}

// RoundTrip sends one request.
func (w *web) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host == w.endpoint.Host && req.URL.Scheme == w.endpoint.Scheme { // a redirect elsewhere gets no secret
		req = req.Clone(req.Context())
		for name, value := range w.headers {
			req.Header.Set(name, value)
		}
	}
	resp, err := w.next.RoundTrip(req)
	if err != nil {
		if req.Context().Err() != nil {
			return nil, err
		}
		return nil, w.unreachable(err)
	}
	if req.Method == http.MethodPost && resp.StatusCode >= 400 {
		return w.failed(req, resp)
	}
	if x := exchangeOf(req.Context()); x != nil && resp.StatusCode == http.StatusOK {
		kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
		resp.Body = &copied{ReadCloser: resp.Body, x: x, events: kind == "text/event-stream"}
	}
	return resp, nil
}

// failed passes a JSON-RPC error on to the SDK and makes a fault of any other answer.
func (w *web) failed(req *http.Request, resp *http.Response) (*http.Response, error) {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	_ = resp.Body.Close()
	if resp.StatusCode == http.StatusNotFound && req.Header.Get("Mcp-Session-Id") != "" {
		w.gone.Store(true)
	}
	retry := resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500
	if !retry && json.Valid(body) && gjson.GetBytes(body, "error.code").Exists() {
		resp.Body = io.NopCloser(bytes.NewReader(body))
		return resp, nil
	}
	return nil, httpFault(resp.StatusCode, resp.Header.Get("Retry-After"))
}

// httpFault says an HTTP status in words.
func httpFault(status int, retryAfter string) *fault.Fault {
	var f *fault.Fault
	switch {
	case status == http.StatusUnauthorized:
		f = fault.New(fault.Execution, "Authentication failed (HTTP 401). Check your API credentials.").
			Suggest(`Put the token into the server's "headers", such as {"Authorization":"Bearer ${TOKEN}"}, and set TOKEN`)
	case status == http.StatusForbidden:
		f = fault.New(fault.Execution, "Access forbidden (HTTP 403). Check your permissions.")
	case status == http.StatusNotFound:
		f = fault.New(fault.Execution, "Session expired or endpoint not found (HTTP 404).").Suggest("Check the server's url; it often ends in /mcp")
	case status == http.StatusMethodNotAllowed:
		f = fault.New(fault.Execution, "The url takes no MCP requests (HTTP 405).").Suggest("Check the server's url: it must speak streamable HTTP, not SSE alone")
	case status == http.StatusTooManyRequests:
		f = fault.New(fault.RateLimited, "Rate limited. Too many requests (HTTP 429). Please wait and try again.")
		f.Retryable = true
		if retryAfter != "" {
			f.Detail("retry_after", retryAfter)
		}
	case status >= 500:
		f = fault.New(fault.Unavailable, "Server error (HTTP %d). The server encountered an error.", status)
		f.Retryable = status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
	default:
		f = fault.New(fault.Protocol, "The server refused the request (HTTP %d %s).", status, http.StatusText(status))
	}
	return f.Detail("http_status", status)
}

// unreachable is the fault of a server that could not be talked to. A query may hold a secret, so it is not shown.
func (w *web) unreachable(err error) *fault.Fault {
	at := url.URL{Scheme: w.endpoint.Scheme, Host: w.endpoint.Host, Path: w.endpoint.Path}
	f := fault.New(fault.Unavailable, "Could not connect to MCP server at %s: %v", at.String(), err).
		Suggest("Check if the server is running and accessible")
	var timeout net.Error
	f.Retryable = errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.As(err, &timeout) && timeout.Timeout()
	return f
}

// copied is a response's body that shows its messages to the exchange while the SDK reads them.
type copied struct {
	io.ReadCloser
	x      *exchange
	events bool
	line   []byte // the unfinished line of a stream, or the whole of a single document so far
	data   []byte // the data of the unfinished event
}

func (c *copied) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if c.events {
		c.scan(p[:n])
		return n, err
	}
	c.line = append(c.line, p[:n]...)
	if err == io.EOF {
		c.message(c.line)
		c.line = nil
	}
	return n, err
}

// scan goes through the next part of a stream: data lines of one event belong together, an empty line ends it.
func (c *copied) scan(part []byte) {
	for {
		end, rest, ok := bytes.Cut(part, []byte("\n"))
		c.line = append(c.line, end...)
		if !ok {
			return
		}
		line := bytes.TrimSuffix(c.line, []byte("\r"))
		if text, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			c.data = append(append(c.data, bytes.TrimPrefix(text, []byte(" "))...), '\n')
		} else if len(line) == 0 && c.data != nil {
			c.message(c.data)
			c.data = nil // the result is a part of it
		}
		c.line, part = c.line[:0], rest
	}
}

func (c *copied) message(data []byte) {
	if !json.Valid(data) {
		return // the SDK finds that out for itself
	}
	if result := gjson.GetBytes(data, "result"); result.Exists() {
		c.x.keep(json.RawMessage(result.Raw))
	} else if gjson.GetBytes(data, "method").Str == "notifications/progress" {
		c.x.report(json.RawMessage(gjson.GetBytes(data, "params").Raw))
	}
}
