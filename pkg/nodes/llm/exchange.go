package llm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// exchange sends questions through the clients of both APIs. The clients retry, and the exchange sees each attempt.
type exchange struct {
	at       *endpoint
	client   *http.Client
	retries  int
	progress func(message string)

	attempt int
	// failed is the failure of the last attempt, or nil.
	failed *failure
	cancel context.CancelCauseFunc
}

// failure is a failed attempt: err if there was no response, and else the response.
type failure struct {
	err    error
	status int
	header http.Header
	body   []byte
}

// maxAnswer is the maximum size of a response in bytes.
const maxAnswer = 64 << 20

// maxWait is the longest Retry-After that is respected. It is also the limit of OpenAI's client.
const maxWait = 2 * time.Minute

// maxErrorBody is the maximum number of bytes that are read of an error's body.
const maxErrorBody = 1 << 20

// send sends a question and returns the reply. The error is a *rejection if another form of the question may be accepted.
func (x *exchange) send(ctx context.Context, q *question) (*reply, error) {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	x.attempt, x.failed, x.cancel = 0, nil, cancel
	ask := x.askOpenAI
	if x.at.api == anthropicName {
		ask = x.askAnthropic
	}
	r, err := ask(inner, q)
	if err == nil {
		return r, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if f, ok := errors.AsType[*fault.Fault](context.Cause(inner)); ok { // cancelled by the middleware
		return nil, f
	}
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return nil, f
	}
	if x.failed == nil {
		return nil, x.invalidResponse(err)
	}
	return nil, x.failedError(ctx, q, x.failed)
}

// readReply reads the reply in a response that a client accepted. If the response has no model, it is that of the question.
func readReply[A interface{ RawJSON() string }](x *exchange, q *question, answer *A, read func(gjson.Result) (*reply, error)) (*reply, error) {
	if answer == nil { // the response was null
		return nil, x.invalidResponse(errNotObject)
	}
	r, err := read(gjson.Parse((*answer).RawJSON()))
	if err != nil {
		return nil, x.invalidResponse(err)
	}
	if r.usage.Model == "" {
		r.usage.Model = q.model
	}
	return r, nil
}

// invalidResponse returns the fault for a successful response that is not a completion.
func (x *exchange) invalidResponse(err error) error {
	return fault.New(fault.Protocol, "The response of %s is not a completion: %s", x.at.host(), fault.Truncate(firstLine(err.Error()), maxShown)).
		Suggest("Check that base_url (%s) is the URL of the %s API", x.at.url(), x.at.api)
}

// errNotObject is the error of a response that is JSON but not an object.
var errNotObject = errors.New("it is not a JSON object")

// newClient returns an HTTP client that follows no redirects, so that the key goes to no other server.
func newClient() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// middleware sees each attempt of both clients.
func (x *exchange) middleware(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	x.attempt++
	x.failed = nil
	resp, err := next(req)
	if err != nil {
		x.failed = &failure{err: err}
		if req.Context().Err() == nil {
			x.reportRetry(reason(err))
		}
		return resp, err
	}
	switch {
	case resp.StatusCode >= http.StatusBadRequest:
		x.fail(req.Context(), resp)
	case resp.StatusCode >= http.StatusMultipleChoices:
		f := fault.New(fault.Execution, "%s redirects (HTTP %d), which is not followed because the key would be sent too", x.at.host(), resp.StatusCode)
		if to, err := resp.Location(); err == nil {
			f.Suggest("The redirect leads to %s://%s%s. Set base_url to the URL of the API itself", to.Scheme, to.Host, to.Path)
		}
		x.cancel(f)
	default:
		resp.Body = &limited{ReadCloser: resp.Body, room: maxAnswer, over: func() {
			x.cancel(fault.New(fault.TooLarge, "The response of %s has more than %d MiB", x.at.host(), maxAnswer>>20).
				Suggest("Check that base_url (%s) is the URL of the API", x.at.url()))
		}}
	}
	return resp, nil
}

// fail records an error response, whose body can still be read.
func (x *exchange) fail(ctx context.Context, resp *http.Response) {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	x.failed = &failure{status: resp.StatusCode, header: resp.Header, body: body}
	if !retryable(resp.StatusCode) {
		return
	}
	if wait := retryAfter(resp.Header); wait > min(remaining(ctx), maxWait) || x.failed.code() == quotaUsedUp {
		resp.Header.Set("X-Should-Retry", "false") // the clients respect it: waiting would not help
		return
	}
	x.reportRetry("HTTP " + strconv.Itoa(resp.StatusCode) + " " + http.StatusText(resp.StatusCode))
}

// reportRetry reports that the clients retry, if there are retries left.
func (x *exchange) reportRetry(why string) {
	if x.attempt <= x.retries {
		x.progress(x.at.host() + ": " + strings.TrimSpace(why) + ": retry " + strconv.Itoa(x.attempt) + " of " + strconv.Itoa(x.retries))
	}
}

// retryable reports whether a request with this status may succeed later. The clients have the same list.
func retryable(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return status >= http.StatusInternalServerError
}

// retryAfter returns the time in the header Retry-After, or 0.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(value, 64); err == nil && s > 0 {
		return time.Duration(min(s, 1e9) * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// limited is a body with a limited size. It calls over when the body is longer.
type limited struct {
	io.ReadCloser
	room int64
	over func()
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if l.room -= int64(n); l.room < 0 {
		l.over()
		return 0, errors.New("the response is too long")
	}
	return n, err
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
