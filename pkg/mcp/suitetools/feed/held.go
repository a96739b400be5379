package feed

import (
	"bytes"
	"time"

	"github.com/tidwall/gjson"
)

const (
	// keptTime is how long a run that has ended is held for a call that may have started it.
	keptTime = 30 * time.Second
	// maxHeld is the most bytes of a run that are held for those who begin to follow it, and maxAllHeld those of all runs.
	maxHeld, maxAllHeld = 1 << 20, 32 << 20
)

// heldRun is a run that goes on, or one that has ended while calls were pending.
type heldRun struct {
	workflow string
	// lines are its events from the first one. They are nil if they are not held, or not all.
	lines []Line
	size  int
	// ended is zero for a run that goes on.
	ended time.Time
}

// pass hands an event to those who follow its run, and holds it if somebody may begin to.
func (r *Feed) pass(l Line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	run := r.runs[l.Run]
	if run == nil {
		run = r.begin(l)
	}
	l.Workflow = run.workflow
	followers, hold := r.followers[l.Run], r.holds(l.Run) && run.lines != nil
	if hold || len(followers) > 0 || l.changes() && len(r.followers[""]) > 0 {
		l.JSON = bytes.Clone(l.JSON)
	}
	if size := len(l.JSON); hold && run.size+size <= maxHeld && r.held+size <= maxAllHeld {
		run.lines = append(run.lines, l)
		run.size += size
		r.held += size
	} else {
		r.drop(run)
	}
	for f := range followers {
		f.add(l)
	}
	if l.changes() {
		for f := range r.followers[""] {
			if !followers[f] {
				f.add(l)
			}
		}
	}
	if l.Ends() {
		run.ended = r.now()
		if r.pending == 0 || run.lines == nil {
			r.forget(l.Run)
		}
	}
}

// changes reports whether a list of runs changes with the line.
func (l Line) changes() bool { return l.Seq == 1 || l.Ends() }

// holds reports whether the events of a run are held: for a call that may have started it, or for those who follow it later.
func (r *Feed) holds(run string) bool {
	return r.holdsAll || r.pending > 0 && len(r.followers[run]) == 0
}

// begin takes note of a run that was not known. Its first event may say that it continues another. The mu must be held.
func (r *Feed) begin(l Line) *heldRun {
	for id, old := range r.runs {
		if !old.ended.IsZero() && r.now().Sub(old.ended) > keptTime {
			r.forget(id)
		}
	}
	run := &heldRun{}
	r.runs[l.Run] = run
	if l.Seq != 1 {
		return run
	}
	run.workflow, run.lines = l.Beginning(), []Line{}
	if from := gjson.GetBytes(l.JSON, "resumed_from").Str; from != "" {
		for f := range r.followers[from] {
			if f.progress {
				r.add(f, l.Run)
			}
		}
	}
	return run
}

// drop forgets the events of a run. The mu must be held.
func (r *Feed) drop(run *heldRun) {
	r.held -= run.size
	run.lines, run.size = nil, 0
}

// forget forgets a run. The mu must be held.
func (r *Feed) forget(id string) {
	r.drop(r.runs[id])
	delete(r.runs, id)
}
