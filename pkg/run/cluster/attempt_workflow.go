package cluster

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// The names of the workflows and activities.
const (
	attemptWorkflowName = "pflow-node"
	attemptActivityName = "pflow-exec-node"
)

const (
	// beat is the time between two heartbeats of an activity that has nothing to report.
	beat = time.Second
	// lost is how long no heartbeat may come before a worker counts as lost.
	lost = 8 * time.Second
	// longest is the longest that an activity may take, if nothing else limits it.
	longest = 365 * 24 * time.Hour
)

// attemptWorkflow is the workflow of an attempt. It cancels the attempt if no sign of its sender comes.
func attemptWorkflow(ctx workflow.Context, a Attempt) (end AttemptEnd, err error) {
	if err := checkVersion(a.V); err != nil {
		return end, err
	}
	ctx, cancel := workflow.WithCancel(ctx)
	defer cancel()
	limit := longest
	if a.TimeoutMS > 0 && a.TimeoutMS < longest.Milliseconds() {
		limit = time.Duration(a.TimeoutMS)*time.Millisecond + time.Minute // pflow-exec node keeps the limit itself
	}
	attempt := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: limit, HeartbeatTimeout: lost, WaitForCancellation: true, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	}), attemptActivityName, a)
	alive := workflow.GetSignalChannel(ctx, aliveSignal)
	leaseMS := a.LeaseMS
	for gone := false; !gone && !attempt.IsReady(); {
		waiting, stop := workflow.WithCancel(ctx)
		timer := workflow.NewTimer(waiting, time.Duration(leaseMS)*time.Millisecond)
		workflow.NewSelector(ctx).
			AddFuture(attempt, func(workflow.Future) {}).
			AddFuture(timer, func(workflow.Future) { gone = true }).
			AddReceive(alive, func(c workflow.ReceiveChannel, _ bool) { c.Receive(ctx, &leaseMS) }).
			Select(ctx)
		stop()
	}
	if !attempt.IsReady() {
		cancel()
	}
	return end, attempt.Get(ctx, &end)
}

// checkVersion returns the error of work of a newer version than this program takes.
func checkVersion(v int) error {
	if v <= Version {
		return nil
	}
	return permanent(fault.New(fault.Protocol, "The work has version %d, but its worker takes version %d at most", v, Version).
		Suggest("Update all workers of the queue before the programs that send work to them"))
}
