package engine

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine/flow"
	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// execution is one run. It is the part that has all the others: it begins the run, says when a step begins, records how it ended, and ends
// the run. Its methods are in run.go, schedule.go, begin.go, settle.go, keep.go, refresh.go, sub.go, alone.go, and preview.go for a dry run.
//
// The states of a node in a frame, and what changes them:
//
//	state      where it is                        leaves it
//	waiting    in the plan                        ready: the plan offers a step, enqueueReady
//	kept       frame.settled                      keepNode: its row is kept, node_reused
//	parked     frame.parked                       activate: its step begins (it is not kept, or waits for refresh)
//	running    frame.running                      settle: completed, failed, cancelled; or refresh: parked
//	asking     running, with asker.open           answered: its attempt is offered; withdraw: cancelled with its frame
//	delayed    running, with nodeRun.delays       delay: the next attempt or iteration is queued
//	settled    in the plan; frame.settled, if     Reopen, if a secret in its outputs is needed
//	           a later run can go on from it
//
// The lock mu protects the whole state of a run: every frame, every plan, and every part except attempts and store. Only the nodes' own work
// happens without it. The goroutine whose node has ended settles that node under the lock and runs the next one itself, so that no other
// goroutine has to be woken between two short nodes.
type execution struct {
	Config
	// ctx is the context of the run, cancelRun cancels it.
	ctx       *lateContext
	cancelRun context.CancelCauseFunc
	clock     *clock
	random    func() uint64

	store       *store
	values      *values
	fan         *fan
	asker       *asker
	attempts    *attempts
	outputCache *outputCache
	output      *outputLimit
	spending    *spending
	warnings    *warnings

	mu      sync.Mutex
	workers sync.WaitGroup
	queue   queue
	// slots is how many slots are in use. A node that is being tried uses one.
	slots int

	// root is the frame of the run's workflow, top the one that is executed: root, or the frame of the only node.
	root, top *frame
	began     time.Time
	// total is the use of language models. usage is total if no event has it yet, or nil.
	nodesExecuted, nodesReused int
	total, usage               *event.Usage
	// journalErr is why the journal can no longer be written, or nil. After it nothing is written and nothing starts.
	journalErr error
	// denied is the fault of a run that a person's answer ended. interrupted reports whether a node was stopped before its end.
	denied      *fault.Fault
	interrupted bool
	// described has the digests of the workflows whose definitions are in the journal.
	described map[string]bool
	// entered has the prefixes of the frames that have begun, forwarded the places in the journal of the events that were written before their
	// nodes are kept, and taken the long values that were taken over, by the paths of their nodes and their references.
	entered   map[string]bool
	forwarded map[string]int64
	taken     map[string]bool
}

// newExecution puts the parts of a run together. stop cancels ctx.
func newExecution(ctx context.Context, stop context.CancelCauseFunc, c Config, top *frame) *execution {
	e := &execution{
		Config: c, ctx: &lateContext{Context: ctx}, cancelRun: stop, clock: newClock(&c), random: c.Rand, root: top, top: top,
		store: &store{journal: c.Journal, redactor: c.Redactor, private: privates{newScratch: c.Journal.NewScratch}}, output: newOutputLimit(c.Workflow.Runtime),
		warnings: &warnings{seen: map[string]bool{}}, described: map[string]bool{}, entered: map[string]bool{}, forwarded: map[string]int64{}, taken: map[string]bool{},
	}
	if e.random == nil {
		e.random = rand.Uint64
	}
	execute, firstRun := c.Execute, c.RunID
	if execute == nil {
		execute = Local(c.Host)
	}
	if c.Memory != nil {
		firstRun = c.Memory.FirstRun()
	}
	top.stoppable(e.ctx)
	top.recalls, top.runsOn = c.Memory != nil, c.Workflow.RunsOn
	e.values = &values{store: e.store, load: c.Load, log: c.Log, workflows: map[*flow.Flow]string{}, oldKeys: c.Memory != nil && c.Memory.Started.KeyVersion == 0}
	e.fan = &fan{values: e.values, store: e.store, warnings: e.warnings}
	e.asker = &asker{
		from: c.Memory, answer: c.Answer, byPerson: c.ByPerson, marked: c.Marked, answers: c.Answers, answeredOnce: map[string]bool{}, open: map[*nodeRun]bool{},
		store: e.store, values: e.values, warnings: e.warnings,
	}
	e.outputCache = &outputCache{cache: c.Cache, ignored: c.NoCache, clock: e.clock, from: c.Memory, only: c.Only, runID: c.RunID, dir: c.Host.Dir, store: e.store, output: e.output, log: c.Log}
	e.spending = &spending{budget: c.Budget, clock: e.clock, before: c.Memory.Spent()}
	e.attempts = &attempts{
		runID: c.RunID, firstRun: firstRun, from: c.Memory, runCtx: e.ctx, dir: c.Host.Dir, env: c.Host.Env, execute: execute,
		store: e.store, output: e.output, spending: e.spending, runners: c.Runners, clock: e.clock, log: c.Log,
	}
	return e
}

