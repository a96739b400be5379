package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/node"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// The variables that a node's process finds in its environment. By the first, what has left its process group is found.
const (
	RunVariable     = "PFLOW_RUN_ID"
	NodeVariable    = "PFLOW_NODE_ID"
	AttemptVariable = "PFLOW_ATTEMPT"
)

// job is a node that has started.
type job struct {
	id, digest string
	prepared   *node.Prepared
}

// result is how a job ended, with the node's outputs as they are written.
type result struct {
	id       string
	digest   string
	began    time.Time
	node     *node.Result
	kept     json.RawMessage
	redacted bool
	err      error // of keeping the outputs
}

// begin brings a ready node on its way: it fails for its parameters, or starts and becomes a job.
func (e *execution) begin(id string) *job {
	n, _ := e.Workflow.Node(id)
	kind := e.Kinds[n.Type]
	prepared, err := node.Prepare(n, kind, e.lookup, e.known, e.Workflow.Permissive())
	if err != nil {
		e.append(&event.Event{Event: event.NodeStarted, Node: id, Type: n.Type, Attempt: 1})
		e.executed++
		f := fault.From(err)
		e.settleFailure(&result{id: id, began: time.Now(), node: &node.Result{Fault: f}})
		e.release(id, false)
		return nil
	}
	if stale := e.stale(n); len(stale) > 0 {
		e.refresh(id, stale)
		return nil
	}
	digest := e.digest(n, e.redacted(prepared))
	for _, u := range prepared.Unresolved {
		e.degraded = true
		e.warnings = append(e.warnings, fmt.Sprintf("node %s: template %s not resolved: %s", id, u.Ref, u.Reason))
	}
	started := &event.Event{Event: event.NodeStarted, Node: id, Type: n.Type, Attempt: 1}
	if kind.MCP != nil {
		started.MCP = &event.MCP{Server: kind.MCP.Server, Tool: kind.MCP.Tool}
	}
	e.append(started)
	if e.broken != nil {
		return nil
	}
	e.running[id] = true
	e.executed++
	return &job{id, digest, prepared}
}

// execute runs a node. It is the one part of a run that several goroutines do at the same time.
func (e *execution) execute(j *job) *result {
	id := j.id
	r := &result{id: id, digest: j.digest, began: time.Now()}
	stdout, stderr := e.Redactor.Writer(e.Record.Log(id, "stdout")), e.Redactor.Writer(e.Record.Log(id, "stderr"))
	host := e.Host
	marks := []string{RunVariable + "=" + e.RunID, NodeVariable + "=" + id, AttemptVariable + "=1"}
	host.Env = append(slices.Clip(host.Env), marks...)
	r.node = node.Run(e.ctx, j.prepared, &node.Task{Host: host, Node: id, Marks: marks, Stdout: stdout, Stderr: stderr, Progress: e.progress(id)})
	for _, w := range []io.WriteCloser{stdout, stderr} {
		if err := w.Close(); err != nil {
			e.Log.Warn("a node's log is incomplete", "node", id, "error", err)
		}
	}
	if r.node.Outputs != nil {
		r.kept, r.redacted, r.err = e.keep(r.node.Outputs)
	}
	return r
}

// progress gives what a node tells of its progress to the stream, at most four times a second.
func (e *execution) progress(id string) func(done, total float64, message string) {
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
		_ = e.Record.Append(&event.Event{Event: event.NodeProgress, Node: id, Done: done, Total: total, Message: e.Redactor.Text(message)})
	}
}

// finish settles a job that has ended.
func (e *execution) finish(r *result) {
	delete(e.running, r.id)
	defer func() { e.release(r.id, r.err == nil && r.node.Fault == nil) }()
	switch {
	case r.err != nil:
		e.broken = r.err
		e.stop(r.err)
	case e.ctx.Err() != nil && r.node.Fault != nil:
		e.cut = true
		e.settle(&event.Event{Event: event.NodeCancelled, Node: r.id, Cause: e.stopCause()})
	case r.node.Fault != nil:
		e.settleFailure(r)
	default:
		e.settleSuccess(r)
	}
}

func (e *execution) settleSuccess(r *result) {
	e.remember(r)
	ms := milliseconds(r.began)
	e.checkpointed(r.id)
	e.settle(&event.Event{
		Event: event.NodeCompleted, Node: r.id, Action: r.node.Action, Outputs: r.kept, InputDigest: r.digest,
		Redacted: r.redacted, DurationMS: &ms, Attempt: 1,
	})
	if a := r.node.Action; a != workflow.ActionDefault && !e.plan.Routes(r.id, a) {
		e.warnings = append(e.warnings, fmt.Sprintf("node %s ended with action %q, which no edge takes", r.id, a))
	}
}

func (e *execution) settleFailure(r *result) {
	f := *e.Redactor.Fault(r.node.Fault)
	f.Node = r.id
	handled, retry, ms := e.plan.Handles(r.id), false, milliseconds(r.began)
	ev := &event.Event{
		Event: event.NodeFailed, Node: r.id, Error: &f, Attempt: 1, WillRetry: &retry, Handled: &handled,
		Outputs: r.kept, Redacted: r.redacted, DurationMS: &ms,
	}
	if handled {
		ev.InputDigest, e.degraded = r.digest, true
		e.remember(r)
		e.checkpointed(r.id)
		e.warnings = append(e.warnings, fmt.Sprintf("node %s failed and an error edge took it: %s", r.id, f.Message))
	} else if e.root == nil {
		e.root, e.failedNode = &f, r.id
	}
	e.settle(ev)
}

// checkpointed notes a node among the completed ones.
func (e *execution) checkpointed(id string) {
	if !e.settled[id] {
		e.settled[id] = true
		e.order = append(e.order, id)
	}
}

// digest is the hash of all that decides what a node does: its type, its definition, its resolved parameters. A secret in
// the definition counts by its name and not by its value; in the parameters only that there is one counts, for so it
// stands in the outputs of a checkpoint, which they may come from.
func (e *execution) digest(n *workflow.Node, params json.RawMessage) string {
	h := sha256.New()
	for _, part := range []json.RawMessage{rawjson.Quote(n.Type), e.Redactor.Named(n.Params), params} {
		var buf bytes.Buffer
		if json.Compact(&buf, part) != nil {
			buf.Write(part)
		}
		_, _ = fmt.Fprintf(h, "%d ", buf.Len())
		_, _ = h.Write(buf.Bytes())
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// known says whether a template may begin with a name.
func (e *execution) known(root string) bool {
	if _, ok := e.Workflow.Inputs[root]; ok {
		return true
	}
	_, ok := e.Workflow.Node(root)
	return ok
}
