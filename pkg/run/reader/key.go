package reader

import (
	"context"
	"time"

	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// OfKey returns the id of the run that was last started with an idempotency key, or "" if there is no such run, or not any more. Keys are
// kept for an hour after their run has ended. settled is false while a process begins a run for the key: the run can be seen then, and goes
// away again if the process cannot tell its id to whoever has asked for it.
func (r *Runs) OfKey(key string) (run string, settled bool) {
	k := journal.NewKey(r.home, key)
	if !k.Free() {
		return "", false
	}
	if last := k.Last(); last != nil {
		return last.ID, true
	}
	return "", true
}

// keyDelay is the time between two looks at a key that a process holds.
const keyDelay = 5 * time.Millisecond

// AwaitKey returns what OfKey does as soon as no process begins a run for the key, or when ctx ends.
func (r *Runs) AwaitKey(ctx context.Context, key string) (run string, settled bool) {
	for {
		if run, settled = r.OfKey(key); settled {
			return run, true
		}
		select {
		case <-ctx.Done():
			return "", false
		case <-time.After(keyDelay):
		}
	}
}
