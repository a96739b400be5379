// Package engine drives a plan: it runs what is ready, at most so many nodes at the same time, writes an event for
// everything that happens, and reuses what a checkpoint has already.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/trace"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Journal keeps what a run writes. Its methods may be called by several goroutines.
type Journal interface {
	// Append writes an event to the journal.
	Append(e *event.Event) error
	// Line gives the line of an event that was appended, by its At.
	Line(at int64) ([]byte, error)
	// PutBlob keeps content and gives the reference to it, NewBlob content that is written piece by piece; Blob fetches it.
	PutBlob(content []byte) (ref string, err error)
	NewBlob() (event.Blob, error)
	Blob(ref string) ([]byte, error)
	// Log is where a node's stdout or stderr is kept.
	Log(node, stream string) io.WriteCloser
}

// Cache keeps the outputs of nodes from run to run, as plain JSON. Its methods may be called by several goroutines.
type Cache interface {
	// Get gives what was kept under a key not longer ago than the age, and the run that it came from.
	Get(key string, age time.Duration) (outputs json.RawMessage, run string, ok bool)
	Put(key, run string, outputs json.RawMessage) error
}

// Question is what a person is asked before a node runs.
type Question struct {
	// Node is the node's path.
	Node string
	Text string
	// Choices are the answers there are.
	Choices []string
}

// Config is a run to be executed. The workflow has been checked.
type Config struct {
	RunID string
	// Sub is the workflow.
	Sub
	// Started is what run_started says of the workflow.
	Started event.Workflow
	// Inputs are the values of all declared inputs.
	Inputs   map[string]json.RawMessage
	Journal  Journal
	Redactor *redact.Redactor
	Host     node.Host
	// Span is that of the run; each attempt at a node is one below it.
	Span trace.Span
	// Load finds, reads and checks a workflow that a node names by a template.
	Load func(ref string) (*Sub, error)
	// Ask asks a person and waits for the answer, which is one of the choices, and says who gave it; nil when there is
	// nobody to ask: then the run pauses.
	Ask func(ctx context.Context, q Question) (answer, by string, err error)
	// Answer is the answer to the questions that the run resumed left open or had answered no; empty when there is none.
	Answer string
	// Cache is for nodes that ask for one; nil when there is none.
	Cache Cache
	// Jobs is how many nodes run at the same time.
	Jobs int
	// KeepGoing lets what does not depend on a failed node go on.
	KeepGoing bool
	// Timeout ends the run when it is over; 0 is none.
	Timeout time.Duration
	// From is the checkpoint to go on from, or nil.
	From *Checkpoint
	// Adopt takes a long value of the run resumed over into the record, and says whether it was there to be taken; nil
	// copies what From.Blob gives.
	Adopt func(ref event.Reference) (found bool, err error)
	// Reused is called when all that can be taken from the checkpoint stands in this run's record: from then on this run
	// is the one to go on from. When that cannot be noted the run ends.
	Reused func() error
	// Stopped is called when a run was stopped before its end and its nodes have ended, before its last event says so.
	Stopped func()
	// ResumeCommand is the command by which a run that did not succeed goes on.
	ResumeCommand string
	Log           *slog.Logger
}

// ErrTimeout is the cause of a run's context whose Timeout is over.
var ErrTimeout = errors.New("the run's time is over")

// Run executes a run to its end and gives its last event. The error is one of keeping the record: then there is no last
// event, and the journal ends with its last whole line.
func Run(ctx context.Context, c Config) (*event.Event, error) {
	top, err := newFrame(&c.Sub, c.Inputs)
	if err != nil {
		return nil, err
	}
	top.inherits = c.From != nil
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Timeout, ErrTimeout)
		defer cancel()
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	top.ctx = ctx
	e := &execution{
		Config: c, top: top, ctx: ctx, stop: stop, began: time.Now(), warned: map[string]bool{}, questions: map[*nodeRun]*frame{}, digests: map[*Sub]string{},
	}
	return e.run()
}

// execution is a run being executed. All but the nodes' own work happens with mu held: the goroutine whose node has ended
// settles it and goes on with the next itself, so that between two short nodes nothing has to be woken up.
type execution struct {
	Config
	mu      sync.Mutex
	workers sync.WaitGroup

	top   *frame
	ctx   context.Context
	stop  context.CancelCauseFunc
	began time.Time

	queue queue
	// slots is how many of the run's jobs are taken.
	slots int

	executed, reuses int
	usage            *event.Usage
	degraded         bool
	warnings         []string
	warned           map[string]bool
	interrupted      bool                // some node was stopped before its end
	denied           *fault.Fault        // a person forbade to go on
	questions        map[*nodeRun]*frame // those without an answer, by the node that asks
	digests          map[*Sub]string     // of workflows with all that their nodes run
	journalErr       error               // the record cannot be kept
}

