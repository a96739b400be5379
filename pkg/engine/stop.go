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
	rec       *recorder
	keepGoing bool
	// denied is the fault of a run that a person's answer ended.
	denied *fault.Fault
	// interrupted reports whether a node was stopped before its end.
	interrupted bool
}

// over reports whether the run was cancelled or has timed out.
func (s *stopState) over() bool { return s.ctx.Err() != nil }

// halted reports whether no further node of a frame may start.
func (s *stopState) halted(fr *frame) bool {
	return s.rec.journalErr != nil || s.over() || s.denied != nil || fr.failure != nil && !s.keepGoing
}

// Why nodes are cancelled when the cause is not a failed node.
const (
	causeTimedOut  = "timeout"
	causeCancelled = "cancelled"
	causeDenied    = "denied"
	causeBudget    = "budget"
)

// cause returns what stopped the run, or "" if nothing but a failed node did.
func (s *stopState) cause() string {
	switch {
	case !s.over() && s.denied != nil:
		return causeDenied
	case !s.over():
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
