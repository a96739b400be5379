package cluster

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// The causes that end what a worker executes, besides errDrained.
var (
	errCancelled = fault.New(fault.Execution, "The work was cancelled")
	errCutOff    = fault.New(fault.Unavailable, "The cluster could not be reached for %s, so it counts the worker as lost", lost)
	errTakenAway = fault.New(fault.Unavailable, "The cluster no longer waits for this work of the worker")
)

// heart sends the heartbeats of an activity. The SDK's own heartbeats cancel an activity when one of them takes more than a second, which a
// cluster that starts again exceeds; these go on until the cluster counts the worker as lost.
type heart struct {
	// send sends the details of a heartbeat.
	send func(ctx context.Context, token []byte, details ...any) error
	// details returns those of the next heartbeat, and whether one is due.
	details func() (details any, due bool)
	// stop ends what the activity executes.
	stop context.CancelCauseFunc
}

// run sends heartbeats at every interval until the function that it returns is called. That one sends a last one if it is told so.
func (h *heart) run(ctx context.Context, interval time.Duration) (stop func(last bool)) {
	token := activity.GetInfo(ctx).TaskToken
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // also while what was cancelled ends
	ended := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		heard, unsent := time.Now(), false
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
			}
			details, due := h.details()
			if !due && !unsent {
				continue
			}
			began := time.Now()
			err := h.beat(ctx, token, details)
			if unsent = err != nil; !unsent {
				heard = began
			} else if cause := causeOf(err); cause != nil {
				h.stop(cause)
			} else if time.Since(heard) >= lost {
				h.stop(errCutOff)
			}
		}
	})
	return func(last bool) {
		close(ended)
		if !last {
			cancel()
		}
		beating.Wait()
		if details, _ := h.details(); last {
			_ = h.beat(ctx, token, details)
		}
		cancel()
	}
}

// beat sends one heartbeat.
func (h *heart) beat(ctx context.Context, token []byte, details any) error {
	ctx, cancel := context.WithTimeout(ctx, lost)
	defer cancel()
	return h.send(ctx, token, details)
}

// causeOf returns why the work must end after a heartbeat that failed with an error, or nil if the next one may succeed.
func causeOf(err error) error {
	if _, ok := errors.AsType[*temporal.CanceledError](err); ok {
		return errCancelled
	}
	_, gone := errors.AsType[*serviceerror.NotFound](err)
	if gone || errors.Is(err, activity.ErrActivityPaused) || errors.Is(err, activity.ErrActivityReset) {
		return errTakenAway
	}
	return nil
}
