package veloflux

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// maxBody is the most bytes an answer of the Manager may have. The list of streams of one with 15,000 columns has 0.6 MB.
const maxBody = 32 << 20

// Manager is the REST API of a veloFlux Manager.
type Manager struct {
	base    string // without a slash at its end, and without credentials
	user    *url.Userinfo
	timeout time.Duration
	http    *http.Client
}

// NewManager makes a client for the Manager at a URL. A path in the URL stays in front of every route; without a scheme
// it is http; user:password@ goes into the Authorization header and into no message. The timeout holds for each request.
func NewManager(address string, timeout time.Duration) (*Manager, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fault.New(fault.Usage, "The Manager's URL is no http:// or https:// URL with a host and at most a path").
			Suggest("Write it as http://127.0.0.1:8080")
	}
	if timeout <= 0 {
		return nil, fault.New(fault.Usage, "The time for a request to the Manager must be more than 0 seconds")
	}
	user := u.User
	u.User = nil
	return &Manager{base: strings.TrimRight(u.String(), "/"), user: user, timeout: timeout, http: &http.Client{}}, nil
}

// get reads a route, which begins with a slash and is escaped. Its errors are *Error.
func (m *Manager) get(ctx context.Context, route string) ([]byte, error) {
	return m.do(ctx, http.MethodGet, route)
}

func (m *Manager) do(ctx context.Context, method, route string) ([]byte, error) {
	timed, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	what := method + " " + route
	req, err := http.NewRequestWithContext(timed, method, m.base+route, nil)
	if err != nil {
		return nil, &Error{Code: ToolFailed, Message: fmt.Sprintf("%s failed: %v", what, err)}
	}
	req.Header.Set("Accept", "application/json")
	if m.user != nil {
		password, _ := m.user.Password()
		req.SetBasicAuth(m.user.Username(), password)
	}
	resp, err := m.http.Do(req)
	if err != nil {
		return nil, m.unreached(ctx, what, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return nil, m.unreached(ctx, what, err)
	}
	if len(body) > maxBody {
		return nil, &Error{Code: ManagerHTTP, Message: fmt.Sprintf("%s failed: the answer has more than %d MiB", what, maxBody>>20), Details: map[string]any{"http_status": resp.StatusCode}}
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, refused(what, m.base, resp.StatusCode, string(body))
	}
	return body, nil
}

// unreached is the error of a request without a whole answer. The context is the caller's, without the timeout.
func (m *Manager) unreached(ctx context.Context, what string, err error) *Error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the URL, which is said in its own words
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return &Error{Code: Cancelled, Message: what + " was cancelled"}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &Error{Code: Timeout, Message: what + " failed: timeout: the caller's time ran out"}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: Timeout, Message: fmt.Sprintf("%s failed: timeout after %gs, waiting for %s", what, m.timeout.Seconds(), m.base), Details: map[string]any{"retryable": true}}
	}
	return &Error{
		Code:    ManagerHTTP,
		Message: fmt.Sprintf("%s failed: no answer from the veloFlux Manager at %s: %v. Is it running, and is the URL right?", what, m.base, err),
		Details: map[string]any{"retryable": true},
	}
}

// malformed is the error of an answer that is not what the route gives.
func malformed(what, want string, body []byte) *Error {
	return &Error{
		Code:    ManagerHTTP,
		Message: fmt.Sprintf("%s failed: HTTP 200, but the answer is no %s. Is there a veloFlux Manager behind the URL?", what, want),
		Details: map[string]any{"http_status": 200, "response": excerpt(string(body))},
	}
}

// excerpt is text fit for an error: at most 2,000 characters, none of them controls.
func excerpt(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(strings.TrimSpace(text), "?"))
	const most = 2000
	n := 0
	for i := range text {
		if n++; n > most {
			return text[:i] + "…"
		}
	}
	return text
}
