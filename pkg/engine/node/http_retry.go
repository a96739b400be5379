package node

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// The wait before another attempt, unless the server says how long. It doubles from firstWait to longestWait. Half of it is
// random, so that clients that failed together do not return together.
const (
	firstWait   = 250 * time.Millisecond
	longestWait = 10 * time.Second
)

// retryAfterHeader is the wait that a server asks for.
type retryAfterHeader struct {
	wait time.Duration
	// given is false if the server does not say.
	given bool
}

// parseRetryAfter parses a Retry-After header: seconds, or a date (RFC 9110, 10.2.3). A date in the past is a wait of 0.
func parseRetryAfter(value string, now time.Time) retryAfterHeader {
	value = strings.TrimSpace(value)
	if value != "" && strings.Trim(value, "0123456789") == "" {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n > int64(math.MaxInt64/time.Second) {
			return retryAfterHeader{math.MaxInt64, true}
		}
		return retryAfterHeader{time.Duration(n) * time.Second, true}
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return retryAfterHeader{}
	}
	return retryAfterHeader{max(0, date.Sub(now)), true}
}

// retryAfterOf returns the Retry-After header of a 429 or 503; nil for any other status.
func retryAfterOf(resp *http.Response) *retryAfterHeader {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable {
		return nil
	}
	r := parseRetryAfter(resp.Header.Get("Retry-After"), time.Now())
	return &r
}

// safeToRetry reports whether another attempt cannot do twice what should be done once.
func (x *exchange) safeToRetry() bool {
	switch {
	case x.request.idempotent() || !x.connected:
		return x.retryAfter != nil || !isFinal(x.outputs.StatusCode)
	case x.retryAfter == nil:
		return false
	case x.outputs.StatusCode == http.StatusTooManyRequests:
		return true
	}
	return x.retryAfter.given // some gateways send a 503 also if the server failed while it processed the request
}

// isFinal reports whether a status is a response that stands, even if its body was not received.
func isFinal(status int) bool { return status >= 300 }

// retry reports whether to send the request again after a fault, and waits until then. If not, the returned fault is the
// node's.
func (x *exchange) retry(ctx context.Context, f *fault.Fault) (*fault.Fault, bool) {
	if f == nil || !f.Retryable || f.Type != fault.Unavailable && f.Type != fault.RateLimited {
		return f, false // a full disk is retryable too, but not within seconds
	}
	if ctx.Err() != nil || !x.safeToRetry() || x.attempts > x.in.Retries {
		return f, false
	}
	wait := backoff(x.attempts)
	asked := x.retryAfter != nil && x.retryAfter.given
	if asked {
		wait = x.retryAfter.wait
	}
	if deadline, ok := ctx.Deadline(); ok && wait >= time.Until(deadline) {
		return noTimeFault(f, wait, time.Until(deadline), asked), false
	}
	if x.watch != nil && wait > stallLimit {
		return tooLongFault(f, wait, stallLimit), false
	}
	x.watch.pause()
	if x.task.Progress != nil {
		x.task.Progress(float64(x.attempts), float64(x.in.Retries+1), fmt.Sprintf("retrying in %s seconds: %s", seconds(wait.Round(time.Millisecond)), f.Message))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil, true
	case <-ctx.Done():
		return x.noResponseFault(ctx, context.Cause(ctx)), false
	}
}

// backoff returns the wait after a number of attempts.
func backoff(attempts int) time.Duration {
	wait := longestWait
	if attempts < 10 {
		wait = min(wait, firstWait<<(attempts-1))
	}
	return wait/2 + rand.N(wait/2)
}

// tooLongFault adds to a fault that the server asks for a longer wait than a node without a timeout takes.
func tooLongFault(f *fault.Fault, wait, limit time.Duration) *fault.Fault {
	f.Message += fmt.Sprintf("; the server asks to wait %s seconds (Retry-After), and a node without a timeout waits at most %s", seconds(wait), seconds(limit))
	return f.SuggestNothing().Suggest("Resume the run after %s seconds, or give the node a longer \"timeout\"", seconds(wait)).
		Detail("retry_after", int64(math.Ceil(wait.Seconds())))
}

// noTimeFault adds to a fault that the wait is longer than the time left; asked is set if the server asked for the wait.
func noTimeFault(f *fault.Fault, wait, left time.Duration, asked bool) *fault.Fault {
	left = max(0, left).Round(100 * time.Millisecond)
	if !asked {
		f.Message += fmt.Sprintf("; no time for another attempt: %s seconds of the node's timeout are left", seconds(left))
		return f.Suggest("Give the node a longer \"timeout\"")
	}
	f.Message += fmt.Sprintf("; the server asks to wait %s seconds (Retry-After), but %s seconds of the node's timeout are left", seconds(wait), seconds(left))
	return f.SuggestNothing().Suggest("Resume the run after %s seconds, or give the node a longer \"timeout\"", seconds(wait)).
		Detail("retry_after", int64(math.Ceil(wait.Seconds())))
}

// withAttempts adds the number of attempts to a fault. The cause of a cancelled run is not about this node and stays
// unchanged.
func (x *exchange) withAttempts(ctx context.Context, f *fault.Fault) *fault.Fault {
	_, late := errors.AsType[*TimeoutError](context.Cause(ctx))
	stalled := errors.Is(context.Cause(ctx), errStalled)
	if ctx.Err() != nil && !late && !stalled {
		return f
	}
	if x.attempts > 1 {
		f.Message += fmt.Sprintf(" (after %d attempts)", x.attempts)
	}
	return f.Detail("attempts", x.attempts)
}
