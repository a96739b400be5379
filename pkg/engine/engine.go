// Package engine drives a plan: it runs what is ready, at most so many nodes at the same time, writes an event for
// everything that happens, and reuses what a checkpoint has already.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/node"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/plan"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/redact"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Record keeps what a run writes. Its methods may be called by several goroutines.
type Record interface {
	// Append writes an event to the journal.
	Append(e *event.Event) error
	// PutBlob keeps content and gives the reference to it, Blob fetches it.
	PutBlob(content []byte) (ref string, err error)
	Blob(ref string) ([]byte, error)
	// Log is where a node's stdout or stderr is kept.
	Log(node, stream string) io.WriteCloser
}

// Config is a run to be executed. The workflow has been checked.
type Config struct {
	RunID    string
	Workflow *workflow.Workflow
	// Started is what run_started says of the workflow.
	Started event.Workflow
	// Inputs are the values of all declared inputs.
	Inputs map[string]json.RawMessage
	// Kinds are the node types in use, by the name the workflow gives them.
	Kinds    map[string]nodetype.Type
	Record   Record
	Redactor *redact.Redactor
	Host     node.Host
	// Jobs is how many nodes run at the same time.
	Jobs int
	// KeepGoing lets what does not depend on a failed node go on.
	KeepGoing bool
	// Timeout ends the run when it is over; 0 is none.
	Timeout time.Duration
	// From is the checkpoint to go on from, or nil.
	From *Checkpoint
	// Reused is called when all that can be taken from the checkpoint stands in this run's record: from then on this run
	// is the one to go on from.
	Reused func()
	// ResumeCommand is the command by which a run that did not succeed goes on.
	ResumeCommand string
	Log           *slog.Logger
}

// ErrTimeout is the cause of a run's context whose Timeout is over.
var ErrTimeout = errors.New("the run's time is over")

// Run executes a run to its end and gives its last event. The error is one of keeping the record: then there is no last
// event, and the journal ends with its last whole line.
func Run(ctx context.Context, c Config) (*event.Event, error) {
	p, err := plan.New(c.Workflow)
	if err != nil {
		return nil, err
	}
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Timeout, ErrTimeout)
		defer cancel()
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	e := &execution{
		Config: c, plan: p, ctx: ctx, stop: stop, began: time.Now(),
		values: map[string]value{}, reused: map[string]bool{}, running: map[string]bool{}, settled: map[string]bool{},
		refreshing: map[string][]string{},
	}
	return e.run()
}

// execution is a run being executed. All but the nodes' own work happens with mu held: the goroutine whose node has ended
// settles it and goes on with the next itself, so that between two short nodes nothing has to be woken up.
type execution struct {
	Config
	mu      sync.Mutex
	workers sync.WaitGroup

	plan  *plan.Plan
	ctx   context.Context
	stop  context.CancelCauseFunc
	began time.Time

	// values is what each settled node put out.
	values map[string]value
	// reused are the nodes taken from the checkpoint, settled those with a checkpoint of their own in this run.
	reused, settled map[string]bool
	order           []string
	// queue holds the nodes that are ready, running those being executed.
	queue   []string
	running map[string]bool
	// refreshing maps a node that runs again for its redacted outputs to those that wait for them.
	refreshing map[string][]string

	executed, reuses int
	root             *fault.Fault // the first failure that no edge took
	failedNode       string
	degraded         bool
	warnings         []string
	cut              bool  // some node was stopped before its end
	broken           error // the record cannot be kept
}

func (e *execution) run() (*event.Event, error) {
	if err := e.announce(); err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.adoptAll()
	e.hand(e.advance())
	e.mu.Unlock()
	e.workers.Wait()
	if e.broken != nil {
		return nil, e.broken
	}
	return e.conclude()
}

