package engine

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// stale lists the reused nodes of which a node reads a value that lacks a secret.
func (e *execution) stale(l *frame, a *nodeRun) []string {
	if len(l.missingSecrets) == 0 {
		return nil
	}
	ids := slices.Sorted(maps.Keys(l.missingSecrets))
	var scope template.Scope
	uses, _ := plan.Uses(a.node)
	return slices.DeleteFunc(ids, func(id string) bool {
		return !slices.ContainsFunc(uses, func(u template.Use) bool {
			if u.Ref.Root != id || id == a.node.ID {
				return false
			}
			if scope == nil {
				scope = e.scope(l)
			}
			v, reason := template.Lookup(u.Ref, scope)
			return reason != "" || missesSecret(v) // a path through the item of a batch is not known yet
		})
	})
}

// refresh runs reused nodes again for the secrets in their outputs, before the step that reads them.
func (e *execution) refresh(l *frame, a *nodeRun, s plan.Step, stale []string) {
	delete(l.running, s.Node)
	l.parked[s.Node] = a
	a.cancel() // its time begins anew
	a.ctx, a.cancel, a.timed = l.ctx, func() {}, false
	for _, from := range stale {
		_, already := l.refreshing[from]
		l.refreshing[from] = append(l.refreshing[from], s)
		if !already {
			l.plan.Reopen(from)
		}
	}
	e.enqueueReady(l)
}

// release brings those back into the queue that waited for a node which ran again, once they wait for no other. When
// that node failed they cannot run.
func (e *execution) release(l *frame, id string, succeeded bool) {
	waiters := l.refreshing[id]
	delete(l.refreshing, id)
	for _, w := range waiters {
		if !succeeded {
			delete(l.parked, w.Node)
			e.record(l, &event.Event{Event: event.NodeCancelled, Node: w.Node, Cause: id})
			continue
		}
		waits := false
		for _, others := range l.refreshing {
			waits = waits || slices.Contains(others, w)
		}
		if !waits {
			e.push(l, w)
		}
	}
}

// missesSecret says whether a value misses a secret that was taken out of it.
func missesSecret(raw json.RawMessage) bool { return bytes.Contains(raw, []byte(redact.Mark)) }
