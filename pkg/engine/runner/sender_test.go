package runner

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

func TestWatchSender(t *testing.T) {
	for name, c := range map[string]struct {
		// signs is how often a sign is sent, every 10 seconds. Then the sender closes the pipe, or is silent.
		sent   string
		signs  int
		closes bool
		cause  error
		after  time.Duration
	}{
		"closes":            {sent: " ", signs: 5, closes: true, cause: errSenderGone, after: 0},
		"is silent":         {sent: " ", signs: 1, cause: errSenderSilent, after: senderSilence},
		"is silent later":   {sent: " ", signs: 361, cause: errSenderSilent, after: 20 * time.Minute},
		"never gives signs": {sent: "\n", signs: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, gone := context.WithCancelCause(t.Context())
				pipe, sender := io.Pipe()
				go watchSender(pipe, gone)
				var last time.Time
				for i := range c.signs {
					if i > 0 {
						time.Sleep(10 * time.Second)
					}
					_, _ = io.WriteString(sender, c.sent)
					last = time.Now()
				}
				if c.closes {
					_ = sender.Close()
				}
				select {
				case <-ctx.Done():
				case <-time.After(24 * time.Hour):
				}
				if cause := context.Cause(ctx); !errors.Is(cause, c.cause) || c.cause != nil && time.Since(last) != c.after {
					t.Errorf("%v after %v", cause, time.Since(last))
				}
				_ = sender.Close()
			})
		})
	}
}
