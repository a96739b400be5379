package plan

import (
	"slices"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Policy is how a node, or an item of its batch, is tried again: its own, or what its batch says; nil when it is not.
func Policy(n *workflow.Node) *workflow.Retry {
	if n.Retry == nil && n.Batch != nil && n.Batch.MaxRetries > 1 {
		return &workflow.Retry{Max: n.Batch.MaxRetries - 1, Wait: n.Batch.RetryWait, MaxWait: n.Batch.RetryWait}
	}
	return n.Retry
}

// Retries gives the policy by which another attempt follows one that failed, or nil when none does: because there is no
// policy, it is used up, the exit status is none of those it names, or another attempt would be refused just the same.
func Retries(n *workflow.Node, attempt int, f *fault.Fault) *workflow.Retry {
	r := Policy(n)
	if r == nil || attempt > r.Max {
		return nil
	}
	switch f.Type {
	case fault.Usage, fault.Validation, fault.Template, fault.Security, fault.Internal:
		return nil
	}
	if len(r.OnlyExitCodes) > 0 {
		code, ok := f.Details["exit_code"].(int)
		if !ok || !slices.Contains(r.OnlyExitCodes, code) {
			return nil
		}
	}
	return r
}

// Delay is how long to wait after an attempt that failed, before jitter: the policy's wait, doubled after each attempt
// when the backoff is exponential, and never more than the policy's longest wait.
func Delay(r *workflow.Retry, attempt int) time.Duration {
	wait, most := time.Duration(r.Wait), time.Duration(r.MaxWait)
	if r.Backoff == "exponential" {
		for range attempt - 1 {
			if wait *= 2; wait >= most {
				break
			}
		}
	}
	return min(wait, most)
}

// Jittered is a delay changed by the policy's jitter: for draw from 0 to 1 it grows from as much shorter to as much longer
// as that says, and is never more than the policy's longest wait.
func Jittered(r *workflow.Retry, delay time.Duration, draw float64) time.Duration {
	return min(delay+time.Duration(float64(delay)*r.Jitter*(2*draw-1)), time.Duration(r.MaxWait))
}

// Again says whether a loop goes on after an iteration, given its condition's value.
func Again(l *workflow.Loop, iteration int, holds bool) bool {
	return holds == (l.Until == "") && iteration < l.MaxIterations
}

// BatchFails says whether a batch of so many items failed as a whole when so many of them did: with fail_fast when any
// did, else when all did.
func BatchFails(b *workflow.Batch, items, failed int) bool {
	return failed > 0 && (b.ErrorHandling != Continue || failed == items)
}

// Continue is the error handling of a batch that goes on after an item failed.
const Continue = "continue"

// Denies says whether an answer forbids that the node runs.
func Denies(answer string) bool { return answer == "no" }
