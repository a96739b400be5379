package veloflux

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/redact"
)

// maxBody is the most bytes an answer of the Manager may have, unpacked. The list of streams of one with 15,000 columns
// has 0.6 MB.
const maxBody = 32 << 20

// request is what is asked of the Manager.
type request struct {
	method string
	route  string // begins with a slash and is escaped
	accept string
	body   []byte // JSON, nil for none
	// timeout is for a route that takes its time, 0 is the Manager's own.
	timeout time.Duration
}

// creates says whether the request makes a pipeline.
func (r *request) creates() bool { return r.method == http.MethodPost }

// longBody is the size from which on a body is sent only when the Manager wants it. It refuses one of more than 2 MiB
// without reading it, and its words are lost when the connection breaks in the middle of the body.
const longBody = 1 << 20

// answer is a success of the Manager.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// exchange is one request on its way.
type exchange struct {
	*request
	base    string
	timeout time.Duration
	secrets []string
	// redirect says why the last redirect was not followed.
	redirect string
}

// maxShownRoute is the most bytes of a route that an error shows.
const maxShownRoute = 200

// what names the request in errors.
func (x *exchange) what() string {
	route := x.route
	if len(route) > maxShownRoute {
		route = route[:maxShownRoute] + "…"
	}
	return x.method + " " + route
}

// do makes a request and reads its answer. Its errors are *Error, and have no secret in them.
func (m *Manager) do(ctx context.Context, r *request) (*answer, *exchange, error) {
	x := &exchange{request: r, base: m.address.base, timeout: max(m.timeout, r.timeout)}
	header, err := m.headers.now()
	x.secrets = m.address.secrets(secretValues(header))
	if err != nil {
		return nil, x, x.clean(&Error{Code: CodeToolFailed, Message: fmt.Sprintf("%s was not sent. %v", x.what(), err)})
	}
	timed, cancel := context.WithTimeout(ctx, x.timeout)
	defer cancel()
	req, err := m.newRequest(timed, r, header)
	if err != nil {
		return nil, x, x.clean(&Error{Code: CodeToolFailed, Message: fmt.Sprintf("%s cannot be sent: %s", x.what(), plain(err))})
	}
	client := http.Client{Transport: m.transport, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if x.redirect = m.address.wrongRedirect(next, via); x.redirect != "" {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	resp, err := client.Do(req)
	if err != nil {
		return nil, x, x.clean(x.unreached(ctx, err))
	}
	defer func() { _ = resp.Body.Close() }()
	a, failed := x.receive(ctx, resp)
	if failed != nil {
		return nil, x, x.clean(failed)
	}
	return a, x, nil
}

func (m *Manager) newRequest(ctx context.Context, r *request, header http.Header) (*http.Request, error) {
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, m.address.base+r.route, body)
	if err != nil {
		return nil, err
	}
	if host := header.Get("Host"); host != "" {
		req.Host = host
	}
	if header.Get("Accept") == "" {
		header.Set("Accept", r.accept)
	}
	if r.body != nil {
		header.Set("Content-Type", "application/json")
		if len(r.body) > longBody {
			header.Set("Expect", "100-continue")
		}
	}
	req.Header = header
	return req, nil
}

// receive reads the answer.
func (x *exchange) receive(ctx context.Context, resp *http.Response) (*answer, *Error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	success := resp.StatusCode >= 200 && resp.StatusCode <= 299
	switch {
	case !success:
		return nil, x.refused(resp, body) // with what there is of its words
	case err != nil:
		return nil, x.brokenOff(ctx, resp.StatusCode, body, err)
	case len(body) > maxBody:
		return nil, &Error{
			Code: CodeManagerHTTP, Message: fmt.Sprintf("%s failed: the answer has more than %d MiB", x.what(), maxBody>>20),
			Details: map[string]any{"status": resp.StatusCode},
		}
	}
	return &answer{resp.StatusCode, resp.Header, body}, nil
}

// clean takes secrets out of an error's message. What it repeats of an answer has none any more.
func (x *exchange) clean(e *Error) *Error {
	e.Message = x.redactor().Text(e.Message)
	return e
}

// repeated is an answer as an error shows it: without secrets first, for a secret cut in two is found no more.
func (x *exchange) repeated(body []byte) string {
	return excerpt(x.redactor().Text(string(body[:min(len(body), maxRepeated)])))
}

// maxRepeated is the most bytes of an answer that are looked at for an error's text.
const maxRepeated = 64 << 10

// redactor takes what the request sent as credentials out of texts.
func (x *exchange) redactor() *redact.Redactor {
	r := redact.New()
	for _, secret := range x.secrets {
		r.Add("credential", secret)
	}
	return r
}

// isHTML says whether an answer is a page for people: of a proxy, a login or another server.
func isHTML(header http.Header, body []byte) bool {
	if strings.HasPrefix(strings.ToLower(header.Get("Content-Type")), "text/html") {
		return true
	}
	start := strings.ToLower(strings.TrimSpace(string(body[:min(len(body), 512)])))
	return strings.HasPrefix(start, "<!doctype html") || strings.HasPrefix(start, "<html")
}
