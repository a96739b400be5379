package cluster

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/pflow-suite/pflow/pkg/event"
)

// runWorkflow is the workflow of a run. Its activity starts again on another worker when one is lost. While the run waits for a person,
// no worker is needed.
func runWorkflow(ctx workflow.Context, job Job) (event.Status, error) {
	if err := checkVersion(job.V); err != nil {
		return "", err
	}
	approvals := workflow.GetSignalChannel(ctx, approveSignal)
	options := workflow.ActivityOptions{
		TaskQueue: runsQueue(workflow.GetInfo(ctx).TaskQueueName), StartToCloseTimeout: longest, HeartbeatTimeout: lost, WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{InitialInterval: 200 * time.Millisecond, MaximumInterval: 4 * time.Second, MaximumAttempts: 10_000},
	}
	for {
		var end JobEnd
		if err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), runActivityName, job).Get(ctx, &end); err != nil {
			return "", err
		}
		if end.Refused != nil && job.Answers == nil {
			return "", permanent(end.Refused)
		}
		if end.Refused == nil && end.Status != event.Paused {
			return end.Status, ended(ctx, end.Status)
		}
		if end.Refused == nil { // else the answers were no answers, and the question stays
			job.Events, job.Resumes = end.Events, false
		}
		if err := remember(ctx, event.Paused); err != nil {
			return "", err
		}
		var given approval
		waiting := workflow.NewSelector(ctx).
			AddReceive(approvals, func(c workflow.ReceiveChannel, _ bool) { c.Receive(ctx, &given) }).
			AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
		if waiting.Select(ctx); ctx.Err() != nil {
			return event.Cancelled, ended(ctx, event.Cancelled)
		}
		job.Answers, job.Person = given.Answers, given.Person
		if err := remember(ctx, running); err != nil {
			return "", err
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() && approvals.Len() == 0 {
			return "", workflow.NewContinueAsNewError(ctx, runWorkflowName, job)
		}
	}
}

// running is the status of a run that has not ended.
const running event.Status = "running"

// remember writes the status of a run where lists find it.
func remember(ctx workflow.Context, status event.Status) error {
	return workflow.UpsertMemo(ctx, map[string]any{statusMemo: string(status)})
}

// ended ends the workflow of a run with that status: Temporal shows a run that has not succeeded as failed or cancelled.
func ended(ctx workflow.Context, status event.Status) error {
	if err := remember(ctx, status); err != nil {
		return err
	}
	switch {
	case status.Succeeded():
		return nil
	case status == event.Cancelled:
		return temporal.NewCanceledError()
	}
	return temporal.NewNonRetryableApplicationError("The run ended as "+string(status), "pflow-run-"+string(status), nil)
}
