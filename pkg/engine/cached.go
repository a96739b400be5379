package engine

import (
	"encoding/json"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// fromCache takes a node's outputs from an earlier run, when its author allows that and nothing has changed since.
func (e *execution) fromCache(l *frame, a *nodeRun) bool {
	if a.node.Cache == nil || e.Cache == nil {
		return false
	}
	outputs, run, ok := e.Cache.Get(e.cacheKey(a), time.Duration(a.node.Cache.TTL))
	if !ok {
		return false
	}
	kept, redacted, err := e.keep(event.Escape(outputs))
	if err != nil || redacted {
		return false
	}
	l.set(a.node.ID, value{raw: kept})
	e.reuses++
	e.settle(l, a, &event.Event{
		Event: event.NodeReused, Node: a.node.ID, Action: workflow.ActionDefault, Outputs: kept, InputDigest: a.digest, FromRun: run, Cached: true,
	}, true)
	e.enqueueReady(l)
	e.closeFrame(l)
	return true
}

// store keeps a node's outputs for later runs, unless they lack a secret or are no full success.
func (e *execution) store(a *nodeRun, r *result, outputs json.RawMessage) {
	if a.node.Cache == nil || e.Cache == nil || r.redacted || len(a.degradations) > 0 || r.node.Action != workflow.ActionDefault {
		return
	}
	plain, err := e.plain(outputs)
	if err == nil {
		err = e.Cache.Put(e.cacheKey(a), e.RunID, plain)
	}
	if err != nil {
		e.Log.Warn("a node's outputs are not kept for later runs", "node", a.node.ID, "error", err)
	}
}

// cacheKey is that of a node in the cache: its digest, and the folder that relative paths in it are relative to.
func (e *execution) cacheKey(a *nodeRun) string {
	return hash(rawjson.Quote(a.digest), rawjson.Quote(e.Host.Dir))
}
