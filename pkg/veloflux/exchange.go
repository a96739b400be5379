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

// maxBody is the most bytes an answer of the Manager may have, unpacked. The list of streams of one with 15,000 columns
// has 0.6 MB.
const maxBody = 32 << 20

// exchange is one request on its way.
type exchange struct {
	*request
	base    string
	timeout time.Duration
	most    int
	// secrets gives what the request sent as credentials, and redactor takes them out of texts once one is needed.
	secrets  func() []string
	redactor *redact.Redactor
	// connected says that the request got a connection, and so may have come to the Manager.
	connected atomic.Bool
	// redirect says why the last redirect was not followed.
	redirect string
}

// maxShownRoute is the most bytes of a route that an error shows.
const maxShownRoute = 200

// what names the request in errors.
func (x *exchange) what() string {
	return x.method + " " + fault.Truncate(x.route, maxShownRoute)
}

// do makes a request and reads its answer. Its errors are *Error, and have no secret in them.
func (m *Manager) do(ctx context.Context, r *request) (*answer, *exchange, error) {
	x := &exchange{request: r, base: m.address.base, timeout: max(m.timeout, r.timeout), most: m.most}
	header, err := m.headers.now()
	x.secrets = func() []string { return m.secretsWith(header) }
	if err != nil {
		return nil, x, x.clean(&Error{Code: CodeToolFailed, Message: fmt.Sprintf("%s was not sent. %v", x.what(), err)})
	}
	timed, cancel := context.WithTimeout(ctx, x.timeout)
	defer cancel()
	traced := httptrace.WithClientTrace(timed, &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		x.connected.Store(true)
		_ = got.Conn.SetDeadline(time.Time{}) // from here on the context counts
	}})
	req, err := m.newRequest(traced, r, header)
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

// receive reads the answer.
func (x *exchange) receive(ctx context.Context, resp *http.Response) (*answer, *Error) {
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return nil, x.switched() // its body is the connection itself, which no timeout ends
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(x.most)+1))
	success := resp.StatusCode >= 200 && resp.StatusCode <= 299
	switch {
	case !success:
		return nil, x.refused(resp, body, err != nil) // with what there is of its words
	case err != nil:
		return nil, x.brokenOff(ctx, resp.StatusCode, body, err)
	case len(body) > x.most:
		return nil, &Error{
			Code: CodeManagerHTTP, Message: fmt.Sprintf("%s failed: the answer has more than %d MiB", x.what(), x.most>>20),
			Details: map[string]any{"status": resp.StatusCode},
		}
	}
	return &answer{resp.StatusCode, resp.Header, body}, nil
}

// clean takes secrets out of an error's message. What it repeats of an answer has none any more.
func (x *exchange) clean(e *Error) *Error {
	e.Message = x.redacted(e.Message)
	return e
}

// repeated is an answer as an error shows it: without secrets first, for a secret cut in two is found no more. What is
// left of one that begins before the answer's end is found where it is broken off or longer than what is looked at.
func (x *exchange) repeated(body []byte, broken bool) string {
	if len(body) <= maxRepeated && !broken {
		return excerpt(x.redacted(string(body)))
	}
	const cut = "…" // tells a redactor that something may go on behind it
	text := x.redacted(string(body[:min(len(body), maxRepeated)]))
	rest := text
	if at := strings.LastIndex(text, cut); at >= 0 {
		rest = text[at+len(cut):] // a redactor looks at so many cuts of a text alone, and the last must be among them
	}
	return excerpt(strings.TrimSuffix(text, rest) + strings.TrimSuffix(x.redacted(rest+cut), cut))
}

// maxRepeated is the most bytes of an answer that are looked at for an error's text.
const maxRepeated = 64 << 10

// redacted is text without what the request sent as credentials.
func (x *exchange) redacted(text string) string {
	if x.redactor == nil {
		x.redactor = redact.New()
		x.redactor.AddAll("credential", x.secrets()...)
	}
	return x.redactor.Text(text)
}
