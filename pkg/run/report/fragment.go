package report

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"strconv"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/graph"
)

// fragment is the data of the template of the same name.
type fragment struct {
	Title, Name, RunID string
	Status             state
	StatusNote         string
	// State is the status in the words of the contract. Live is set while it can change.
	State     string
	Live      bool
	ResumedBy string
	Asks      []*ask
	Actions   []action
	Facts     facts
	Counts    []count
	Error     *failure
	Resume    string

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

func (r *writer) fragment() (*fragment, error) {
	first, last := r.run.Started, r.run.Finished
	f := &fragment{
		Status: r.runState(), StatusNote: r.statusNote(), RunID: oneLine(cmp.Or(r.run.ID(), r.RunID)), Name: "A run", State: oneLine(string(r.status)),
		Live: r.live(), ResumedBy: oneLine(r.ResumedBy), Actions: r.actions(),
	}
	if first != nil && first.Workflow != nil {
		f.Name = cmp.Or(oneLine(first.Workflow.Name), f.Name)
	}
	f.Title = f.Status.Word + ": " + f.Name
	f.Facts = r.facts()
	f.Counts = r.counts()
	r.chooseNodes(r.run.Nodes, r.nodes)
	space := r.budget(r.root)
	f.Asks = r.asks(space)
	if last != nil {
		if last.Error != nil && len(f.Asks) == 0 {
			f.Error = r.failure(last.Error, space)
		}
		if last.Resume != nil {
			f.Resume = oneLine(last.Resume.Call(fault.Shell))
		}
		f.Warnings = eachOnOneLine(last.Warnings)
		f.Outputs = r.fields(last.Outputs, space)
	}
	switch {
	case r.ResumedBy != "" || r.acts:
		f.Resume = ""
	case r.status == interrupted:
		f.Resume = (fault.Step{Do: fault.DoResume, Run: f.RunID}).Call(fault.Shell)
	}
	if first != nil {
		f.Inputs = r.fields(first.Inputs, space)
	}
	if err := r.drawGraph(f); err != nil {
		return nil, err
	}
	f.Timeline = r.timeline()
	f.Nodes, f.NodesNote = r.sections(r.run.Nodes, 3)
	f.Many = len(r.anchors) > maxInner
	if r.definition != nil {
		v := r.value(event.Escape(r.definition), &budget{left: r.whole, each: r.whole, least: r.least})
		f.Definition = &v
	}
	return f, nil
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
	room := min(r.nodes-len(r.anchors), most)
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
			r.chooseNodes(n.Inner, r.inside)
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
func (r *writer) drawGraph(f *fragment) error {
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
	case len(w.Nodes) > r.drawn:
		f.GraphNote = fmt.Sprintf("The graph is not drawn: it has %s nodes.", thousands(len(w.Nodes)))
		return nil
	}
	g := graph.New(w)
	g.Mark(r.run)
	var picture, text bytes.Buffer
	width, err := g.Inline(&picture, r.link)
	if err != nil {
		return err
	}
	f.Fits = width <= maxWidth
	if err := g.Text(&text); err != nil {
		return err
	}
	f.Graph, f.GraphText = template.HTML(picture.String()), visible(text.String()) // the graph escapes all text itself
	return nil
}
