package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/node"
	"github.com/pflow-suite/pflow/pkg/redact"
	"github.com/pflow-suite/pflow/pkg/template"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Checkpoint is how far an earlier run came, read from its events.
type Checkpoint struct {
	Run     string
	Started *event.Event
	// Settled are the last words of the nodes that came through, by id.
	Settled map[string]*event.Event
	// Blob fetches the run's long values.
	Blob event.Load
}

// ReadCheckpoint reads the events of one run, whole or any beginning of them.
func ReadCheckpoint(r io.Reader, blob event.Load) (*Checkpoint, error) {
	c := &Checkpoint{Settled: map[string]*event.Event{}, Blob: blob}
	events := event.NewReader(r)
	for {
		e, _, err := events.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		switch {
		case e.Event == event.RunStarted:
			if c.Started != nil {
				return nil, fault.New(fault.Usage, "The event stream holds more than one run").Suggest("Give the events of one run")
			}
			c.Run, c.Started = e.Run, e
		case e.Settles():
			c.Settled[e.Node] = e
		}
	}
	if c.Started == nil {
		return nil, fault.New(fault.Usage, "The event stream does not begin with run_started: there is nothing to resume").
			Suggest("Run the workflow anew")
	}
	return c, nil
}

// adoptAll takes everything from the checkpoint that can be, before anything runs: were some of it left for later and
// this run stopped, a resume of it would not find what the earlier run had completed.
func (e *execution) adoptAll() {
	if e.From == nil {
		return
	}
	var left []string
	for ready := e.plan.Ready(); len(ready) > 0 && e.broken == nil; ready = e.plan.Ready() {
		for _, id := range ready {
			n, _ := e.Workflow.Node(id)
			prepared, err := node.Prepare(n, e.Kinds[n.Type], e.lookup, e.known, e.Workflow.Permissive())
			if err != nil || !e.reuse(id, e.digest(n, e.redacted(prepared))) {
				left = append(left, id)
			}
		}
	}
	e.queue = left
	e.sortQueue()
	if e.Reused != nil && e.broken == nil {
		e.Reused()
	}
}

// redacted are a node's parameters without secrets. What stands under a secret's name is one from here on.
func (e *execution) redacted(p *node.Prepared) json.RawMessage {
	params, _ := e.Redactor.JSON(p.Params)
	return params
}

// reuse takes a node from the checkpoint when nothing that decides about it has changed.
func (e *execution) reuse(id, digest string) bool {
	old, ok := e.From.Settled[id]
	if !ok || old.InputDigest != digest || slices.ContainsFunc(e.plan.Sources(id), func(from string) bool { return !e.reused[from] }) {
		return false
	}
	ev := &event.Event{
		Event: event.NodeReused, Node: id, Action: old.Action, Outputs: old.Outputs, InputDigest: digest,
		Redacted: old.Redacted, FromRun: old.Run,
	}
	if old.Event == event.NodeFailed {
		if !e.plan.Handles(id) {
			return false
		}
		ev.Action, ev.Error, e.degraded = workflow.ActionError, old.Error, true
		e.warnings = append(e.warnings, "node "+id+" failed in run "+old.Run+" and an error edge took it")
	}
	if old.FromRun != "" {
		ev.FromRun = old.FromRun
	}
	if err := e.adopt(old.Outputs); err != nil {
		e.Log.Warn("a completed node runs again: a long value that it put out is missing", "node", id, "error", err)
		return false
	}
	e.values[id] = value{raw: old.Outputs, redacted: old.Redacted}
	if old.Outputs == nil {
		e.values[id] = value{raw: json.RawMessage("{}")}
	}
	e.reused[id] = true
	e.reuses++
	e.checkpointed(id)
	e.settle(ev)
	return true
}

// adopt copies the long values of an earlier run's outputs into this run's record, so that it stands alone.
func (e *execution) adopt(outputs json.RawMessage) error {
	if !bytes.Contains(outputs, []byte(`"$blob"`)) {
		return nil
	}
	var failed error
	var visit func(v gjson.Result)
	visit = func(v gjson.Result) {
		if ref, ok := event.ReferenceOf(json.RawMessage(v.Raw)); ok {
			content, err := e.From.Blob(ref.Blob)
			if err == nil {
				_, err = e.Record.PutBlob(content)
			}
			if err != nil {
				failed = err
				return
			}
			if json.Valid(content) {
				visit(gjson.ParseBytes(content))
			}
			return
		}
		if v.IsObject() || v.IsArray() {
			v.ForEach(func(_, item gjson.Result) bool { visit(item); return failed == nil })
		}
	}
	visit(gjson.ParseBytes(outputs))
	return failed
}

// stale lists the reused nodes of which a node reads a value that lacks a secret.
func (e *execution) stale(n *workflow.Node) []string {
	var ids []string
	uses, _ := template.Uses(n.Params)
	for _, u := range uses {
		id := u.Ref.Root
		if !e.values[id].redacted || slices.Contains(ids, id) {
			continue
		}
		if v, reason := template.Lookup(u.Ref, e.lookup); reason == "" && bytes.Contains(v, []byte(redact.Mark)) {
			ids = append(ids, id)
		}
	}
	return ids
}

// refresh runs reused nodes again for the secrets in their outputs, before the node that reads them.
func (e *execution) refresh(id string, stale []string) {
	for _, from := range stale {
		waiters, already := e.refreshing[from]
		e.refreshing[from] = append(waiters, id)
		if !already {
			e.queue = append([]string{from}, e.queue...)
		}
	}
}

// release brings those back into the queue that waited for a node which ran again, once they wait for no other. When
// that node failed they cannot run.
func (e *execution) release(id string, succeeded bool) {
	waiters := e.refreshing[id]
	delete(e.refreshing, id)
	for _, w := range waiters {
		if !succeeded {
			e.settle(&event.Event{Event: event.NodeCancelled, Node: w, Cause: id})
			continue
		}
		waits := false
		for _, others := range e.refreshing {
			waits = waits || slices.Contains(others, w)
		}
		if !waits && !slices.Contains(e.queue, w) {
			e.queue = append(e.queue, w)
		}
	}
}
