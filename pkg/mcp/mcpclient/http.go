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
	"github.com/pflow-suite/pflow/pkg/mcp/oauth"
)

// webClient is the http.RoundTripper of the SDK's transport for a streamable HTTP server. It adds the configured headers,
// turns HTTP failures into faults, and keeps the bytes of results.
type webClient struct {
	server   string
	endpoint *url.URL
	headers  map[string]string
	next     *http.Transport
	// login returns tokens. It is nil if the headers have one, or the server cannot be logged in to.
	login *oauth.Source
	// cancels counts the notifications about cancelled requests. It may be nil.
	cancels *cancellations
	// received takes what the server sends of itself, see inbox.received. It may be nil.
	received func(x *pendingRequest, method string, params json.RawMessage) bool
	// gone is set if the server has forgotten the session, so that a new one is needed.
	gone atomic.Bool
	// tooLong is set if a response was too long. The SDK passes on only the text of that error.
	tooLong atomic.Bool
	// unanswered counts the server's requests whose answers are not sent yet.
	unanswered atomic.Int64
}

func newWebClient(spec Spec) (*webClient, error) {
	endpoint, err := url.Parse(spec.Server.URL)
	if err != nil || endpoint.Host == "" {
		return nil, fault.New(fault.Validation, "The server's url is not a URL").Suggest("Check it, and the variables in it").Then(fault.Step{Do: fault.DoListServers})
	}
	next, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		next = &http.Transport{}
	}
	return &webClient{server: spec.Name, endpoint: endpoint, headers: spec.Server.Headers, next: next.Clone(), login: spec.Login}, nil
}

func (w *webClient) transport() mcp.Transport {
	return &mcp.StreamableClientTransport{
		Endpoint: w.endpoint.String(), HTTPClient: &http.Client{Transport: w, CheckRedirect: w.checkRedirect},
		DisableStandaloneSSE: true, // unsolicited messages of a server are not used
		MaxEventSize:         MaxLineLength,
	}
}

// checkRedirect follows a redirection, unless it is one of too many.
func (w *webClient) checkRedirect(_ *http.Request, via []*http.Request) error {
	const most = 10
	if len(via) < most {
		return nil
	}
	return fault.New(fault.Unavailable, "MCP server at %s redirects in a loop", w.shown()).Suggest("Check the server's url")
}

// RoundTrip sends one request.
func (w *webClient) RoundTrip(req *http.Request) (*http.Response, error) {
	if w.cancels != nil && isCancellation(req) {
		defer w.cancels.add(-1)
	}
	if w.unanswered.Load() > 0 && isAnswer(req) {
		defer w.unanswered.Add(-1)
	}
	resp, err := w.send(req)
	if err != nil {
		if _, ok := errors.AsType[*fault.Fault](err); ok || req.Context().Err() != nil {
			return nil, err
		}
		return nil, w.unreachable(err)
	}
	if req.Method == http.MethodPost && resp.StatusCode >= 400 {
		return w.failed(req, resp)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	events := kind == "text/event-stream" // the SDK limits each event
	if !events {
		resp.Body = &limitedBody{resp.Body, MaxLineLength, &w.tooLong}
	}
	if x := pendingRequestOf(req.Context()); resp.StatusCode == http.StatusOK && (x != nil || events) {
		resp.Body = &observedBody{ReadCloser: resp.Body, x: x, received: w.received, events: events, unanswered: &w.unanswered}
	}
	return resp, nil
}

// limitedBody is the body of a response with one document. The SDK reads it as a whole.
type limitedBody struct {
	io.ReadCloser
	left    int
	tooLong *atomic.Bool
}

// Read returns a fault instead of more than the limit.
func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		b.tooLong.Store(true)
		return 0, tooLong()
	}
	return n, err
}

// failed passes a JSON-RPC error on to the SDK and turns any other failure into a fault.
func (w *webClient) failed(req *http.Request, resp *http.Response) (*http.Response, error) {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	_ = resp.Body.Close()
	if resp.StatusCode == http.StatusNotFound && req.Header.Get("Mcp-Session-Id") != "" {
		w.gone.Store(true)
	}
	if f := w.unauthorized(resp); f != nil {
		return nil, f
	}
	retry := resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500
	if !retry && json.Valid(body) && gjson.GetBytes(body, "error.code").Exists() {
		resp.Body = io.NopCloser(bytes.NewReader(body))
		return resp, nil
	}
	return nil, httpFault(resp.StatusCode, resp.Header.Get("Retry-After"))
}

// httpFault returns the fault for an HTTP status.
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

// shown returns the URL of the server without its query, which may be secret.
func (w *webClient) shown() string {
	at := url.URL{Scheme: w.endpoint.Scheme, Host: w.endpoint.Host, Path: w.endpoint.Path}
	return at.String()
}

// unreachable returns the fault for a server that cannot be reached.
func (w *webClient) unreachable(err error) *fault.Fault {
	f := fault.New(fault.Unavailable, "Could not connect to MCP server at %s: %v", w.shown(), err).
		Suggest("Check if the server is running and accessible")
	var timeout net.Error
	f.Retryable = errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.As(err, &timeout) && timeout.Timeout()
	return f
}

// observedBody is the body of a response. It passes the messages to the pending request, which may be nil, while the SDK reads
// them, and counts the server's requests.
type observedBody struct {
	io.ReadCloser
	x          *pendingRequest
	received   func(x *pendingRequest, method string, params json.RawMessage) bool
	events     bool
	unanswered *atomic.Int64
	line       []byte // the incomplete line of a stream, or a single document so far
	data       []byte // the data of the incomplete event
}

func (c *observedBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if c.x != nil {
		heard := &c.x.heard
		heard.bytes.Add(int64(n))
		heard.unasked.Add(int64(n)) // with the answer, which maxListSize keeps below maxUnasked
		heard.working.Store(true)
		defer heard.working.Store(false)
	}
	if c.events {
		c.scan(p[:n])
		if c.unanswered.Load() > maxUnanswered {
			return 0, tooManyRequests()
		}
		return n, err
	}
	c.line = append(c.line, p[:n]...)
	if err == io.EOF {
		c.message(c.line)
		c.line = nil
	}
	return n, err
}

// scan reads the next part of an event stream: the data lines up to an empty line form one event.
func (c *observedBody) scan(part []byte) {
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
			c.data = nil // not reused, because the result is a slice of it
		}
		c.line, part = c.line[:0], rest
	}
}

func (c *observedBody) message(data []byte) {
	if !json.Valid(data) {
		return // the SDK reports it
	}
	message := gjson.ParseBytes(data)
	if message.Get("method").Exists() && message.Get("id").Exists() {
		c.unanswered.Add(1)
	}
	if c.x == nil {
		return
	}
	if result := message.Get("result"); result.Exists() {
		c.x.keep(json.RawMessage(result.Raw))
	} else if method := message.Get("method").Str; method != "" && c.received != nil {
		c.received(c.x, method, json.RawMessage(message.Get("params").Raw))
	}
}
