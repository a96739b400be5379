// Package report writes a run as HTML: as a page of its own, or as the fragment that the page, the MCP App and other shells show. The
// fragment loads nothing, works without scripts, and contains no more of long values than can be read. Text of the run stays text: it
// cannot become markup or code.
package report

import (
	"cmp"
	"encoding/json"
	"io"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/run/params"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Options are what the events of a run do not contain.
type Options struct {
	// RunID is the id of a run that has no events yet.
	RunID string
	// Status is the status of a run without a last event, such as running, queued or interrupted. It is empty if it is unknown.
	Status event.Status
	// ResumedBy is the run that continues this one, or "".
	ResumedBy string
	// Now is the time up to which running nodes are shown; zero means the time of the latest event.
	Now time.Time
	// Load loads the run's blobs. Blobs that it cannot load, or all of them if it is nil, are shown by their beginnings.
	Load event.Load
	// MaxBytes is the most bytes of the result; 0 sets no limit. Less of a long run is shown then.
	MaxBytes int
}

// writer writes one run.
type writer struct {
	Options
	limits
	// acts is set if a shell can send what a person clicks.
	acts bool
	run  *history.Run
	// workflow is the workflow that ran, or nil if it is unknown.
	workflow   *workflow.Workflow
	definition json.RawMessage
	// recorded has the definitions of the nodes and the values in their parameters.
	recorded *params.Reader
	// anchors holds the ids of nodes' sections, by the nodes' paths.
	anchors map[string]string
	// from is the start of the run, status its status.
	from   time.Time
	status event.Status
	// itemsLeft is the number of items that may still be shown, bytesLeft the number of bytes of blobs that may still be
	// loaded.
	itemsLeft, bytesLeft int
}

// Write writes the page of a run, which may be incomplete.
func Write(w io.Writer, h *history.Run, o Options) error {
	return fit(w, o.MaxBytes, func(out io.Writer, l limits) error {
		f, err := newWriter(h, o, l).fragment()
		if err != nil {
			return err
		}
		return writePage(out, f)
	})
}

// WriteFragment writes the run as an element <article class="run">, for a page that has the rules of Style. Elements with the attribute
// data-action are buttons that the page's script turns into calls: cancel, resume, and answer.
func WriteFragment(w io.Writer, h *history.Run, o Options) error {
	return fit(w, o.MaxBytes, func(out io.Writer, l limits) error {
		r := newWriter(h, o, l)
		r.acts = true
		f, err := r.fragment()
		if err != nil {
			return err
		}
		return templates().ExecuteTemplate(out, "fragment", f)
	})
}

func newWriter(h *history.Run, o Options, l limits) *writer {
	r := &writer{Options: o, limits: l, run: h, anchors: map[string]string{}, itemsLeft: l.items, bytesLeft: maxLoad}
	if r.Now.Before(h.Time) {
		r.Now = h.Time
	}
	r.from, r.status = h.Time, r.Status
	if h.Started != nil {
		r.from = h.Started.Time
	}
	if h.Finished != nil {
		r.status, r.Now = cmp.Or(h.Finished.Status, refused), h.Finished.Time
	}
	r.readWorkflow()
	r.recorded = params.New(h, r.workflow, r.fetch)
	return r
}

// readWorkflow reads the workflow that ran, as far as possible.
func (r *writer) readWorkflow() {
	if r.run.Started == nil || r.run.Started.Workflow == nil {
		return
	}
	plain, err := event.Plain(r.run.Started.Workflow.Definition, r.fetch)
	if err != nil || len(plain) == 0 {
		return
	}
	r.definition = plain
	if file, _ := workflow.Read("workflow.json", plain); file != nil { // a workflow with faults is shown too
		r.workflow = file.Workflow
	}
}
