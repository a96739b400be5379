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

// The wait before another attempt, where the server does not say how long: it doubles, up to the longest, and each time
// a half of it is left to chance, so that many who failed at once do not come back at once.
const (
	firstWait   = 250 * time.Millisecond
	longestWait = 10 * time.Second
)

// retryAfter is when a server that refused wants to be asked again.
type retryAfter struct {
	wait time.Duration
	// said is false when it does not say.
	said bool
}

// parseRetryAfter reads a Retry-After header: whole seconds, or a date (RFC 9110, 10.2.3). A date that is past is now.
func parseRetryAfter(value string, now time.Time) retryAfter {
	value = strings.TrimSpace(value)
	if value != "" && strings.Trim(value, "0123456789") == "" {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n > int64(math.MaxInt64/time.Second) {
			return retryAfter{math.MaxInt64, true}
		}
		return retryAfter{time.Duration(n) * time.Second, true}
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return retryAfter{}
	}
	return retryAfter{max(0, date.Sub(now)), true}
}

// refusal is what a status says of another attempt: nil when none is to be made on its account.
func refusal(resp *http.Response) *retryAfter {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable {
		return nil
	}
	r := parseRetryAfter(resp.Header.Get("Retry-After"), time.Now())
	return &r
}

// harmless says whether another attempt cannot do twice what should be done once.
func (x *exchange) harmless() bool {
	switch {
	case x.call.repeatable() || !x.reached:
		return x.refused != nil || !final(x.answer.StatusCode)
	case x.refused == nil:
		return false
	case x.answer.StatusCode == http.StatusTooManyRequests:
		return true
	}
	return x.refused.said // some gateways say 503 also when the server broke off in the middle
}

// final says whether a status is an answer that stands, whatever comes of the body.
func final(status int) bool { return status >= 300 }

// again says whether another attempt is to be made after a fault, and waits until then. When none is, the fault that it
// gives is the node's.
func (x *exchange) again(ctx context.Context, f *fault.Fault) (*fault.Fault, bool) {
	if f == nil || !f.Retryable || f.Type != fault.Unavailable && f.Type != fault.RateLimited {
		return f, false // of these a full disk is none: it does not get better in seconds
	}
	if ctx.Err() != nil || !x.harmless() || x.attempts > x.in.Retries {
		return f, false
	}
	wait := backoff(x.attempts)
	asked := x.refused != nil && x.refused.said
	if asked {
		wait = x.refused.wait
	}
	if deadline, ok := ctx.Deadline(); ok && wait >= time.Until(deadline) {
		return hurried(f, wait, time.Until(deadline), asked), false
	}
	if x.task.Progress != nil {
		x.task.Progress(float64(x.attempts), float64(x.in.Retries+1), fmt.Sprintf("trying again in %s seconds: %s", seconds(wait.Round(time.Millisecond)), f.Message))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil, true
	case <-ctx.Done():
		return x.broken(ctx, context.Cause(ctx)), false
	}
}

// backoff is the wait after so many attempts.
func backoff(attempts int) time.Duration {
	wait := longestWait
	if attempts < 10 {
		wait = min(wait, firstWait<<(attempts-1))
	}
	return wait/2 + rand.N(wait/2)
}

// hurried is the fault, saying that there is no time for the wait.
func hurried(f *fault.Fault, wait, left time.Duration, asked bool) *fault.Fault {
	left = max(0, left).Round(100 * time.Millisecond)
	if !asked {
		f.Message += fmt.Sprintf("; there is no time for another attempt within the node's timeout, of which %s seconds are left", seconds(left))
		return f.Suggest("Give the node a longer \"timeout\" (in seconds)")
	}
	f.Message += fmt.Sprintf("; the server asks to wait %s seconds (Retry-After), and %s seconds of the node's timeout are left", seconds(wait), seconds(left))
	f.Suggestions = nil
	return f.Suggest("Resume the run after %s seconds, or give the node a \"timeout\" of more than that", seconds(wait)).
		Detail("retry_after", int64(math.Ceil(wait.Seconds())))
}

// counted is the fault with how many attempts there were. Why a run was cancelled is no fault of this node, and stays as
// it is.
func (x *exchange) counted(ctx context.Context, f *fault.Fault) *fault.Fault {
	if _, late := errors.AsType[*TimeoutError](context.Cause(ctx)); ctx.Err() != nil && !late {
		return f
	}
	if x.attempts > 1 {
		f.Message += fmt.Sprintf(" (after %d attempts)", x.attempts)
	}
	return f.Detail("attempts", x.attempts)
}
