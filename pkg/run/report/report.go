// Package report writes a run as one HTML page. The page loads nothing, works without scripts, and contains no more of long
// values than can be read. Text of the run stays text: it cannot become markup or code.
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

// Options are what the events of a run do not contain.
type Options struct {
	// Status is the status of a run without a last event: running, interrupted, or empty if it is unknown.
	Status event.Status
	// Now is the time up to which running nodes are shown; zero means the time of the latest event.
	Now time.Time
	// Load loads the run's blobs. Blobs that it cannot load, or all of them if it is nil, are shown by their beginnings.
	Load event.Load
}

// Bounds of a page, so that browsers can open it whatever the run did.
const (
	maxDrawn = 2000     // nodes in the picture
	maxWidth = 2200     // pixels of a picture that is scaled to the width of the page
	maxNodes = 3000     // nodes with a section
	maxRows  = 12_000   // rows of the timeline
	maxItems = 12_000   // items of batches in tables
	maxInner = 500      // nodes shown inside one node
	maxLoad  = 64 << 20 // bytes of blobs
)

// writer writes one page.
type writer struct {
	Options
	run *history.Run
	// workflow is the workflow that ran, or nil if it is unknown.
	workflow   *workflow.Workflow
	definition json.RawMessage
	// anchors holds the ids of nodes' sections in the page, by the nodes' paths.
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
	r := &writer{Options: o, run: h, anchors: map[string]string{}, itemsLeft: maxItems, bytesLeft: maxLoad}
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
	p, err := r.page()
	if err != nil {
		return err
	}
	return write(w, p)
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

// page is the data of the template.
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
	// Fits is set if the picture is readable when it is as wide as the page.
	Fits      bool
	GraphText string
	GraphNote string
	Timeline  *timeline
	Nodes     []*node
	NodesNote string
	// Many is set if there are so many nodes that a browser should lay out only the visible ones.
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
	r.chooseNodes(r.run.Nodes, maxNodes)
	space := &budget{left: 60_000}
	if last != nil {
		if last.Error != nil {
			p.Error = r.failure(last.Error, space)
		}
		p.Resume = oneLine(last.Resume)
		p.Warnings = eachOnOneLine(last.Warnings)
		p.Outputs = r.fields(last.Outputs, space)
	}
	if r.status == interrupted {
		p.Resume = "pflow-exec resume " + p.RunID
	}
	if first != nil {
		p.Inputs = r.fields(first.Inputs, space)
	}
	if err := r.drawGraph(p); err != nil {
		return nil, err
	}
	p.Timeline = r.timeline()
	p.Nodes, p.NodesNote = r.sections(r.run.Nodes, 3)
	p.Many = len(r.anchors) > maxInner
	if r.definition != nil {
		v := r.value(event.Escape(r.definition), &budget{left: 200_000, each: 200_000})
		p.Definition = &v
	}
	return p, nil
}

// counts returns how many of the workflow's own nodes are in each state.
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

// chooseNodes gives nodes a section in the page. If there is not enough room for all, it prefers nodes that failed or have
// not ended.
func (r *writer) chooseNodes(nodes []*history.Node, most int) {
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
			r.chooseNodes(n.Inner, maxInner)
		}
	}
}

// link returns the link to a node's section, or "".
func (r *writer) link(path string) string {
	if id, ok := r.anchors[path]; ok {
		return "#" + id
	}
	return ""
}

// drawGraph adds the graph of the workflow or, if that is unknown, of the nodes alone.
func (r *writer) drawGraph(p *page) error {
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
		p.GraphNote = fmt.Sprintf("The graph is not drawn: it has %s nodes.", thousands(len(w.Nodes)))
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
