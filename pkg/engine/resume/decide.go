package resume

import (
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Step is what a run may keep: a node, an item of its batch, or an iteration of its loop. It is ready to run.
type Step struct {
	// Node is the path of the node, Place the place of the step: that path, or such as a[0] or a#1.
	Node, Place string
	// Values reports whether the step's result depends on its parameters alone. Else it also depends on files, services and whatever the
	// steps before it did to them.
	Values bool
	// Since is set for a step that has a cache: what it put out later than that is as good as its values, unless a secret is missing, or it was
	// no full success.
	Since time.Time
	// Digest returns what decides about the step as it is now, or "" if that is unknown. Old returns it as the runs of before had it. Only one
	// of them is called, and only if the answer matters.
	Digest, Old func() string
}

// After is the reason that something before a step ran anew: the node of a path.
func After(path string) string { return "after " + path }

// Decide returns the row to keep of a step, or why the step runs. after is the path of a node before the step that ran anew, or "".
// Before a step is what is reached backwards by taken edges and templates, through kept steps and out of the nodes around, and the
// iteration before. The reason is "" in a run that goes on from none.
//
// A finished step is kept if its digest is what it would be now, and, unless the step is one of values, nothing before it ran anew.
func (m *Memory) Decide(s Step, after string) (row Row, keep bool, because string) {
	if m == nil {
		return Row{}, false, ""
	}
	row, finished := m.find(s)
	switch {
	case !finished && m.AskedFor(s.Node, s.Place):
		return Row{}, false, event.AskedFor
	case !finished:
		return Row{}, false, event.Unfinished
	case m.outdated[s.Place] != "" && row.InputDigest == "":
		return Row{}, false, After(m.outdated[s.Place])
	case row.InputDigest == "": // outdated in an earlier run, or its parameters could not be resolved then
		return Row{}, false, event.Unfinished
	}
	s.Values = s.Values || s.caches(row)
	switch {
	case !s.Values && after != "":
		return Row{}, false, After(after)
	case !s.Matches(row.InputDigest):
		return Row{}, false, event.Changed
	}
	return row, true, ""
}

// AskedFor reports whether somebody wishes the step at a place of a node to run.
func (m *Memory) AskedFor(node, place string) bool {
	if m == nil || len(m.forgotten) == 0 {
		return false
	}
	_, asked := m.forgotten[place]
	for around := node; around != "" && !asked; around = event.Enclosing(around) {
		asked = m.forgotten[around]
	}
	return asked
}

// find returns the row of a step: that of the last run, or for a step of values, which nothing before it can make invalid, that of the newest
// run at hand which has one.
func (m *Memory) find(s Step) (Row, bool) {
	row, ok := m.rows[s.Place]
	if ok && !(s.Values && row.InputDigest == "") || !s.Values && s.Since.IsZero() || m.lost[s.Place] || m.AskedFor(s.Node, s.Place) {
		return row, ok
	}
	if older, known := m.older(s.Node, s.Place); known && (s.Values || s.caches(older)) {
		return older, true
	}
	return row, ok
}

// older returns the row at a place of a node in the newest run before this one that has it, unless somebody wished since to run that again.
func (m *Memory) older(node, place string) (row Row, ok bool) {
	for e := m; !ok && e.Earlier != nil && e.Started.ResumedFrom != ""; {
		if e = e.Earlier(e.Started.ResumedFrom); e == nil || e.Reruns(node) != m.Reruns(node) {
			break
		}
		row, ok = e.rows[place]
	}
	return row, ok
}

// caches reports whether a row is as good as what a cache has.
func (s Step) caches(r Row) bool {
	if s.Since.IsZero() {
		return false
	}
	e, err := r.Read()
	return err == nil && e.RanTime().After(s.Since) && !e.Redacted && e.Error == nil && len(e.Warnings) == 0 && (e.Action == "" || e.Action == workflow.ActionDefault)
}

// Matches reports whether the step has the digest that it had in an earlier run.
func (s Step) Matches(had string) bool {
	had, before, current := strings.Cut(had, beforeMark)
	if !current {
		return s.Old() == had
	}
	params, now, _ := strings.Cut(s.Digest(), beforeMark)
	return params == had && (s.Values || now == before || now == "" || before == "")
}

// beforeMark stands in a digest between what identifies the step's own parameters and what identifies the steps before it.
const beforeMark = "."

// Digest returns the digest of a step by the hash of its parameters and that of what is before it, which is "" if it is unknown.
func Digest(params, before string) string { return params + beforeMark + before }

// Stale returns a digest for a step that was kept for its age although something before it ran anew: nothing can be before it as now.
func Stale(digest string) string { return Digest(Params(digest), "stale") }

// Params returns the part of a digest that identifies the step's own parameters.
func Params(digest string) string {
	params, _, _ := strings.Cut(digest, beforeMark)
	return params
}

// Lose strikes out a step whose event or long values cannot be read.
func (m *Memory) Lose(place string) {
	delete(m.rows, place)
	m.lost[place] = true
}

// Outdated returns the node because of which a node is outdated, or "".
func (m *Memory) Outdated(path string) string { return m.outdated[path] }