// Run executes a run to its end and returns its last event. It returns an error if the journal cannot be written: then
// the journal ends with its last whole line, and there is no last event.
func Run(ctx context.Context, c Config) (*event.Event, error) {
	top, err := newFrame(&c.Flow, c.Inputs)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	e := newExecution(ctx, stop, c, top)
	defer e.ctx.end()
	defer e.spending.end()
	return e.run()
}

// run executes the run and returns its last event.
func (e *execution) run() (*event.Event, error) {
	if e.alone() {
		top, err := e.enterAlone(e.root)
		if err != nil {
			return nil, e.Redactor.Fault(fault.From(err))
		}
		e.top = top
	}
	if err := e.announce(); err != nil {
		return nil, err
	}
	if e.Admit != nil {
		if err := e.Admit(e.ctx.Context); err != nil && e.ctx.Err() == nil {
			return nil, err
		}
	}
	if e.Timeout > 0 {
		e.ctx.limit(e.clock, e.Timeout, func() { e.cancelRun(ErrTimeout) })
	}
	e.spending.begin(e.cancelRun)
	e.began = e.clock.now()
	if e.alone() {
		e.nodesReused += e.forwardAll()
	}
	e.drive(e.top, e.Reused)
	if e.top.cancel != nil {
		e.top.cancel()
	}
	if e.Stopped != nil && (e.interrupted || e.journalErr != nil || e.ctx.Err() != nil) {
		e.Stopped()
	}
	if e.journalErr != nil {
		return nil, e.journalErr
	}
	return e.conclude()
}

// announce writes run_started.
func (e *execution) announce() error {
	inputs, err := rawjson.Marshal(e.root.inputs)
	if err != nil {
		return fault.From(err)
	}
	kept, _, err := e.store.keep(event.Escape(inputs))
	if err != nil {
		return err
	}
	started := e.Started
	if started.Definition, _, err = e.store.keep(event.Escape(started.Definition)); err != nil {
		return err
	}
	workflows := slices.Clone(e.Workflows)
	for i := range workflows { // of several with one digest, the first has the definition
		w := &workflows[i]
		if e.described[w.Digest] {
			w.Definition = nil
			continue
		}
		e.described[w.Digest] = true
		if w.Definition, _, err = e.store.keep(event.Escape(w.Definition)); err != nil {
			return err
		}
	}
	reruns, err := e.Memory.AllReruns()
	if err != nil {
		return fault.From(err)
	}
	if reruns != nil {
		if reruns, _, err = e.store.keep(event.Escape(reruns)); err != nil {
			return err
		}
	}
	ev := &event.Event{
		Event: event.RunStarted, Workflow: &started, Workflows: workflows, Inputs: kept, Nodes: e.root.Workflow.NodeIDs(), Cwd: e.Host.Dir,
		TraceID: e.Span.Trace, SpanID: e.Span.ID, ParentSpanID: e.Span.Parent, Given: e.Given, Origins: e.Origins,
		Again: e.Again, Reruns: reruns, Answers: e.asker.beforehand(), Denied: e.Memory.Denials(), KeyVersion: event.KeyVersion, Budget: e.Budget,
	}
	if from := e.Memory; from != nil {
		ev.ResumedFrom, ev.FirstRun, ev.Spent = from.Run, e.attempts.firstRun, &e.spending.before
		ev.ResumedTraceID, ev.ResumedSpanID = from.Started.TraceID, from.Started.SpanID
	}
	if e.values.oldKeys {
		ev.KeyVersion = 0
	}
	switch {
	case e.KeepGoing:
		ev.OnFailure = "continue"
	case e.StopOnFailure:
		ev.OnFailure = workflow.StopOnFailure
	}
	return e.Journal.Append(ev)
}

