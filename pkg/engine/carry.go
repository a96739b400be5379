package engine

import (
	"strings"

	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// carrier records what the checkpoint has of frames that have not begun yet, such as those of later items of a batch. Without it
// a resume of this run would not find that.
type carrier struct {
	adopter *adopter
	rec     *recorder
	// begun has the prefixes of the frames that have begun.
	begun map[string]bool
}

// carry records it. It is called before anything is executed.
func (c *carrier) carry(top *frame) {
	from := c.adopter.from
	if from == nil {
		return
	}
	for _, r := range from.Rows(func(place string) bool { return c.wanted(top, place) }) {
		c.adopter.carryOver(r, c.rec)
	}
}

// wanted reports whether a record is of a frame that has not begun, inside a running node that takes such records.
func (c *carrier) wanted(top *frame, path string) bool {
	i := strings.LastIndexByte(path, '/')
	if i < 0 || c.begun[path[:i+1]] {
		return false
	}
	id, _, _ := strings.Cut(path, "/")
	id, _, _ = strings.Cut(id, "[")
	id, _, _ = strings.Cut(id, "#")
	if nr := top.running[id]; nr == nil || !nr.recalls || nr.after != "" {
		return false
	}
	from := c.adopter.from
	for ; i >= 0; i = strings.LastIndexByte(path[:i], '/') { // what is around it and finished is reused as a whole
		_, part := from.Row(path[:i])
		_, first := from.Row(resume.Iteration(path[:i], 1))
		_, settled := from.Row(event.Enclosing(path[:i] + "/"))
		if part || first || settled {
			return false
		}
	}
	return true
}

// carryOver records an event of the checkpoint, which is not written again when it is reused.
func (a *adopter) carryOver(r resume.Row, rec *recorder) {
	old := a.event(r.Node, r)
	if old == nil {
		return
	}
	ev := inherited(old, r.Node)
	if r.Settles() {
		ev = reusedEvent(old, r.Node)
		ev.Cached, ev.Outdated, ev.Cause, ev.InputDigest = old.Cached, old.Outdated, old.Cause, r.InputDigest
		if before := a.from.Outdated(r.Node); before != "" {
			ev.Outdated, ev.Cause = true, before
		}
	}
	if rec.append(ev); ev.Outdated {
		return
	}
	if rec.carried == nil {
		rec.carried = map[string]int64{}
	}
	rec.carried[resume.Place(ev.Node, ev)] = ev.At
}

// revoke records that what was carried of the nodes behind one that is executed no longer counts.
func (a *adopter) revoke(nr *nodeRun) {
	if len(a.rec.carried) == 0 || nr.frame.plan.Settled(nr.id()) { // a node that runs again for a secret changes nothing
		return
	}
	for id := range plan.Behind(nr.frame.Workflow, map[string]bool{nr.id(): true}) {
		path := nr.frame.path(id)
		if _, ok := a.rec.carried[path]; ok {
			delete(a.rec.carried, path)
			a.rec.append(&event.Event{Event: event.NodeReused, Node: path, FromRun: a.from.Run, Outdated: true, Cause: nr.path()})
		}
	}
}
