package engine

import (
	"context"
	"strings"

	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
)

// recorder writes the events of a run into the journal, and applies those about nodes to the plan of their frame.
type recorder struct {
	journal Journal
	// cancelRun cancels the context of the run.
	cancelRun context.CancelCauseFunc
	// journalErr is why the journal can no longer be written, or nil. After it nothing is written and nothing starts.
	journalErr error
	// usage is the use of language models so far, if no event has it yet, or nil.
	usage *event.Usage
	// carried has the places of the events that were written before their nodes reuse them, by their keys.
	carried map[string]int64
}

// append writes an event. If that fails, the run is aborted.
func (r *recorder) append(ev *event.Event) {
	if r.journalErr != nil {
		return
	}
	if err := r.journal.Append(ev); err != nil {
		r.abort(err)
	}
}

// abort ends the run because the journal cannot be written.
func (r *recorder) abort(err error) {
	r.journalErr = err
	r.cancelRun(err)
}

// record writes an event about a node of a frame, applies it to the plan, and writes the events that follow from it. It
// returns the event's place in the journal.
func (r *recorder) record(fr *frame, ev *event.Event) (at int64) {
	at = r.write(fr, ev)
	for _, next := range fr.plan.Apply(ev) {
		r.write(fr, next)
	}
	return at
}

// write writes an event about a node of a frame and returns its place in the journal. The event and its cause name nodes by
// their ids, the journal by their paths.
func (r *recorder) write(fr *frame, ev *event.Event) (at int64) {
	if len(r.carried) > 0 && ev.FromRun != "" && !ev.Cached {
		key := resume.Place(fr.path(ev.Node), ev)
		if at, ok := r.carried[key]; ok {
			delete(r.carried, key)
			return at
		}
	}
	ev.Usage, r.usage = r.usage, nil
	cause, whole := strings.CutPrefix(ev.Cause, wholePath)
	if fr.prefix == "" && !whole {
		r.append(ev)
		return ev.At
	}
	written := *ev
	written.Node = fr.path(ev.Node)
	if _, ok := fr.Workflow.Node(ev.Cause); whole {
		written.Cause = cause
	} else if ok && ev.Cause != "" {
		written.Cause = fr.path(ev.Cause)
	}
	r.append(&written)
	return written.At
}

// wholePath begins the cause of an event that is a path, and not the id of a node in its frame.
const wholePath = "/"
