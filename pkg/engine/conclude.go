package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// conclude writes run_finished.
func (e *execution) conclude() (*event.Event, error) {
	last := &event.Event{Event: event.RunFinished, Outputs: json.RawMessage("{}"), Checkpoint: &event.Checkpoint{RunID: e.RunID}}
	cause := ""
	if e.interrupted || e.denied != nil || !e.top.plan.Done() {
		cause = e.stopCause()
	}
	switch {
	case e.top.root != nil:
		last.Status, last.Error = event.Failed, e.top.root
		cause = e.top.failedNode
	case cause == causeTimedOut:
		last.Status = event.TimedOut
		last.Error = fault.New(fault.Timeout, "The run did not end within its %s", e.Timeout).Suggest("Resume it with a longer --timeout")
	case cause == causeDenied:
		last.Status, last.Error = event.Denied, e.denied
	case cause != "":
		last.Status = event.Cancelled
		why := context.Cause(e.ctx)
		last.Error = fault.New(fault.Execution, "The run was cancelled: %v", why).Suggest("Resume it to go on from where it stopped")
		var exit interface{ ExitStatus() int }
		if errors.As(why, &exit) {
			last.Error.Detail("exit_status", exit.ExitStatus())
		}
	case len(e.questions) > 0:
		last.Status = event.Paused
		last.Error = e.waiting()
	case !e.top.plan.Done():
		last.Status, last.Error = event.Failed, fault.New(fault.Internal, "The run stopped although not all of its nodes had come to an end").Suggest("Resume it")
	default:
		e.complete(last)
	}
	if last.Status != event.Paused {
		for _, d := range e.top.plan.Halt(cause) {
			e.append(d)
		}
	}
	last.Checkpoint.CompletedNodes = append([]string{}, e.top.order...)
	last.Checkpoint.FailedNode = e.top.failedNode
	executed, reuses, ms := e.executed, e.reuses, milliseconds(e.began)
	last.NodesExecuted, last.NodesReused, last.DurationMS = &executed, &reuses, &ms
	last.Warnings, last.Usage = e.warningTexts(e.warnings), e.usage
	if !last.Status.Succeeded() {
		last.Resume = e.ResumeCommand
	}
	last.Error = e.Redactor.Fault(last.Error)
	if e.append(last); e.journalErr != nil {
		return nil, e.journalErr
	}
	return last, nil
}

// maxQuestions is how many open questions are told when a run pauses.
const maxQuestions = 10

// waiting says what a run that is paused waits for.
func (e *execution) waiting() *fault.Fault {
	var open []*Question
	for a := range e.questions {
		open = append(open, a.question)
	}
	slices.SortFunc(open, func(a, b *Question) int { return strings.Compare(a.Node, b.Node) })
	f := fault.New(fault.Execution, "The run waits for a person's answer: %s", open[0].Text)
	f.Node = open[0].Node
	for _, q := range open[1:min(len(open), maxQuestions)] {
		f.Message += fmt.Sprintf("; and node %s asks: %s", q.Node, q.Text)
	}
	if more := len(open) - maxQuestions; more > 0 {
		f.Message += fmt.Sprintf("; and %d questions more", more)
	}
	return f.Suggest("Answer with: pflow-exec resume %s --approve ANSWER, where ANSWER is one of: %s", e.RunID, strings.Join(open[0].Choices, ", "))
}

// complete gives the run its outputs and its status.
func (e *execution) complete(last *event.Event) {
	outputs, err := e.outputs(e.top)
	if err != nil {
		last.Status, last.Error = event.Failed, fault.From(err)
		return
	}
	if last.Outputs, last.Redacted, err = e.keep(outputs); err != nil {
		e.journalErr = err
		return
	}
	last.Status = event.Completed
	if e.degraded {
		last.Status = event.Degraded
	}
}

// Why nodes are cancelled when no failure is the cause.
const (
	causeTimedOut  = "timeout"
	causeCancelled = "cancelled"
	causeDenied    = "denied"
)

func (e *execution) stopCause() string {
	switch {
	case e.ctx.Err() == nil && e.denied != nil:
		return causeDenied
	case e.ctx.Err() == nil:
		return ""
	case errors.Is(context.Cause(e.ctx), ErrTimeout):
		return causeTimedOut
	}
	return causeCancelled
}
