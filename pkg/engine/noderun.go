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
	// ends is when the node's time ends, once it has begun; zero without a limit.
	ends time.Time
	// recalls reports whether what earlier runs did of this node counts, after is the path of a node before it that ran anew, or "", and
	// because why it runs although an earlier run had something of the workflow.
	recalls bool
	after   string
	because string
	// question is set once a person is asked, and answer once the question is answered. withdraw cancels a call of Ask.
	question *Question
	answer   json.RawMessage
	withdraw context.CancelFunc
	// reply is the answer to the question that the node itself has asked, if it was answered.
	reply *node.Answer
	// iteration is the iteration of the node's loop, from 1; carry is what the one before it passes on.
	iteration int
	carry     map[string]json.RawMessage
	// most is the most iterations of the node's loop, once it is known.
	most int
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
	// delays are the waits before announced attempts, by item, and before the next iteration.
	delays map[int]time.Duration
	// degradations are the reasons why the node's outputs are not a full success.
	degradations []string
}

func (nr *nodeRun) id() string { return nr.node.ID }

// path returns the node's path, by which events name it.
func (nr *nodeRun) path() string { return nr.frame.path(nr.node.ID) }

// ranAnew notes that something of the node was executed, or taken from the cache, and so of the nodes around it. An iteration leads to all
// later ones. A node that runs again for the secrets in its outputs changes nothing.
func (nr *nodeRun) ranAnew() {
	for !nr.frame.plan.Settled(nr.id()) {
		nr.frame.anew[nr.id()] = true
		if nr.node.Loop != nil {
			nr.after = nr.path()
		}
		if nr.frame.owner == nil {
			return
		}
		nr = nr.frame.owner.run
	}
}

// isOfValues reports whether the results of the node depend on its parameters alone.
func (nr *nodeRun) isOfValues() bool { return nr.kind.IsOfValues(nr.node.Params) }

// isSub reports whether the node runs a workflow.
func (nr *nodeRun) isSub() bool { return nr.kind.Name == workflow.SubType }

// startTime begins the node's time. A person who is asked does not use it up.
func (nr *nodeRun) startTime(c *clock) {
	if limit := nr.nodeTimeout(); limit > 0 && nr.ends.IsZero() {
		nr.ends = c.now().Add(limit)
		nr.ctx, nr.cancel = c.withTimeout(nr.ctx, limit+nr.grace(), &node.TimeoutError{After: limit})
	}
}

// nodeTimeout returns the longest that the node may take in all, or 0.
func (nr *nodeRun) nodeTimeout() time.Duration {
	if nr.node.Timeout == nil {
		return 0
	}
	return time.Duration(nr.node.Timeout.Node)
}

// attemptTimeout returns the longest that the attempt may take, or 0. It is written beside the parameters, or among them.
func (t *task) attemptTimeout() time.Duration {
	if limit := t.run.node.Timeout; limit != nil && limit.Attempt > 0 {
		return time.Duration(limit.Attempt)
	}
	return t.bound.Timeout
}

// grace returns how much longer than its time a node may take: a program that keeps the limit by itself has outputs when it
// ends.
func (nr *nodeRun) grace() time.Duration {
	if param, ok := nr.kind.Param(nodetype.TimeoutParam); ok && param.Type == nodetype.DurationType && nr.kind.Program != "" {
		return 5 * time.Second
	}
	return 0
}

// timeLeft returns the longest that the attempt may take by the timeout beside the node's parameters, or 0. The first attempt has all
// of the node's time, also if it begins late on a busy machine: a program names its limit when it keeps it.
func (t *task) timeLeft(now time.Time) time.Duration {
	left := t.attemptTimeout()
	if ends := t.run.ends; !ends.IsZero() {
		rest := t.run.nodeTimeout()
		if t.step.Attempt > 1 || t.step.Iteration > 1 || t.step.Item > 0 {
			const step = 100 * time.Millisecond
			rest = max(step, ends.Sub(now).Round(step))
		}
		if left == 0 || rest < left {
			left = rest
		}
	}
	return left
}

// attemptContext returns the context of the attempt, which ends with the attempt's time.
func (t *task) attemptContext(c *clock) (context.Context, context.CancelFunc) {
	limit := t.attemptTimeout()
	if limit <= 0 {
		return t.run.ctx, func() {}
	}
	return c.withTimeout(t.run.ctx, limit+t.run.grace(), &node.TimeoutError{After: limit})
}

// timedOut reports whether the node's time has ended.
func (nr *nodeRun) timedOut() bool {
	_, limit := errors.AsType[*node.TimeoutError](context.Cause(nr.ctx))
	return limit
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
	if ev.RunsOn = nr.runsOn(); step.Attempt <= 1 {
		ev.Because = nr.because
	}
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
	// unhandled reports that no error edge takes the failure, because the workflow itself is wrong.
	unhandled bool
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
