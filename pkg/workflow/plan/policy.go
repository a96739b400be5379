package plan

import (
	"slices"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Policy returns the retry policy of a node and of the items of its batch: the node's own, or the batch's. It returns nil if
// there is no retry.
func Policy(n *workflow.Node) *workflow.Retry {
	if n.Retry == nil && n.Batch != nil && n.Batch.MaxRetries > 1 {
		return &workflow.Retry{Max: n.Batch.MaxRetries, Wait: n.Batch.RetryWait, MaxWait: n.Batch.RetryWait}
	}
	return n.Retry
}

// Retries returns the policy by which another attempt follows one that failed with f. It returns nil if no attempt follows:
// there is no policy, its attempts are used up, it does not list the exit status, or the fault is of a type that another
// attempt would meet again.
func Retries(n *workflow.Node, attempt int, f *fault.Fault) *workflow.Retry {
	r := Policy(n)
	if r == nil || attempt >= r.Max {
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

// Delay returns the wait after a failed attempt, without jitter. It is the policy's wait, doubled after each further attempt if
// the backoff is exponential, and at most the policy's MaxWait.
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

// Jittered returns a delay with the policy's jitter: from delay*(1-Jitter) for a draw of 0 to delay*(1+Jitter) for a draw of 1,
// and at most the policy's MaxWait.
func Jittered(r *workflow.Retry, delay time.Duration, draw float64) time.Duration {
	return min(delay+time.Duration(float64(delay)*r.Jitter*(2*draw-1)), time.Duration(r.MaxWait))
}

// Again reports whether a loop of at most so many iterations goes on after an iteration. holds is the value of its condition.
func Again(l *workflow.Loop, iteration, most int, holds bool) bool {
	return holds == (l.Until == "") && iteration < most
}

// BatchFails reports whether a batch fails as a whole: if any item failed, or, for a batch that continues after failures, if all
// did.
func BatchFails(b *workflow.Batch, items, failed int) bool {
	return failed > 0 && (b.ErrorHandling != Continue || failed == items)
}

// Continue is the error handling of a batch that continues after a failed item.
const Continue = "continue"

// Denies reports whether an answer forbids the node to run.
func Denies(answer string) bool { return answer == event.Denial }
