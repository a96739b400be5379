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

// exchange sends questions. The clients of both APIs send through it: they repeat what failed, and it sees each attempt.
type exchange struct {
	at       *endpoint
	retries  int
	progress func(message string)

	attempt int
	// failed is how the last attempt did, when it did.
	failed *failure
	cancel context.CancelCauseFunc
}

// failure is an attempt that brought no answer: err when there was no response at all.
type failure struct {
	err    error
	status int
	header http.Header
	body   []byte
}

// maxAnswer is the most bytes of a response.
const maxAnswer = 64 << 20

// maxWait is the longest that a server may tell to wait before the question is asked again. OpenAI's client holds to as much.
const maxWait = 2 * time.Minute

// maxErrorBody is the most bytes of an error's body.
const maxErrorBody = 1 << 20

// send asks, and tells why there is no answer. What another form of the question may cure is a refusal.
func (x *exchange) send(ctx context.Context, q *question) (*reply, error) {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	x.attempt, x.failed, x.cancel = 0, nil, cancel
	ask := x.askOpenAI
	if x.at.provider == anthropicName {
		ask = x.askAnthropic
	}
	r, err := ask(within, q)
	if err == nil {
		return r, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if f, ok := errors.AsType[*fault.Fault](context.Cause(within)); ok { // given up from within
		return nil, f
	}
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return nil, f
	}
	if x.failed == nil {
		return nil, x.noAnswer(err)
	}
	return nil, x.refusal(ctx, q, x.failed)
}

// understood reads what a client took for an answer. Without a model in it, it is of the one that was asked.
func understood[A interface{ RawJSON() string }](x *exchange, q *question, answer *A, read func(gjson.Result) (*reply, error)) (*reply, error) {
	if answer == nil { // of null
		return nil, x.noAnswer(errNoObject)
	}
	r, err := read(gjson.Parse((*answer).RawJSON()))
	if err != nil {
		return nil, x.noAnswer(err)
	}
	if r.usage.Model == "" {
		r.usage.Model = q.model
	}
	return r, nil
}

// noAnswer is the fault of a response that says it is one and is not.
func (x *exchange) noAnswer(err error) error {
	return fault.New(fault.Protocol, "%s answered with something else than a completion: %s", x.at.host(), fault.Truncate(firstLine(err.Error()), maxShown)).
		Suggest("Check that base_url (%s) is where an API of the provider %q is", x.at.shown(), x.at.provider)
}

// errNoObject is what is wrong with an answer that is JSON and no object.
var errNoObject = errors.New("it is no object")

// client follows no redirect: the key must not go where nobody has sent it.
func (x *exchange) client() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// through is the way of one attempt, as both clients' middleware.
func (x *exchange) through(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	x.attempt++
	x.failed = nil
	resp, err := next(req)
	if err != nil {
		x.failed = &failure{err: err}
		if req.Context().Err() == nil {
			x.again(reason(err))
		}
		return resp, err
	}
	switch {
	case resp.StatusCode >= http.StatusBadRequest:
		x.fail(req.Context(), resp)
	case resp.StatusCode >= http.StatusMultipleChoices:
		f := fault.New(fault.Execution, "%s answers with a redirect (HTTP %d), which is not followed because the key would go with it", x.at.host(), resp.StatusCode)
		if to, err := resp.Location(); err == nil {
			f.Suggest("Where it points: %s://%s%s. Set base_url to the API's own address", to.Scheme, to.Host, to.Path)
		}
		x.cancel(f)
	default:
		resp.Body = &limited{ReadCloser: resp.Body, room: maxAnswer, over: func() {
			x.cancel(fault.New(fault.TooLarge, "The answer of %s has more than %d MiB", x.at.host(), maxAnswer>>20).
				Suggest("Check that base_url (%s) is where the API is", x.at.shown()))
		}}
	}
	return resp, nil
}

// fail keeps an error response, and gives its body back to be read again.
func (x *exchange) fail(ctx context.Context, resp *http.Response) {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	x.failed = &failure{status: resp.StatusCode, header: resp.Header, body: body}
	if !retryable(resp.StatusCode) {
		return
	}
	if wait := retryAfter(resp.Header); wait > min(remaining(ctx), maxWait) || x.failed.code() == quotaUsedUp {
		resp.Header.Set("X-Should-Retry", "false") // which the clients obey: waiting would be in vain
		return
	}
	x.again("HTTP " + strconv.Itoa(resp.StatusCode) + " " + http.StatusText(resp.StatusCode))
}

// again tells that the question is asked again, if it is.
func (x *exchange) again(why string) {
	if x.attempt <= x.retries {
		x.progress(x.at.host() + ": " + strings.TrimSpace(why) + ": asking again, retry " + strconv.Itoa(x.attempt) + " of " + strconv.Itoa(x.retries))
	}
}

// retryable says whether a status is one that may be another the next time; the clients have the same list.
func retryable(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return status >= http.StatusInternalServerError
}

// retryAfter is how long a response says to wait, or 0.
func retryAfter(h http.Header) time.Duration {
	said := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(said, 64); err == nil && s > 0 {
		return time.Duration(min(s, 1e9) * float64(time.Second))
	}
	if at, err := http.ParseTime(said); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// limited is a body that may not be endless.
type limited struct {
	io.ReadCloser
	room int64
	over func()
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if l.room -= int64(n); l.room < 0 {
		l.over()
		return 0, errors.New("the answer is too long")
	}
	return n, err
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
