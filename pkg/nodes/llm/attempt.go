package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/pflow-suite/pflow/pkg/fault"
)

const (
	// maxAnswer is the maximum size of a response in bytes.
	maxAnswer = 64 << 20
	// maxErrorBody is the maximum number of bytes that are read of an error's body.
	maxErrorBody = 1 << 20
	// maxWait is the longest pause before a retry that a server may ask for.
	maxWait = 2 * time.Minute
)

// newClient returns an HTTP client that follows no redirects, so that the key goes to no other server.
func newClient() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// post sends the body of a question, and again if that failed and may succeed later. It returns the JSON value in the response.
// The error is a *failure, a *fault.Fault or the cause of ctx.
func (x *exchange) post(ctx context.Context, body []byte) (json.RawMessage, error) {
	// As the providers' own clients wait: half a second, twice as long each time up to eight, and up to a quarter less.
	pauses := &backoff.ExponentialBackOff{InitialInterval: 7 * time.Second / 16, RandomizationFactor: 1. / 7, Multiplier: 2, MaxInterval: 7 * time.Second}
	retry := 0
	return backoff.Retry(ctx, func() (json.RawMessage, error) { return x.attempt(ctx, http.MethodPost, pathOf(x.at.api), body) },
		backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(0), backoff.WithMaxTries(uint(x.retries)+1),
		backoff.WithNotify(func(err error, _ time.Duration) {
			retry++
			x.progress(fmt.Sprintf("%s: %v: retry %d of %d", x.at.host(), err, retry, x.retries))
		}))
}

// attempt sends a request once and returns the JSON value in the response. The error is one of post, or a backoff.PermanentError
// around it if the request must not be sent again.
func (x *exchange) attempt(ctx context.Context, method, path string, body []byte) (json.RawMessage, error) {
	req, err := http.NewRequestWithContext(ctx, method, x.at.request(path), bytes.NewReader(body))
	if err != nil {
		return nil, backoff.Permanent(err)
	}
	x.setHeader(req)
	resp, err := x.client.Do(req)
	if err != nil {
		return nil, &failure{err: err}
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode >= http.StatusBadRequest:
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		return nil, (&failure{status: resp.StatusCode, header: resp.Header, body: text}).retried(ctx)
	case resp.StatusCode >= http.StatusMultipleChoices:
		return nil, backoff.Permanent(x.redirected(resp))
	case resp.StatusCode == http.StatusSwitchingProtocols: // its body is the connection itself, which the context does not close
		return nil, backoff.Permanent(x.invalidResponse(errors.New("it switches to another protocol")))
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, &failure{err: err}
	}
	if len(text) > maxAnswer {
		return nil, backoff.Permanent(fault.New(fault.TooLarge, "The response of %s has more than %d MiB", x.at.host(), maxAnswer>>20).
			Suggest("Check that base_url (%s) is the URL of the API", x.at.url()))
	}
	var value json.RawMessage
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&value); err != nil {
		return nil, backoff.Permanent(x.invalidResponse(fmt.Errorf("it is not JSON: %w", err)))
	}
	return value, nil
}

// setHeader sets the headers of a request.
func (x *exchange) setHeader(req *http.Request) {
	req.Header.Set("User-Agent", "pflow")
	req.Header.Set("Accept", "application/json")
	if req.Method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	switch {
	case x.at.api == anthropicName:
		req.Header.Set("Anthropic-Version", anthropicVersion)
		if x.at.key != "" {
			req.Header.Set("X-Api-Key", x.at.key)
		}
	case x.at.key != "": // a local server may need none
		req.Header.Set("Authorization", "Bearer "+x.at.key)
	}
}

// redirected returns the fault for a redirect.
func (x *exchange) redirected(resp *http.Response) *fault.Fault {
	f := fault.New(fault.Execution, "%s redirects (HTTP %d), which is not followed because the key would be sent too", x.at.host(), resp.StatusCode)
	if to, err := resp.Location(); err == nil {
		f.Suggest("The redirect leads to %s://%s%s. Set base_url to the URL of the API itself", to.Scheme, to.Host, to.Path)
	}
	return f
}

// failure is an attempt that failed: err if there was no response, and else the response.
type failure struct {
	err    error
	status int
	header http.Header
	body   []byte
	// after is the pause that the server asks for before a retry, or nil.
	after *backoff.RetryAfterError
}

func (f *failure) Error() string {
	if f.err != nil {
		return reason(f.err)
	}
	return strings.TrimSpace("HTTP " + strconv.Itoa(f.status) + " " + http.StatusText(f.status))
}

// Unwrap returns the pause as backoff.Retry looks for it.
func (f *failure) Unwrap() error {
	if f.after == nil {
		return nil
	}
	return f.after
}

// retried returns a failure with a status as an error for backoff.Retry: whether to send the request again, and when.
func (f *failure) retried(ctx context.Context) error {
	should := f.header.Get("X-Should-Retry") // of both providers
	wait, asked := retryAfter(f.header)
	switch {
	case should == "false", should != "true" && !retryable(f.status), f.code() == quotaUsedUp, wait > min(remaining(ctx), maxWait):
		return backoff.Permanent(f)
	case asked:
		f.after = &backoff.RetryAfterError{Duration: wait}
	}
	return f
}

// retryable reports whether a request with this status may succeed later. The providers' own clients have the same list.
func retryable(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return status >= http.StatusInternalServerError
}

// retryAfter returns the pause that a server asks for, and whether it asks for one. Retry-After-Ms is a header of OpenAI's.
func retryAfter(h http.Header) (wait time.Duration, asked bool) {
	for _, header := range []struct {
		name string
		unit time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		n, err := strconv.ParseFloat(h.Get(header.name), 64)
		if n >= 0 && !errors.Is(err, strconv.ErrSyntax) { // a number that is out of range is infinite
			return time.Duration(min(n, 1e9) * float64(header.unit)), true
		}
	}
	at, err := http.ParseTime(h.Get("Retry-After"))
	if err != nil {
		return 0, false
	}
	return max(0, time.Until(at)), true
}
