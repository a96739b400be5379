package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// stale returns the reused nodes from which a node reads a value that misses a secret.
func (e *execution) stale(nr *nodeRun) []string {
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
				scope = e.values.scope(fr)
			}
			v, reason := template.Lookup(u.Ref, scope)
			return reason != "" || missesSecret(v) // a path through the item of a batch cannot be looked up yet
		})
	})
}

// forSecret says why a node runs again, and how it would not.
func forSecret(path, reader string) string {
	return fmt.Sprintf("node %s runs again: its output had a secret, which is not stored, and %s reads it. To have it run once, let %s read what has no secret, "+
		"such as the path of a file with it", path, reader, reader)
}

// refreshHints returns the nodes of a frame that did not end well which a resume runs again for the secrets in their outputs, and says why, as
// hints. The frame's values are not used any more.
func (e *execution) refreshHints(fr *frame) (hints []string) {
	if len(fr.written) == 0 {
		return nil
	}
	for id, kept := range fr.written {
		fr.set(id, value{raw: kept, missingSecrets: true, failed: fr.values[id].failed})
	}
	unfinished := slices.DeleteFunc(fr.plan.Order(), func(id string) bool { return fr.settled[id] || fr.plan.Skipped(id) })
	for i := 0; i < len(unfinished); i++ { // those that run again read others
		n, _ := fr.Workflow.Node(unfinished[i])
		for _, from := range e.stale(&nodeRun{frame: fr, node: n}) {
			if !slices.Contains(unfinished, from) {
				unfinished = append(unfinished, from)
				hints = append(hints, "On a resume "+forSecret(fr.path(from), fr.path(n.ID)))
			}
		}
	}
	return hints
}

// refresh runs stale nodes again, before a step that reads them.
func (e *execution) refresh(nr *nodeRun, step plan.Step, stale []string) {
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
	e.enqueueReady(fr)
}

// release queues the steps that waited for a node to run again, unless they wait for another one too. If the node failed,
// their nodes are cancelled.
func (e *execution) release(fr *frame, id string, succeeded bool) {
	waiting := fr.refreshing[id]
	delete(fr.refreshing, id)
	for _, step := range waiting {
		if !succeeded {
			delete(fr.parked, step.Node)
			for other, steps := range fr.refreshing {
				fr.refreshing[other] = slices.DeleteFunc(steps, func(s plan.Step) bool { return s == step })
			}
			e.record(fr, &event.Event{Event: event.NodeCancelled, Node: step.Node, Cause: id})
			continue
		}
		waits := false
		for _, others := range fr.refreshing {
			waits = waits || slices.Contains(others, step)
		}
		if !waits {
			e.enqueue(fr, step)
		}
	}
}

// missesSecret reports whether a secret was taken out of a value.
func missesSecret(raw json.RawMessage) bool { return bytes.Contains(raw, []byte(redact.Mark)) }
