package engine

import (
	"math/rand/v2"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// retry says in the event of a failure that another attempt follows, if one does.
func (e *execution) retry(r *result, ev *event.Event) bool {
	if r.refused || r.a.ctx.Err() != nil || r.a.node.Batch != nil && r.step.Item < 0 {
		return false
	}
	policy := plan.Retries(r.a.node, r.step.Attempt, r.node.Fault)
	if policy == nil {
		return false
	}
	delay := plan.Jittered(policy, plan.Delay(policy, r.step.Attempt), rand.Float64()) //nolint:gosec // nobody gains by guessing it
	again, ms := true, float64(delay.Microseconds())/1000
	ev.WillRetry, ev.RetryInMS = &again, &ms
	if r.a.delays == nil {
		r.a.delays = map[int]time.Duration{}
	}
	r.a.delays[r.step.Item] = delay
	return true
}

// wait lets the time before another attempt pass, or what is left of the node's.
func (e *execution) wait(d due, a *nodeRun) {
	delay, ctx := a.delays[d.step.Item], a.ctx
	delete(a.delays, d.step.Item)
	e.async(func() {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}, func() { e.queue.add(d, ctx.Err() == nil && e.needsSlot(d.l, d.step)) })
}
