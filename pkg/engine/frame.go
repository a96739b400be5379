package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine/flow"
	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/trace"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// frame is one execution of a workflow: of the run's own, or of one inside a node of another frame.
type frame struct {
	*flow.Flow
	// prefix precedes the ids of its nodes in events: empty, or such as "build/".
	prefix string
	// depth is 0 for the run's own workflow.
	depth int
	// ctx ends with the run, or with the time of the node that the frame is in. cancel releases it.
	ctx    context.Context
	cancel context.CancelFunc
	// stop ends ctx because of a failure.
	stop   context.CancelCauseFunc
	plan   *plan.Plan
	inputs map[string]json.RawMessage
	// owner is the attempt that the frame executes; nil for the run's own workflow.
	owner *task
	// runsOn is the runner of the nodes that name none, or empty for this machine.
	runsOn string
	// priority is the length of the longest chain of nodes behind the owner.
	priority int
	// recalls reports whether what earlier runs did counts here. after is the path of a node before the frame that ran anew, or "".
	recalls bool
	after   string
	// before identifies the nodes that lead to the frame, lineages those that lead to each of its nodes. Both are unknown if the frame is of a
	// node that runs alone.
	before   string
	alone    bool
	lineages map[string]string
	// entering is set while what earlier runs did is taken over. The frame does not end meanwhile.
	entering bool

	// values are the outputs of the settled nodes.
	values map[string]value
	// missingSecrets are the nodes whose value misses a secret.
	missingSecrets map[string]bool
	// written are the outputs as they are written of the settled nodes whose outputs had a secret.
	written map[string]json.RawMessage
	// anew are the nodes in which something was executed or taken from the cache, settled the nodes that a later run can resume
	// from, and order the latter in the order of their settling.
	anew, settled map[string]bool
	order         []string
	// anewBefore has the settled nodes that did not run anew although the node of a path before them did.
	anewBefore map[string]string
	// running are the nodes that have begun and are not settled.
	running map[string]*nodeRun
	// refreshing maps each node that runs again for the secrets in its outputs to the steps that wait for it. parked are the nodes of those
	// steps, and those that are not kept, until they begin.
	refreshing map[string][]plan.Step
	parked     map[string]*nodeRun

	// failure is the first failure that no edge handles, failedNode its node.
	failure    *fault.Fault
	failedNode string
}

// newFrame returns a frame that has not begun.
func newFrame(f *flow.Flow, inputs map[string]json.RawMessage) (*frame, error) {
	p, err := plan.New(f.Workflow)
	if err != nil {
		return nil, err
	}
	return &frame{
		Flow: f, plan: p, lineages: map[string]string{}, anewBefore: map[string]string{}, inputs: inputs, values: map[string]value{}, missingSecrets: map[string]bool{}, written: map[string]json.RawMessage{}, anew: map[string]bool{}, settled: map[string]bool{},
		running: map[string]*nodeRun{}, refreshing: map[string][]plan.Step{}, parked: map[string]*nodeRun{},
	}, nil
}

// stoppable gives the frame a context that ends with another one, or with stop.
func (fr *frame) stoppable(ctx context.Context) { fr.ctx, fr.stop = context.WithCancelCause(ctx) }

// set stores the outputs of a node.
func (fr *frame) set(id string, v value) {
	fr.values[id] = v
	delete(fr.missingSecrets, id)
	if v.missingSecrets {
		fr.missingSecrets[id] = true
	}
}

// ranBefore returns the path of a node that leads to another, or to the frame, and ran anew, or "". What was only put together again, of
// parts that were kept, did not.
func (fr *frame) ranBefore(id string) string {
	for _, source := range fr.plan.Sources(id) {
		switch {
		case fr.settled[source] && fr.anew[source]:
			return fr.path(source)
		case fr.anewBefore[source] != "":
			return fr.anewBefore[source]
		}
	}
	return fr.after
}

// listsFrom returns the path of the node that gives a batch its items, or "" if no node does.
func (fr *frame) listsFrom(nr *nodeRun) string {
	if nr.node.Batch == nil {
		return ""
	}
	if expr, ok := template.Whole(gjson.ParseBytes(nr.node.Batch.Items).Str); ok {
		if ref, single := expr.Ref(); single {
			return fr.path(ref.Root)
		}
	}
	return ""
}

// path returns a node's path, by which events name it.
func (fr *frame) path(id string) string { return fr.prefix + id }

// spanIn returns the span that the frame's nodes are children of: the run's, or that of the attempt which the frame executes.
func (fr *frame) spanIn(run trace.Span) trace.Span {
	if fr.owner == nil {
		return run
	}
	return fr.owner.span
}

// known reports whether a template may begin with a name.
func (fr *frame) known(root string) bool {
	if _, ok := fr.Workflow.Inputs[root]; ok {
		return true
	}
	_, ok := fr.Workflow.Node(root)
	return ok
}

// nodeRun is a node of a frame, from the time when it is asked whether it is kept.
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

// batch is the batch of a node once its items are known.
type batch struct {
	// items are plain JSON, states the states of the items.
	items  []json.RawMessage
	states []itemState
	// busy is how many items have begun and not ended. interrupted reports whether one was stopped before its end.
	busy        int
	interrupted bool
	// stop stops the items that run, because one failed.
	stop context.CancelCauseFunc
	// cached is how many items were taken from the cache, cachedFrom the newest run that they come from.
	cached     int
	cachedFrom string
	// span is the span of the batch. Each attempt at an item has a child of it.
	span trace.Span
	// read are the values that items have read from inputs and other nodes, by root and member.
	read map[[2]string]readValue
}

type readValue struct {
	raw          json.RawMessage
	availability template.Availability
}

// itemState is what is known about an item: what it is bound to while it is tried, and how it ended. There may be very many
// items, so their outputs are not held here: they are read from the journal.
type itemState struct {
	bound  *boundNode
	digest string
	ended  bool
	// at is the place of the item's last event in the journal.
	at int64
	// whole is the item's outputs, if the journal has them without a secret.
	whole json.RawMessage
	fault *fault.Fault
	took  time.Duration
	// missingSecrets reports that the outputs come from an earlier run and miss a secret.
	missingSecrets bool
}

// boundNode is a node, or an item of its batch, whose templates are resolved.
type boundNode struct {
	*node.Call
	// sub is the workflow to run, for a node that runs one.
	sub    *flow.Flow
	digest string
	// key is what the node's key is made of: the digest without what is before the node.
	key string
}

// value is the outputs of a node for the templates that read them, as a value of the stream.
type value struct {
	// raw is what was written, or the whole value where secrets were taken out of that.
	raw json.RawMessage
	// missingSecrets reports that raw misses secrets, because it comes from an earlier run.
	missingSecrets bool
	// failed reports that the node failed and that an edge handles the failure.
	failed bool
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
	// missingSecrets reports whether outputs from an earlier run are among them that miss a secret.
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

// runsOn returns the name of the runner that runs the node, or "" for this machine. The nodes of a sub-workflow have runners of
// their own.
func (nr *nodeRun) runsOn() string {
	name := cmp.Or(nr.node.RunsOn, nr.frame.runsOn)
	if name == settings.LocalRunner || nr.isSub() {
		return ""
	}
	return name
}