func (e *execution) run() (*event.Event, error) {
	if err := e.announce(); err != nil {
		return nil, err
	}
	e.mu.Lock()
	// Everything that can be is taken from the checkpoint before anything runs: were some of it left for later and this
	// run stopped, a resume of it would not find what the earlier run had completed.
	e.adopt(e.top)
	tasks := e.advance()
	if e.Reused != nil && e.journalErr == nil {
		if err := e.Reused(); err != nil {
			e.abort(err)
			tasks = nil
		}
	}
	e.dispatch(tasks)
	e.mu.Unlock()
	e.workers.Wait()
	if e.Stopped != nil && (e.interrupted || e.journalErr != nil || e.ctx.Err() != nil) {
		e.Stopped()
	}
	if e.journalErr != nil {
		return nil, e.journalErr
	}
	return e.conclude()
}

// advance brings as much on its way as may run, and gives the tasks of what is to be executed.
func (e *execution) advance() []*task {
	var tasks []*task
	for {
		d, ok := e.queue.next(e.slots < e.Jobs)
		switch {
		case !ok:
			return tasks
		case e.journalErr != nil:
		case e.ctx.Err() != nil:
			e.drop(d)
		default:
			if t := e.begin(d); t != nil {
				tasks = append(tasks, t)
			}
		}
	}
}

// dispatch gives each task a goroutine.
func (e *execution) dispatch(tasks []*task) {
	for _, t := range tasks {
		e.workers.Go(func() { e.work(t) })
	}
}

// work executes a task, settles it, and goes on with one of those that may start because of it.
func (e *execution) work(t *task) {
	for t != nil {
		r := e.execute(t)
		e.mu.Lock()
		e.finish(r)
		next := e.advance()
		if t = nil; len(next) > 0 {
			t = next[0]
			e.dispatch(next[1:])
		}
		e.mu.Unlock()
	}
}

// async does something that changes where the run stands, after what takes its time has been waited for.
func (e *execution) async(wait func(), then func()) {
	e.workers.Go(func() {
		wait()
		e.mu.Lock()
		then()
		tasks := e.advance()
		e.mu.Unlock()
		e.dispatch(tasks)
	})
}

// enqueueReady puts what the plan of a frame has made ready into the queue, but for what the checkpoint has.
func (e *execution) enqueueReady(l *frame) {
	for steps := l.plan.Ready(); len(steps) > 0 && e.journalErr == nil; steps = l.plan.Ready() {
		for _, s := range steps {
			if !l.inherits || !e.reuse(l, s) {
				e.push(l, s)
			}
		}
	}
}

// append writes an event. When that fails the run is over: what runs is stopped, and nothing more is started.
func (e *execution) append(ev *event.Event) {
	if e.journalErr != nil {
		return
	}
	if err := e.Journal.Append(ev); err != nil {
		e.abort(err)
	}
}

// abort ends the run because the record cannot be kept.
func (e *execution) abort(err error) {
	e.journalErr = err
	e.stop(err)
}

// record writes an event about a node of a frame, applies it to the plan, and writes what follows of it. It gives the place
// of the event in the journal.
func (e *execution) record(l *frame, ev *event.Event) (at int64) {
	at = e.write(l, ev)
	for _, d := range l.plan.Apply(ev) {
		e.write(l, d)
	}
	return at
}

// write writes an event about a node of a frame, which calls nodes by their ids, and gives its place in the journal.
func (e *execution) write(l *frame, ev *event.Event) (at int64) {
	if l.prefix == "" {
		e.append(ev)
		return ev.At
	}
	told := *ev
	told.Node = l.path(ev.Node)
	if _, ok := l.Workflow.Node(ev.Cause); ok && ev.Cause != "" {
		told.Cause = l.path(ev.Cause)
	}
	e.append(&told)
	return told.At
}

// maxWarnings is how many warnings a run tells of; those beyond are counted.
const maxWarnings = 50

// warn adds a warning to the run's, once.
func (e *execution) warn(text string) {
	if !e.warned[text] {
		e.warned[text] = true
		e.warnings = append(e.warnings, text)
	}
}

// degrade notes why the run is no full success: also with the attempt it happened in, if it did in one, and those around
// it, so that a later run which reuses what they end with is none either.
func (e *execution) degrade(t *task, why string) {
	e.degraded = true
	e.warn(why)
	for ; t != nil; t = t.l.owner {
		for _, reasons := range []*[]string{&t.degradations, &t.a.degradations} {
			if len(*reasons) < maxWarnings && !slices.Contains(*reasons, why) {
				*reasons = append(*reasons, why)
			}
		}
	}
}

// warningTexts are warnings as they are written.
func (e *execution) warningTexts(warnings []string) []string {
	var out []string
	for _, w := range warnings[:min(len(warnings), maxWarnings)] {
		out = append(out, e.Redactor.Text(w))
	}
	if more := len(warnings) - maxWarnings; more > 0 {
		out = append(out, fmt.Sprintf("and %d warnings more", more))
	}
	return out
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
	ev := &event.Event{
		Event: event.RunStarted, Workflow: &started, Inputs: kept, Nodes: e.Workflow.NodeIDs(), Cwd: e.Host.Dir,
		TraceID: e.Span.Trace, SpanID: e.Span.ID, ParentSpanID: e.Span.Parent,
	}
	if e.From != nil {
		ev.ResumedFrom = e.From.Run
	}
	return e.Journal.Append(ev)
}
