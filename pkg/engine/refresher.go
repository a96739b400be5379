package engine

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// refresher runs reused nodes again for the secrets in their outputs, which a checkpoint misses.
type refresher struct {
	sched  *scheduler
	rec    *recorder
	binder *binder
}

// stale returns the reused nodes from which a node reads a value that misses a secret.
func (r *refresher) stale(nr *nodeRun) []string {
	fr := nr.frame
	if len(fr.missingSecrets) == 0 {
		return nil
	}
	ids := slices.Sorted(maps.Keys(fr.missingSecrets))
	var scope template.Scope
	uses, _ := plan.Uses(nr.node)
	return slices.DeleteFunc(ids, func(id string) bool {
		return !slices.ContainsFunc(uses, func(u template.Use) bool {
			if u.Ref.Root != id || id == nr.id() {
				return false
			}
			if scope == nil {
				scope = r.binder.scope(fr)
			}
			v, reason := template.Lookup(u.Ref, scope)
			return reason != "" || missesSecret(v) // a path through the item of a batch cannot be looked up yet
		})
	})
}

// refresh runs stale nodes again, before a step that reads them.
func (r *refresher) refresh(nr *nodeRun, step plan.Step, stale []string) {
	fr := nr.frame
	delete(fr.running, step.Node)
	fr.parked[step.Node] = nr
	nr.cancel() // its time begins anew
	nr.ctx, nr.cancel, nr.ends = fr.ctx, func() {}, time.Time{}
	for _, from := range stale {
		_, already := fr.refreshing[from]
		fr.refreshing[from] = append(fr.refreshing[from], step)
		if !already {
			fr.plan.Reopen(from)
		}
	}
	r.sched.enqueueReady(fr)
}

// release queues the steps that waited for a node to run again, unless they wait for another one too. If the node failed,
// their nodes are cancelled.
func (r *refresher) release(fr *frame, id string, succeeded bool) {
	waiting := fr.refreshing[id]
	delete(fr.refreshing, id)
	for _, step := range waiting {
		if !succeeded {
			delete(fr.parked, step.Node)
			r.rec.record(fr, &event.Event{Event: event.NodeCancelled, Node: step.Node, Cause: id})
			continue
		}
		waits := false
		for _, others := range fr.refreshing {
			waits = waits || slices.Contains(others, step)
		}
		if !waits {
			r.sched.enqueue(fr, step)
		}
	}
}

// missesSecret reports whether a secret was taken out of a value.
func missesSecret(raw json.RawMessage) bool { return bytes.Contains(raw, []byte(redact.Mark)) }
