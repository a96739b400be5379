// Package report shows a run as one HTML page that stands alone: it loads nothing, works without scripts, and holds no
// more of long values than can be read. No text of a run is more than text in it.
package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/graph"
)

// Options are what the events of a run do not tell.
type Options struct {
	// Status is how a run without a last event stands: running or interrupted, or empty when nobody knows.
	Status event.Status
	// Now is the time up to which what runs has taken; the zero time is that of the latest event.
	Now time.Time
	// Load fetches the long values of the run. Those that it does not have, and all without it, are shown by their
	// beginnings.
	Load event.Load
}

// Bounds of a page, so that it can be opened whatever the run did.
const (
	maxDrawn = 2000   // nodes in the picture
	maxWidth = 2200   // pixels of a picture that is made as small as the page
	maxNodes = 3000   // nodes with a section of their own
	maxRows  = 12_000 // of the timeline
	maxItems = 12_000 // items of batches in tables
	maxInner = 500    // nodes shown inside one node
	maxLoad  = 64 << 20
)

// writer makes one page.
type writer struct {
	Options
	run *history.Run
	// workflow is what ran, or nil where that cannot be told.
	workflow   *workflow.Workflow
	definition json.RawMessage
	// anchors are the places of nodes in the page, by their paths.
	anchors map[string]string
	// from is when the run began, status how it stands.
	from   time.Time
	status event.Status
	// items are how many may still be shown, load is how many bytes of long values may still be fetched.
	items, load int
}

// Write writes the page of a run, of which any beginning may be known.
func Write(w io.Writer, h *history.Run, o Options) error {
	r := &writer{Options: o, run: h, anchors: map[string]string{}, items: maxItems, load: maxLoad}
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
	r.read()
	p, err := r.page()
	if err != nil {
		return err
	}
	return write(w, p)
}

// read reads the workflow that ran, as far as it can be read.
func (r *writer) read() {
	if r.run.Started == nil || r.run.Started.Workflow == nil {
		return
	}
	plain, err := event.Plain(r.run.Started.Workflow.Definition, r.fetch)
	if err != nil || len(plain) == 0 {
		return
	}
	r.definition = plain
	if file, _ := workflow.Read("workflow.json", plain); file != nil { // what can be read of it is enough
		r.workflow = file.Workflow
	}
}

// page is what the template is filled with.
type page struct {
	Policy string
	Style  template.CSS
	Script template.JS

	Title, Name, RunID string
	Status             state
	StatusNote         string
	Facts              facts
	Counts             []count
	Error              *failure
	Resume             string

	Graph template.HTML
	// Fits says that the picture can still be read when it is as wide as the page.
	Fits      bool
	GraphText string
	GraphNote string
	Timeline  *timeline
	Nodes     []*node
	NodesNote string
	// Many says that there are so many nodes that a browser should lay out only those that are seen.
	Many bool

	Inputs, Outputs []field
	Warnings        []string
	Definition      *value
}

type count struct {
	state
	N string
}

func (r *writer) page() (*page, error) {
	first, last := r.run.Started, r.run.Finished
	p := &page{Status: r.runState(), StatusNote: statusNotes[r.status], RunID: oneLine(r.run.ID())}
	p.Name = "A run"
	if first != nil && first.Workflow != nil {
		p.Name = oneLine(cmp.Or(first.Workflow.Name, p.Name))
	}
	p.Title = p.Status.Word + ": " + p.Name
	p.Facts = r.facts()
	p.Counts = r.counts()
	r.choose(r.run.Nodes, maxNodes)
	space := &allowance{left: 60_000}
	if last != nil {
		if last.Error != nil {
			p.Error = r.failure(last.Error, space)
		}
		p.Resume = oneLine(last.Resume)
		p.Warnings = lines(last.Warnings)
		p.Outputs = r.fields(last.Outputs, space)
	}
	if r.status == interrupted {
		p.Resume = "pflow-exec resume " + p.RunID
	}
	if first != nil {
		p.Inputs = r.fields(first.Inputs, space)
	}
	if err := r.draw(p); err != nil {
		return nil, err
	}
	p.Timeline = r.timeline()
	p.Nodes, p.NodesNote = r.sections(r.run.Nodes, 3)
	p.Many = len(r.anchors) > maxInner
	if r.definition != nil {
		v := r.value(event.Escape(r.definition), &allowance{left: 200_000, each: 200_000})
		p.Definition = &v
	}
	return p, nil
}

// counts are how many of the workflow's own nodes are in each state.
func (r *writer) counts() (counts []count) {
	by := map[string]int{}
	for _, n := range r.run.Nodes {
		by[r.nodeState(n).Class]++
	}
	for _, s := range states {
		if n := by[s.Class]; n > 0 {
			counts = append(counts, count{s, thousands(n)})
		}
	}
	return counts
}

// choose gives nodes their places in the page, as far as there is room: to those that matter most, if not to all.
func (r *writer) choose(nodes []*history.Node, most int) {
	room := min(maxNodes-len(r.anchors), most)
	chosen := map[*history.Node]bool{}
	for _, dull := range []bool{false, true} {
		for _, n := range nodes {
			if len(chosen) < room && (n.State.Ended() && n.State != history.Failed) == dull {
				chosen[n] = true
			}
		}
	}
	for _, n := range nodes {
		if chosen[n] {
			r.anchors[n.Path] = "n" + strconv.Itoa(len(r.anchors))
		}
	}
	for _, n := range nodes {
		if chosen[n] {
			r.choose(n.Inner, maxInner)
		}
	}
}

// link is the address of a node in the page, or nothing.
func (r *writer) link(path string) string {
	if id, ok := r.anchors[path]; ok {
		return "#" + id
	}
	return ""
}

// draw adds the graph, of the workflow or, where that is not known, of the nodes alone.
func (r *writer) draw(p *page) error {
	w := r.workflow
	if w == nil {
		w = &workflow.Workflow{}
		for _, n := range r.run.Nodes {
			w.Nodes = append(w.Nodes, workflow.Node{ID: n.Path})
		}
	}
	switch {
	case len(w.Nodes) == 0:
		return nil
	case len(w.Nodes) > maxDrawn:
		p.GraphNote = fmt.Sprintf("A picture of %s nodes would show nothing.", thousands(len(w.Nodes)))
		return nil
	}
	g := graph.New(w)
	g.Mark(r.run)
	var picture, text bytes.Buffer
	width, err := g.Inline(&picture, r.link)
	if err != nil {
		return err
	}
	p.Fits = width <= maxWidth
	if err := g.Text(&text); err != nil {
		return err
	}
	p.Graph, p.GraphText = template.HTML(picture.String()), visible(text.String()) // the graph escapes all text itself
	return nil
}
