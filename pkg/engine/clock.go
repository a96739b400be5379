package engine

import (
	"context"
	"sync/atomic"
	"time"
)

// clock is the time of a run.
type clock struct {
	now func() time.Time
	// afterFunc is nil for the time of the system.
	afterFunc func(d time.Duration, f func()) (stop func() bool)
}

// newClock returns the clock that a config describes.
func newClock(c *Config) *clock {
	if c.Now == nil {
		return &clock{now: time.Now, afterFunc: c.AfterFunc}
	}
	return &clock{now: c.Now, afterFunc: c.AfterFunc}
}

// since returns the time that has passed since t.
func (c *clock) since(t time.Time) time.Duration { return c.now().Sub(t) }

// after calls f after d, unless stop is called before.
func (c *clock) after(d time.Duration, f func()) (stop func() bool) {
	if c.afterFunc != nil {
		return c.afterFunc(d, f)
	}
	return time.AfterFunc(d, f).Stop
}

// wait waits for d to pass, or for the end of a context.
func (c *clock) wait(ctx context.Context, d time.Duration) {
	passed := make(chan struct{})
	over := func() { close(passed) }
	if c.afterFunc == nil {
		timer := time.AfterFunc(d, over)
		defer timer.Stop()
	} else {
		defer c.afterFunc(d, over)()
	}
	select {
	case <-passed:
	case <-ctx.Done():
	}
}

// withTimeout returns a context that is cancelled with a cause after d. With the system's time it has a deadline, which
// nodes may read.
func (c *clock) withTimeout(ctx context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	if c.afterFunc == nil {
		return context.WithTimeoutCause(ctx, d, cause)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := c.afterFunc(d, func() { cancel(cause) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// lateContext is a context whose time limit is set after it has been passed on. It is cancelled by the function that limit gets,
// so that its error is context.Canceled.
type lateContext struct {
	context.Context
	deadline atomic.Pointer[time.Time]
	stop     func() bool
}

// limit cancels the context after d. With the system's time it has a deadline, which nodes may read.
func (l *lateContext) limit(c *clock, d time.Duration, cancel func()) {
	if c.afterFunc == nil {
		l.deadline.Store(new(time.Now().Add(d)))
	}
	l.stop = c.after(d, cancel)
}

// end ends the time limit.
func (l *lateContext) end() {
	if l.stop != nil {
		l.stop()
	}
}

// Deadline returns the deadline that limit has set, unless that of the context around it is earlier.
func (l *lateContext) Deadline() (time.Time, bool) {
	outer, limited := l.Context.Deadline()
	if own := l.deadline.Load(); own != nil && (!limited || own.Before(outer)) {
		return *own, true
	}
	return outer, limited
}
