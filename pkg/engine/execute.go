package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/trace"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// The variables that a node's process finds in its environment. By the first, what has left its process group is found;
// all of them together are those of one attempt alone.
const (
	RunVariable       = "PFLOW_RUN_ID"
	NodeVariable      = "PFLOW_NODE_ID"
	AttemptVariable   = "PFLOW_ATTEMPT"
	ItemVariable      = "PFLOW_ITEM"
	IterationVariable = "PFLOW_ITERATION"
)

// Variables are all of them.
var Variables = []string{RunVariable, NodeVariable, AttemptVariable, ItemVariable, IterationVariable}

// result is how a task ended, with the node's outputs as they are written.
type result struct {
	*task
	node           *node.Result
	kept           json.RawMessage
	redacted       bool
	missingSecrets bool  // what was taken from a checkpoint lacks a secret
	refused        bool  // it failed before it could be tried, and would again
	stopped        bool  // it ended because the run does not go on
	err            error // of keeping the outputs
}

// execute runs a task. It is the one part of a run that several goroutines do at the same time.
func (e *execution) execute(t *task) *result {
	path := t.l.path(t.a.node.ID)
	stdout, stderr := e.log(t, path, "stdout"), e.log(t, path, "stderr")
	host := e.Host
	marks := []string{RunVariable + "=" + e.RunID, NodeVariable + "=" + path, AttemptVariable + "=" + strconv.Itoa(t.step.Attempt)}
	if t.step.Item >= 0 {
		marks = append(marks, ItemVariable+"="+strconv.Itoa(t.step.Item))
	}
	if t.step.Iteration > 0 {
		marks = append(marks, IterationVariable+"="+strconv.Itoa(t.step.Iteration))
	}
	host.Env = append(slices.Concat(host.Env, marks), trace.Variable+"="+t.span.String())
	ctx, cancel := e.attemptContext(t)
	defer cancel()
	r := &result{task: t}
	r.node = node.Run(ctx, t.bound.Call, &node.Task{
		Host: host, Node: path, Marks: marks, Stdout: stdout, Stderr: stderr, Capture: e.capture, Progress: e.progress(path, t.step),
		Place: t.place(),
	})
	if ctx.Err() != nil && e.ctx.Err() == nil && r.node.Fault != nil && r.node.Fault.Type != fault.Timeout {
		r.node.Fault = e.timeoutFault(ctx)
	}
	for _, w := range []io.Closer{stdout, stderr} {
		if err := w.Close(); err != nil {
			e.Log.Warn("a node's log is incomplete", "node", path, "error", err)
		}
	}
	r.node.Action = e.Redactor.Text(r.node.Action) // a node may choose any text
	r.err = r.node.StoreErr
	if r.node.Outputs != nil {
		r.kept, r.redacted, r.err = e.keep(r.node.Outputs)
	}
	return r
}

// place tells where in the workflow's file what a node's parameters say stands.
func (t *task) place() func(param string, offset int) (file string, line, column int) {
	file := t.l.File
	if file == nil {
		return nil
	}
	return func(param string, offset int) (string, int, int) {
		i := slices.IndexFunc(t.l.Workflow.Nodes, func(n workflow.Node) bool { return n.ID == t.a.node.ID })
		line, column := file.PlaceIn(fmt.Sprintf("nodes[%d].params.%s", i, param), offset)
		return file.Name, line, column
	}
}

// log is where what a node says is kept without secrets. What goes wrong there is told when it is closed, and stops
// nothing. What items of a batch say at the same time comes in whole lines.
func (e *execution) log(t *task, path, stream string) *nodeLog {
	file := e.Journal.Log(path, stream)
	k := &nodeLog{file: file}
	k.clean = e.Redactor.Writer(file)
	if t.step.Item >= 0 {
		k.lines = &lines{to: file}
		k.clean = e.Redactor.Writer(k.lines)
	}
	return k
}

type nodeLog struct {
	clean io.WriteCloser
	lines *lines
	file  io.Closer
	err   error
}

// Write never fails.
func (k *nodeLog) Write(p []byte) (int, error) {
	if k.err == nil {
		_, k.err = k.clean.Write(p)
	}
	return len(p), nil
}

// Close gives the first error that there was.
func (k *nodeLog) Close() error {
	if k.err == nil {
		k.err = k.clean.Close()
	}
	if k.err == nil && k.lines != nil {
		k.err = k.lines.end()
	}
	return errors.Join(k.err, k.file.Close())
}

// lines passes on whole lines, those that are not very long.
type lines struct {
	to   io.Writer
	rest []byte
}

const longLine = 64 << 10

// Write passes on what has come of whole lines.
func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	end := bytes.LastIndexByte(l.rest, '\n') + 1
	if end == 0 && len(l.rest) >= longLine {
		end = len(l.rest)
	}
	if end == 0 {
		return len(p), nil
	}
	_, err := l.to.Write(l.rest[:end])
	l.rest = append(l.rest[:0], l.rest[end:]...)
	return len(p), err
}

// end ends the last line.
func (l *lines) end() error {
	if len(l.rest) == 0 {
		return nil
	}
	_, err := l.to.Write(append(l.rest, '\n'))
	return err
}

// capture is what the output of a node's process is collected in.
func (e *execution) capture() *event.Capture {
	return &event.Capture{New: e.Journal.NewBlob, Redact: func(w io.Writer) event.Redacting { return e.Redactor.Writer(w) }}
}

// attemptContext bounds the time of an attempt.
func (e *execution) attemptContext(t *task) (context.Context, context.CancelFunc) {
	if limit := t.a.node.Timeout; limit != nil && limit.Attempt > 0 {
		return context.WithTimeoutCause(t.a.ctx, time.Duration(limit.Attempt), &node.TimeoutError{After: time.Duration(limit.Attempt)})
	}
	return t.a.ctx, func() {}
}

// timeoutFault is the fault of a node whose time is over.
func (e *execution) timeoutFault(ctx context.Context) *fault.Fault {
	if limit, ok := errors.AsType[*node.TimeoutError](context.Cause(ctx)); ok {
		return fault.New(fault.Timeout, "The node %v", limit).Suggest("Give the node a longer \"timeout\", or make it finish sooner")
	}
	return fault.From(context.Cause(ctx))
}

// maxMessage is how many bytes of a node's own words about its progress are told.
const maxMessage = 1000

// progress gives what a node tells of its progress to the stream, at most four times a second.
func (e *execution) progress(path string, s plan.Step) func(done, total float64, message string) {
	var mu sync.Mutex
	var last time.Time
	return func(done, total float64, message string) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(last) < 250*time.Millisecond {
			return
		}
		last = time.Now()
		// A journal that cannot be written shows at the node's end too.
		_ = e.Journal.Append(&event.Event{
			Event: event.NodeProgress, Node: path, Iteration: s.Iteration, Item: itemOf(s), Done: done, Total: total, Message: fault.Truncate(e.Redactor.Text(message), maxMessage),
		})
	}
}

func itemOf(s plan.Step) *int {
	if s.Item < 0 {
		return nil
	}
	return &s.Item
}