// conclude writes run_finished and returns it.
func (e *execution) conclude() (*event.Event, error) {
	last := &event.Event{Event: event.RunFinished, Outputs: json.RawMessage("{}"), Checkpoint: &event.Checkpoint{RunID: e.RunID}}
	cause, err := e.outcome(last)
	if err != nil {
		return nil, err
	}
	if last.Status != event.Paused {
		for _, ev := range e.top.plan.Halt(cause) {
			e.write(e.top, ev)
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
	last.NodesExecuted, last.NodesReused, last.DurationMS = &e.nodesExecuted, &e.nodesReused, &ms
	if text := e.spending.warning(e.total); text != "" {
		e.warnings.add(text)
	}
	last.Warnings, last.Usage = e.store.warnings(e.warnings.texts), e.total
	switch {
	case !last.Status.Succeeded():
		last.Resume = e.resumption(fault.DoResume)
		for _, hint := range e.refreshHints(e.top) {
			last.Error.Suggest("%s", hint)
		}
	case last.Status == event.Degraded && e.warnings.retryable && !e.Resume.Workflow:
		last.Resume = e.resumption(fault.DoRetry)
	}
	last.Error = e.store.redactor.Fault(last.Error)
	if e.append(last); e.journalErr != nil {
		return nil, e.journalErr
	}
	return last, nil
}

// outcome sets the status, the error and the outputs of the run's last event. It returns what the nodes that are not
// settled are cancelled because of.
func (e *execution) outcome(last *event.Event) (cause string, err error) {
	if e.interrupted || e.denied != nil || !e.top.plan.Done() {
		cause = e.cause()
	}
	switch {
	case e.top.failure != nil:
		last.Status, last.Error = event.Failed, e.top.failure
		cause = e.top.failedNode
	case cause == causeTimedOut:
		last.Status = event.TimedOut
		last.Error = fault.New(fault.Timeout, "The run did not end within its %s", e.Timeout).Suggest("Give it a longer timeout")
	case cause == causeBudget:
		last.Status, last.Error = event.Failed, e.usedBudget().fault(e.Resume)
	case cause == causeDenied:
		last.Status, last.Error = event.Denied, e.denied
	case cause != "":
		last.Status, last.Error = event.Cancelled, cancelledFault(context.Cause(e.ctx))
	case len(e.asker.open) > 0:
		last.Status, last.Error = event.Paused, e.asker.fault(e.Resume)
	case !e.top.plan.Done():
		last.Status, last.Error = event.Failed, fault.New(fault.Internal, "The run stopped before all of its nodes had ended").Suggest("Resume it")
	default:
		return "", e.complete(last)
	}
	return cause, nil
}

// resumption returns the step that goes on from the run in one of the ways to do that, or nil if it is not known.
func (e *execution) resumption(do string) *fault.Step {
	if e.Resume.Do == "" {
		return nil
	}
	step := e.Resume
	step.Do = do
	return &step
}

// complete sets the outputs and the status of a run whose nodes are all settled. It returns an error only if the outputs
// cannot be stored.
func (e *execution) complete(last *event.Event) error {
	var outputs json.RawMessage
	var err error
	if e.alone() {
		outputs = e.outputsAlone(e.top)
	} else if outputs, err = e.values.outputs(e.top); err != nil {
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

// append writes an event. If that fails, the run is aborted.
func (e *execution) append(ev *event.Event) {
	if e.journalErr != nil {
		return
	}
	if err := e.Journal.Append(ev); err != nil {
		e.abort(err)
	}
}

// abort ends the run because the journal cannot be written.
func (e *execution) abort(err error) {
	e.journalErr = err
	e.cancelRun(err)
}

// record writes an event about a node of a frame, applies it to the plan, and writes the events that follow from it. It
// returns the event's place in the journal.
func (e *execution) record(fr *frame, ev *event.Event) (at int64) {
	at = e.write(fr, ev)
	for _, next := range fr.plan.Apply(ev) {
		e.write(fr, next)
	}
	return at
}

// write writes an event about a node of a frame and returns its place in the journal. The event and its cause name nodes by
// their ids, the journal by their paths.
func (e *execution) write(fr *frame, ev *event.Event) (at int64) {
	if len(e.forwarded) > 0 && ev.FromRun != "" && !ev.Cached {
		key := resume.Place(fr.path(ev.Node), ev)
		if at, ok := e.forwarded[key]; ok {
			delete(e.forwarded, key)
			return at
		}
	}
	ev.Usage, e.usage = e.usage, nil
	cause, whole := strings.CutPrefix(ev.Cause, wholePath)
	if fr.prefix == "" && !whole {
		e.append(ev)
		return ev.At
	}
	written := *ev
	written.Node = fr.path(ev.Node)
	if _, ok := fr.Workflow.Node(ev.Cause); whole {
		written.Cause = cause
	} else if ok && ev.Cause != "" {
		written.Cause = fr.path(ev.Cause)
	}
	e.append(&written)
	return written.At
}

// wholePath begins the cause of an event that is a path, and not the id of a node in its frame.
const wholePath = "/"

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
func (e *execution) over(fr *frame) bool { return e.ctx.Err() != nil || failedBeside(fr.ctx) != "" }

// halted reports whether no further node of a frame may start.
func (e *execution) halted(fr *frame) bool {
	return e.journalErr != nil || e.over(fr) || e.denied != nil || fr.failure != nil && !e.KeepGoing
}

// Why nodes are cancelled when the cause is not a failed node.
const (
	causeTimedOut  = "timeout"
	causeCancelled = "cancelled"
	causeDenied    = "denied"
	causeBudget    = "budget"
)

// causeIn returns what stopped a frame: what stopped the run, or the path of a failed node, which wholePath marks.
func (e *execution) causeIn(fr *frame) string {
	if failed := failedBeside(fr.ctx); failed != "" && e.ctx.Err() == nil {
		return wholePath + failed
	}
	return e.cause()
}

// cause returns what stopped the run, or "" if nothing but a failed node did.
func (e *execution) cause() string {
	switch over := e.ctx.Err() != nil; {
	case !over && e.denied != nil:
		return causeDenied
	case !over:
		return ""
	case errors.Is(context.Cause(e.ctx), ErrTimeout):
		return causeTimedOut
	case e.usedBudget() != nil:
		return causeBudget
	}
	return causeCancelled
}

// usedBudget returns how the budget of the run is used up, if that has stopped it, or nil.
func (e *execution) usedBudget() *budgetError {
	used, _ := errors.AsType[*budgetError](context.Cause(e.ctx))
	return used
}
