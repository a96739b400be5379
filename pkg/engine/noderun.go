package engine

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/trace"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// nodeRun is a node of a frame that has begun.
type nodeRun struct {
	frame *frame
	node  *workflow.Node
	kind  nodetype.Type
	began time.Time
	// ctx ends with the run, or with the node's time. cancel releases it.
	ctx    context.Context
	cancel context.CancelFunc
	timed  bool // the node's time has begun
	// inherits reports whether the checkpoint's items, iterations and inner nodes of this node may be used.
	inherits bool
	// question is set once a person is asked, and answer once the question is answered. withdraw cancels a call of Ask.
	question *Question
	answer   json.RawMessage
	withdraw context.CancelFunc
	// iteration is the iteration of the node's loop, from 1; carry is what the one before it passes on.
	iteration int
	carry     map[string]json.RawMessage
	// bound is the node of the current iteration, digest the input digest of the node as a whole.
	bound  *boundNode
	digest string
	batch  *batch
	// executed reports whether the node counts as executed.
	executed bool
	// holdsSlot reports whether the node uses a slot until it is settled. waitsForSlot reports whether its items, heldBack,
	// must wait for that slot.
	holdsSlot, waitsForSlot bool
	heldBack                []plan.Step
	// delays are the waits before announced attempts, by item.
	delays map[int]time.Duration
	// degradations are the reasons why the node's outputs are not a full success.
	degradations []string
}

func (nr *nodeRun) id() string { return nr.node.ID }

// path returns the node's path, by which events name it.
func (nr *nodeRun) path() string { return nr.frame.path(nr.node.ID) }

// isSub reports whether the node runs a workflow.
func (nr *nodeRun) isSub() bool { return nr.kind.Name == workflow.SubType }

// startTime begins the node's time. A person who is asked does not use it up.
func (nr *nodeRun) startTime(c *clock) {
	if t := nr.node.Timeout; t != nil && t.Node > 0 && !nr.timed {
		nr.timed = true
		nr.ctx, nr.cancel = c.withTimeout(nr.ctx, time.Duration(t.Node), &node.TimeoutError{After: time.Duration(t.Node)})
	}
}

// attemptTimeout returns the longest that one attempt may take, or 0.
func (nr *nodeRun) attemptTimeout() time.Duration {
	if nr.node.Timeout == nil {
		return 0
	}
	return time.Duration(nr.node.Timeout.Attempt)
}

// attemptContext returns the context of one attempt, which ends with the attempt's time.
func (nr *nodeRun) attemptContext(c *clock) (context.Context, context.CancelFunc) {
	if limit := nr.attemptTimeout(); limit > 0 {
		return c.withTimeout(nr.ctx, limit, &node.TimeoutError{After: limit})
	}
	return nr.ctx, func() {}
}

// timeoutFault returns the fault of a node whose context has ended.
func timeoutFault(ctx context.Context) *fault.Fault {
	if limit, ok := errors.AsType[*node.TimeoutError](context.Cause(ctx)); ok {
		return fault.New(fault.Timeout, "The node %v", limit).Suggest("Give the node a longer \"timeout\", or make it finish sooner")
	}
	return fault.From(context.Cause(ctx))
}

// startedEvent returns the event of an attempt that begins.
func (nr *nodeRun) startedEvent(step plan.Step) *event.Event {
	ev := &event.Event{Event: event.NodeStarted, Node: nr.id(), Type: nr.node.Type, Attempt: step.Attempt, Iteration: step.Iteration}
	if nr.kind.MCP != nil {
		ev.MCP = &event.MCP{Server: nr.kind.MCP.Server, Tool: nr.kind.MCP.Tool}
	}
	return ev
}

// task is one attempt at a node, or at an item of its batch.
type task struct {
	run   *nodeRun
	step  plan.Step
	bound *boundNode
	began time.Time
	span  trace.Span
	// usesSlot reports whether the attempt uses a slot of its own.
	usesSlot bool
	// child is the frame of the sub-workflow that the attempt executes, while that has not ended.
	child *frame
	// degradations are the reasons why the attempt's outputs are not a full success.
	degradations []string
}

// result is how a task ended.
type result struct {
	*task
	node *node.Result
	// kept are the node's outputs as they are written; redacted reports whether they contained a secret.
	kept     json.RawMessage
	redacted bool
	// usage is an object with the output llm_usage, if the outputs are too long to be held in memory.
	usage json.RawMessage
	// missingSecrets reports whether outputs from a checkpoint are among them that miss a secret.
	missingSecrets bool
	// refused reports that the task failed before it began, and would fail again.
	refused bool
	// stopped reports that the task ended because the run stops.
	stopped bool
	// err is why the outputs could not be stored.
	err error
}

// failure returns the result of what failed before it could begin.
func failure(err error) *node.Result {
	return &node.Result{Action: workflow.ActionError, Fault: fault.From(err)}
}

// milliseconds returns a duration as events have it.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
