package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// End is the reason why the context of a call ended before the call did.
type End string

const (
	// Cancelled means that the client cancelled the call and wants its work to end.
	Cancelled End = "cancelled"
	// Gone means that the client is not there for the answer: its session ended, or it cancelled the call because it had
	// waited too long.
	Gone End = "gone"
	// Stopping means that the context of Serve ended.
	Stopping End = "stopping"
)

// Ended is the cause (see context.Cause) of a call's context that ended before the call did.
type Ended struct {
	By  End
	Err error
}

func (e *Ended) Error() string { return e.Err.Error() }

// Unwrap returns Err; for Stopping it is the cause of Serve's context.
func (e *Ended) Unwrap() error { return e.Err }

// WhyEnded returns why the context of a call, or one derived from it, ended. It returns "" for a context that has not
// ended, or that ended for a reason of its own.
func WhyEnded(ctx context.Context) End {
	if e, ok := errors.AsType[*Ended](context.Cause(ctx)); ok {
		return e.By
	}
	return ""
}

// endingKey is the key of the context that WithEnding adds.
type endingKey struct{}

// WithEnding returns a context for the requests of a transport that connects to the SDK's server itself: when ending ends, the
// contexts of their handlers end with its cause. The cause is an *Ended.
func WithEnding(ctx, ending context.Context) context.Context {
	return context.WithValue(ctx, endingKey{}, ending)
}

// CancelledFor returns the end of a call that the client cancels for a reason, which may be empty. Clients also cancel a
// request when they stop waiting for it; then the reason is the text of their timeout.
func CancelledFor(reason string) *Ended {
	reason = fault.Truncate(reason, maxEcho)
	for _, timeout := range []string{"timed out", "timeout", "deadline exceeded"} {
		if strings.Contains(strings.ToLower(reason), timeout) {
			return &Ended{Gone, fmt.Errorf("the client stopped waiting for the call: %s", reason)}
		}
	}
	if reason == "" {
		return &Ended{Cancelled, errors.New("the client cancelled the call")}
	}
	return &Ended{Cancelled, fmt.Errorf("the client cancelled the call: %s", reason)}
}

// endOf returns the end of a call whose context the SDK has ended with a cause. A client's cancellation has no cause of its
// own there.
func endOf(cause error) *Ended {
	if errors.Is(cause, context.Canceled) {
		return CancelledFor("")
	}
	return &Ended{Gone, fmt.Errorf("the client went away: %w", cause)}
}