// advance brings as many ready nodes on their way as may run, and gives the jobs of those that are to be executed.
func (e *execution) advance() []*job {
	var jobs []*job
	for e.enqueue(); len(e.queue) > 0 && len(e.running) < e.Jobs && !e.halted(); e.enqueue() {
		id := e.queue[0]
		e.queue = e.queue[1:]
		if j := e.begin(id); j != nil {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// hand gives each job a goroutine.
func (e *execution) hand(jobs []*job) {
	for _, j := range jobs {
		e.workers.Go(func() { e.work(j) })
	}
}

// work executes a job, settles it, and goes on with one of those that may start because of it.
func (e *execution) work(j *job) {
	for j != nil {
		r := e.execute(j)
		e.mu.Lock()
		e.finish(r)
		next := e.advance()
		if j = nil; len(next) > 0 {
			j = next[0]
			e.hand(next[1:])
		}
		e.mu.Unlock()
	}
}

// enqueue takes over what the plan has made ready. Those with the longest chain behind them go first.
func (e *execution) enqueue() {
	if fresh := e.plan.Ready(); len(fresh) > 0 {
		e.queue = append(e.queue, fresh...)
		e.sortQueue()
	}
}

func (e *execution) sortQueue() {
	slices.SortStableFunc(e.queue, func(a, b string) int { return e.plan.Rank(b) - e.plan.Rank(a) })
}

// halted says whether no further node may start.
func (e *execution) halted() bool {
	return e.broken != nil || e.ctx.Err() != nil || e.root != nil && !e.KeepGoing
}

// append writes an event. When that fails the run is over: what runs is stopped, and nothing more is started.
func (e *execution) append(ev *event.Event) {
	if e.broken != nil {
		return
	}
	if err := e.Record.Append(ev); err != nil {
		e.broken = err
		e.stop(err)
	}
}

// settle writes a node's last event, applies it, and writes what follows of it.
func (e *execution) settle(ev *event.Event) {
	e.append(ev)
	for _, d := range e.plan.Apply(ev) {
		e.append(d)
	}
}

func (e *execution) announce() error {
	inputs, err := rawjson.Marshal(e.Inputs)
	if err != nil {
		return fault.From(err)
	}
	kept, _, err := e.keep(event.Escape(inputs))
	if err != nil {
		return err
	}
	started := e.Started
	if started.Definition, _, err = e.keep(event.Escape(started.Definition)); err != nil {
		return err
	}
	ev := &event.Event{Event: event.RunStarted, Workflow: &started, Inputs: kept, Nodes: e.Workflow.NodeIDs(), Cwd: e.Host.Dir}
	if e.From != nil {
		ev.ResumedFrom = e.From.Run
	}
	return e.Record.Append(ev)
}

// keep gives a value of the stream as it may be written: without secrets, long parts as references. redacted says that
// a secret was in it.
func (e *execution) keep(raw json.RawMessage) (kept json.RawMessage, redacted bool, err error) {
	kept, redacted = e.Redactor.JSON(raw)
	kept, err = event.Spill(kept, e.Record.PutBlob)
	return kept, redacted, err
}

// conclude writes run_finished.
func (e *execution) conclude() (*event.Event, error) {
	last := &event.Event{Event: event.RunFinished, Outputs: json.RawMessage("{}"), Checkpoint: &event.Checkpoint{RunID: e.RunID}}
	cause := ""
	if e.cut || !e.plan.Done() {
		cause = e.stopCause()
	}
	switch {
	case e.root != nil:
		last.Status, last.Error = event.Failed, e.root
		cause = e.failedNode
	case cause == causeTimedOut:
		last.Status = event.TimedOut
		last.Error = fault.New(fault.Timeout, "The run did not end within its %s", e.Timeout).Suggest("Resume it with a longer --timeout")
	case cause != "":
		last.Status = event.Cancelled
		why := context.Cause(e.ctx)
		last.Error = fault.New(fault.Execution, "The run was cancelled: %v", why).Suggest("Resume it to go on from where it stopped")
		var exit interface{ ExitStatus() int }
		if errors.As(why, &exit) {
			last.Error.Detail("exit_status", exit.ExitStatus())
		}
	default:
		e.succeed(last)
	}
	for _, d := range e.plan.Halt(cause) {
		e.append(d)
	}
	last.Checkpoint.CompletedNodes = append([]string{}, e.order...)
	last.Checkpoint.FailedNode = e.failedNode
	executed, reuses, ms := e.executed, e.reuses, milliseconds(e.began)
	last.NodesExecuted, last.NodesReused, last.DurationMS = &executed, &reuses, &ms
	for _, w := range e.warnings {
		last.Warnings = append(last.Warnings, e.Redactor.Text(w))
	}
	if !last.Status.Succeeded() {
		last.Resume = e.ResumeCommand
	}
	last.Error = e.Redactor.Fault(last.Error)
	e.append(last)
	return last, e.broken
}

// succeed gives the run its outputs and its status.
func (e *execution) succeed(last *event.Event) {
	outputs, redacted, err := e.outputs()
	if err != nil {
		last.Status, last.Error = event.Failed, fault.From(err)
		return
	}
	last.Outputs, last.Redacted = outputs, redacted
	last.Status = event.Completed
	if e.degraded {
		last.Status = event.Degraded
	}
}

// Why nodes are cancelled when no failure is the cause.
const (
	causeTimedOut  = "timeout"
	causeCancelled = "cancelled"
)

func (e *execution) stopCause() string {
	switch {
	case e.ctx.Err() == nil:
		return ""
	case errors.Is(context.Cause(e.ctx), ErrTimeout):
		return causeTimedOut
	}
	return causeCancelled
}

func milliseconds(since time.Time) float64 {
	return float64(time.Since(since).Microseconds()) / 1000
}
