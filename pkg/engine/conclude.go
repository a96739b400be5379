package engine

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// conclude writes run_finished and returns it.
func (e *execution) conclude() (*event.Event, error) {
	last := &event.Event{Event: event.RunFinished, Outputs: json.RawMessage("{}"), Checkpoint: &event.Checkpoint{RunID: e.runID}}
	cause, err := e.outcome(last)
	if err != nil {
		return nil, err
	}
	if last.Status != event.Paused {
		for _, ev := range e.top.plan.Halt(cause) {
			e.rec.write(e.top, ev)
		}
	}
	last.Checkpoint.CompletedNodes = []string{}
	for _, id := range e.top.order {
		last.Checkpoint.CompletedNodes = append(last.Checkpoint.CompletedNodes, e.top.path(id))
	}
	if e.top.failedNode != "" {
		last.Checkpoint.FailedNode = e.top.path(e.top.failedNode)
	}
	ms := milliseconds(e.clock.since(e.began))
	last.NodesExecuted, last.NodesReused, last.DurationMS = &e.counts.executed, &e.counts.reused, &ms
	if text := e.spending.warning(e.counts.usage); text != "" {
		e.warnings.add(text)
	}
	last.Warnings, last.Usage = e.store.warnings(e.warnings.texts), e.counts.usage
	switch {
	case !last.Status.Succeeded():
		last.Resume = e.resumption(fault.DoResume)
		for _, hint := range e.refresher.again(e.top) {
			last.Error.Suggest("%s", hint)
		}
	case last.Status == event.Degraded && e.warnings.retryable && !e.resume.Workflow:
		last.Resume = e.resumption(fault.DoRetry)
	}
	last.Error = e.store.redactor.Fault(last.Error)
	if e.rec.append(last); e.rec.journalErr != nil {
		return nil, e.rec.journalErr
	}
	return last, nil
}

// outcome sets the status, the error and the outputs of the run's last event. It returns what the nodes that are not
// settled are cancelled because of.
func (e *execution) outcome(last *event.Event) (cause string, err error) {
	if e.stop.interrupted || e.stop.denied != nil || !e.top.plan.Done() {
		cause = e.stop.cause()
	}
	switch {
	case e.top.failure != nil:
		last.Status, last.Error = event.Failed, e.top.failure
		cause = e.top.failedNode
	case cause == causeTimedOut:
		last.Status = event.TimedOut
		last.Error = fault.New(fault.Timeout, "The run did not end within its %s", e.timeout).Suggest("Give it a longer timeout")
	case cause == causeBudget:
		last.Status, last.Error = event.Failed, e.stop.budget().fault(e.resume)
	case cause == causeDenied:
		last.Status, last.Error = event.Denied, e.stop.denied
	case cause != "":
		last.Status, last.Error = event.Cancelled, cancelledFault(context.Cause(e.stop.ctx))
	case len(e.questions.open) > 0:
		last.Status, last.Error = event.Paused, e.questions.fault(e.resume)
	case !e.top.plan.Done():
		last.Status, last.Error = event.Failed, fault.New(fault.Internal, "The run stopped before all of its nodes had ended").Suggest("Resume it")
	default:
		return "", e.complete(last)
	}
	return cause, nil
}

// resumption returns the step that goes on from the run in one of the ways to do that, or nil if it is not known.
func (e *execution) resumption(do string) *fault.Step {
	if e.resume.Do == "" {
		return nil
	}
	step := e.resume
	step.Do = do
	return &step
}

// complete sets the outputs and the status of a run whose nodes are all settled. It returns an error only if the outputs
// cannot be stored.
func (e *execution) complete(last *event.Event) error {
	var outputs json.RawMessage
	var err error
	if e.only != nil {
		outputs = e.only.outputs(e.top)
	} else if outputs, err = e.binder.outputs(e.top); err != nil {
		last.Status, last.Error = event.Failed, fault.From(err)
		return nil
	}
	if last.Outputs, last.Redacted, err = e.store.keep(outputs); err != nil {
		return err
	}
	last.Status = event.Completed
	if e.warnings.degraded {
		last.Status = event.Degraded
	}
	return nil
}

// cancelledFault returns the fault of a run that was cancelled from outside.
func cancelledFault(why error) *fault.Fault {
	f := fault.New(fault.Execution, "The run was cancelled: %v", why).Suggest("Resume it to go on from where it stopped")
	var exit interface{ ExitStatus() int }
	if errors.As(why, &exit) {
		f.Detail("exit_status", exit.ExitStatus())
	}
	return f
}
