package reader

import (
	"context"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// Successor returns the id of the newest run that continues this one, or "".
func (r *Run) Successor() string {
	if last := r.rec.LastSuccessor(); last.ID != r.ID() {
		return last.ID
	}
	return ""
}

// successorInterval is how often AwaitSuccessor looks.
const successorInterval = 250 * time.Millisecond

// AwaitSuccessor waits until another run continues a run, and returns the newest that does. If ctx ends before, the error is its
// cause. If the run is removed, it is a not_found.
func AwaitSuccessor(ctx context.Context, r *Run) (string, error) {
	looks := time.NewTicker(successorInterval)
	defer looks.Stop()
	for {
		if next := r.Successor(); next != "" {
			return next, nil
		}
		if !r.rec.Exists() {
			return "", fault.New(fault.NotFound, "Run %s was removed before another run continued it", r.ID())
		}
		select {
		case <-looks.C:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// PointOn changes the last event of a run that another one continues: in place of an answer or a resume, its fault suggests that
// run. It does not change the event of another run.
func (r *Run) PointOn(last *event.Event) {
	if next := r.Successor(); next != "" {
		last.Error, last.Resume = pointOn(last.Error, last.Status, next), nil
	}
}

// pointOn returns the fault of a run with the given status, or nil, with the suggestion of the run that continues it, if next is
// not empty. It keeps how to correct the cause of a failure.
func pointOn(f *fault.Fault, status event.Status, next string) *fault.Fault {
	if f == nil || next == "" {
		return f
	}
	c := *f
	if c.SuggestAs(f); status != event.Failed {
		c.SuggestNothing()
	}
	return c.Then(continued(next))
}

// continued returns the step of going to the run that continues another one.
func continued(next string) fault.Step { return fault.Step{Do: fault.DoContinued, Run: next} }
