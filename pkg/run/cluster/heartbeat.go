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
	// soon gets a value when a heartbeat should not wait for its interval. It may be nil.
	soon <-chan struct{}
	// stop ends what the activity executes.
	stop context.CancelCauseFunc
}

// pause is the least time between a heartbeat and one that should come soon. It grows with the time that the cluster takes for one.
const pause = 50 * time.Millisecond

// run sends heartbeats at every interval until the function that it returns is called. That one sends a last one if it is told so.
func (h *heart) run(ctx context.Context, interval time.Duration) (stop func(last bool)) {
	token := activity.GetInfo(ctx).TaskToken
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // also while what was cancelled ends
	ended := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		rested := time.NewTimer(0)
		defer rested.Stop()
		soon := h.soon
		heard, unsent := time.Now(), false
		for {
			select {
			case <-ended:
				return
			case <-rested.C:
				soon = h.soon
				continue
			case <-soon:
			case <-tick.C:
			}
			details, due := h.details()
			if !due && !unsent {
				continue
			}
			began := time.Now()
			err := h.beat(ctx, token, details, heard.Add(lost))
			if unsent = err != nil; !unsent {
				heard = began
			} else if cause := causeOf(err); cause != nil {
				h.stop(cause)
			} else if time.Since(heard) >= lost {
				h.stop(errCutOff)
			}
			soon = nil
			rested.Reset(pause + 2*time.Since(began))
		}
	})
	return func(last bool) {
		close(ended)
		if !last {
			cancel()
		}
		beating.Wait()
		if details, _ := h.details(); last {
			_ = h.beat(ctx, token, details, time.Now().Add(lost))
		}
		cancel()
	}
}

// first sends heartbeats until the cluster has taken one, or stops what the activity is about to execute.
func (h *heart) first(ctx context.Context) {
	token, until := activity.GetInfo(ctx).TaskToken, time.Now().Add(lost)
	details, _ := h.details()
	for {
		err := h.beat(ctx, token, details, until)
		cause := causeOf(err)
		if cause == nil && err != nil && !time.Now().Before(until) {
			cause = errCutOff
		}
		if cause != nil {
			h.stop(cause)
		}
		if cause != nil || err == nil {
			return
		}
		time.Sleep(pause)
	}
}

// beat sends one heartbeat, for which it waits until the cluster counts the worker as lost.
func (h *heart) beat(ctx context.Context, token []byte, details any, until time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, until)
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
