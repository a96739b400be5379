package veloflux

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
)

// maxBody is the most bytes that the uncompressed body of a response may have. The list of streams with 15,000 columns
// takes 0.6 MB.
const maxBody = 32 << 20

// exchange is one request and what is needed to report its failure.
type exchange struct {
	*request
	base     string
	timeout  time.Duration
	maxBytes int
	// secrets returns the credentials that the request sent. redactor removes them from texts; it is made on first use.
	secrets  func() []string
	redactor *redact.Redactor
	// connected is set once the request has a connection, so that it may have reached the Manager.
	connected atomic.Bool
	// redirect is the reason why the last redirect was not followed, or "".
	redirect string
}

// maxShownRoute is the most bytes of a route that an error shows.
const maxShownRoute = 200

// what returns the method and route, as errors show them.
func (x *exchange) what() string {
	return x.method + " " + fault.Truncate(x.route, maxShownRoute)
}

// do sends a request and reads the response. Its errors are *Error and contain no secret.
func (m *Manager) do(ctx context.Context, r *request) (*response, *exchange, error) {
	x := &exchange{request: r, base: m.address.base, timeout: max(m.timeout, r.timeout), maxBytes: m.maxBytes}
	header, err := m.headers.current()
	x.secrets = func() []string { return m.secretsWith(header) }
	if err != nil {
		return nil, x, x.clean(&Error{Code: CodeToolFailed, Message: fmt.Sprintf("%s was not sent. %v", x.what(), err)})
	}
	timed, cancel := context.WithTimeout(ctx, x.timeout)
	defer cancel()
	traced := httptrace.WithClientTrace(context.WithValue(timed, requestTimeout{}, x.timeout), &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		x.connected.Store(true)
		_ = got.Conn.SetDeadline(time.Time{}) // the context bounds the rest
	}})
	req, err := m.newRequest(traced, r, header)
	if err != nil {
		return nil, x, x.clean(&Error{Code: CodeToolFailed, Message: fmt.Sprintf("%s cannot be sent: %s", x.what(), withoutPrefixes(err))})
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

// receive reads the body of a response and turns any status except 2xx into an error.
func (x *exchange) receive(ctx context.Context, resp *http.Response) (*response, *Error) {
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return nil, x.switched() // its body is the connection itself, which has no timeout
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(x.maxBytes)+1))
	success := resp.StatusCode >= 200 && resp.StatusCode <= 299
	switch {
	case !success:
		return nil, x.refused(resp, body, err != nil) // with as much of the text as was read
	case err != nil:
		return nil, x.brokenOff(ctx, resp.StatusCode, body, err)
	case len(body) > x.maxBytes:
		return nil, &Error{
			Code: CodeManagerHTTP, Message: fmt.Sprintf("%s failed: the answer has more than %d MiB", x.what(), x.maxBytes>>20),
			Details: map[string]any{"status": resp.StatusCode},
		}
	}
	return &response{resp.StatusCode, resp.Header, body}, nil
}

// clean removes secrets from an error's message. The text in its details is already redacted.
func (x *exchange) clean(e *Error) *Error {
	e.Message = x.redacted(e.Message)
	return e
}

// quoted returns the body of a response as an error shows it. Secrets are removed before the text is cut, because half a
// secret would not be found. If the body is broken off, or longer than maxQuoted, a secret that its end cuts in two is
// removed too.
func (x *exchange) quoted(body []byte, broken bool) string {
	if len(body) <= maxQuoted && !broken {
		return printable(x.redacted(string(body)))
	}
	const cut = "…" // a redactor takes the text before this mark as the possible beginning of a secret
	text := x.redacted(string(body[:min(len(body), maxQuoted)]))
	rest := text
	if at := strings.LastIndex(text, cut); at >= 0 {
		rest = text[at+len(cut):] // a redactor looks at a limited number of marks, and the last one must be among them
	}
	return printable(strings.TrimSuffix(text, rest) + strings.TrimSuffix(x.redacted(rest+cut), cut))
}

// maxQuoted is the most bytes of a response that an error's text is made from.
const maxQuoted = 64 << 10

// redacted returns text without the credentials that the request sent.
func (x *exchange) redacted(text string) string {
	if x.redactor == nil {
		x.redactor = redact.New()
		x.redactor.AddAll("credential", x.secrets()...)
	}
	return x.redactor.Text(text)
}
