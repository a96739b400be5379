package engine

import (
	"context"
	"errors"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// stopState is why no further node may start.
type stopState struct {
	// ctx is the context of the run.
	ctx context.Context
	// rec has the error after which nothing starts.
	rec *recorder
	// keepGoing and onFailure are Config.KeepGoing and Config.StopOnFailure.
	keepGoing, onFailure bool
	// denied is the fault of a run that a person's answer ended.
	denied *fault.Fault
	// interrupted reports whether a node was stopped before its end.
	interrupted bool
}

// failureError is the cause of the context of what is stopped because something beside it failed: the node, or the item, of a path.
type failureError struct{ path string }

func (e *failureError) Error() string { return e.path + " failed" }

// failedBeside returns the path of the node or item whose failure has ended a context, or "".
func failedBeside(ctx context.Context) string {
	if e, ok := errors.AsType[*failureError](context.Cause(ctx)); ok {
		return e.path
	}
	return ""
}

// over reports whether the run was cancelled or has timed out, or a failure has stopped the frame.
func (s *stopState) over(fr *frame) bool { return s.ctx.Err() != nil || failedBeside(fr.ctx) != "" }

// halted reports whether no further node of a frame may start.
func (s *stopState) halted(fr *frame) bool {
	return s.rec.journalErr != nil || s.over(fr) || s.denied != nil || fr.failure != nil && !s.keepGoing
}

// Why nodes are cancelled when the cause is not a failed node.
const (
	causeTimedOut  = "timeout"
	causeCancelled = "cancelled"
	causeDenied    = "denied"
	causeBudget    = "budget"
)

// causeIn returns what stopped a frame: what stopped the run, or the path of a failed node, which wholePath marks.
func (s *stopState) causeIn(fr *frame) string {
	if failed := failedBeside(fr.ctx); failed != "" && s.ctx.Err() == nil {
		return wholePath + failed
	}
	return s.cause()
}

// cause returns what stopped the run, or "" if nothing but a failed node did.
func (s *stopState) cause() string {
	switch over := s.ctx.Err() != nil; {
	case !over && s.denied != nil:
		return causeDenied
	case !over:
		return ""
	case errors.Is(context.Cause(s.ctx), ErrTimeout):
		return causeTimedOut
	case s.budget() != nil:
		return causeBudget
	}
	return causeCancelled
}

// budget returns how the budget of the run is used up, if that has stopped it, or nil.
func (s *stopState) budget() *budgetError {
	used, _ := errors.AsType[*budgetError](context.Cause(s.ctx))
	return used
}
