package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// flow makes a workflow from edges such as "a>b" or "a>b:error", readings "b<a", and single nodes.
func flow(lines ...string) *workflow.Workflow {
	w := &workflow.Workflow{}
	reads := map[string][]string{}
	add := func(id string) string {
		if _, ok := w.Node(id); !ok {
			w.Nodes = append(w.Nodes, workflow.Node{ID: id, Type: "echo"})
		}
		return id
	}
	for _, l := range lines {
		if from, to, ok := strings.Cut(l, ">"); ok {
			to, action, _ := strings.Cut(to, ":")
			if action == "" {
				action = workflow.ActionDefault
			}
			w.Edges = append(w.Edges, workflow.Edge{From: add(from), To: add(to), Action: action})
		} else if reader, read, ok := strings.Cut(l, "<"); ok {
			reads[add(reader)] = append(reads[reader], "${"+add(read)+".x}")
		} else if id, ok := strings.CutPrefix(l, "start "); ok {
			w.StartNode = id
		} else {
			add(l)
		}
	}
	for i := range w.Nodes {
		w.Nodes[i].Params, _ = json.Marshal(map[string]any{"data": reads[w.Nodes[i].ID]})
	}
	return w
}

// play runs a plan to its end with the given results ("error" fails a node) and tells what happened, node by node.
func play(t interface{ Fatal(...any) }, w *workflow.Workflow, results map[string]string) string {
	p, err := New(w)
	if err != nil {
		t.Fatal(err)
	}
	var log []string
	for queue := p.Ready(); len(queue) > 0; queue = append(queue, p.Ready()...) {
		id := queue[0]
		queue = queue[1:]
		action := results[id]
		e := &event.Event{Event: event.NodeCompleted, Node: id, Action: action}
		switch action {
		case "":
			e.Action = workflow.ActionDefault
			log = append(log, id)
		case "error":
			e.Event = event.NodeFailed
			log = append(log, id+"!")
		default:
			log = append(log, id+":"+action)
		}
		for _, d := range p.Apply(e) {
			switch d.Event {
			case event.NodeSkipped:
				log = append(log, "-"+d.Node)
			case event.NodeCancelled:
				log = append(log, "x"+d.Node+"("+d.Cause+")")
			}
		}
	}
	if !p.Done() {
		log = append(log, "STUCK")
	}
	return strings.Join(log, " ")
}

func TestPlan(t *testing.T) {
	none := map[string]string{}
	for _, c := range []struct {
		name    string
		flow    []string
		results map[string]string
		want    string
	}{
		{"a chain keeps its order", []string{"a>b", "b>c"}, none, "a b c"},
		{"a join waits for all", []string{"a>c", "b>c"}, none, "a b c"},
		{"no edges: ordered by templates", []string{"b<a", "c<b", "d"}, none, "a d b c"},
		{"the longest chain goes first", []string{"x", "b<a", "c<b"}, none, "a x b c"},
		{"a failure stops what depends on it", []string{"a>b", "b>c", "z>y"}, map[string]string{"a": "error"}, "a! xb(a) xc(a) z y"},
		{"a failure reaches a reader", []string{"b<a"}, map[string]string{"a": "error"}, "a! xb(a)"},
		{"an error edge takes a failure", []string{"a>b", "a>h:error"}, map[string]string{"a": "error"}, "a! -b h"},
		{"an error edge not taken is dead", []string{"a>b", "a>h:error"}, none, "a -h b"},
		{"an action chooses", []string{"a>b:left", "a>c:right", "b>d", "c>d"}, map[string]string{"a": "left"}, "a:left -c b d"},
		{"an action without an edge ends the branch", []string{"a>b", "b>c"}, map[string]string{"a": "other"}, "a:other -b -c"},
		{"a join with one dead branch goes on", []string{"a>b:x", "a>c", "b>d", "c>d"}, none, "a -b c d"},
		{"a join with one blocked branch does not", []string{"a>c", "b>c"}, map[string]string{"a": "error"}, "a! b xc(a)"},
		{"a reading waits but does not route", []string{"a>b", "c>d", "b<c"}, none, "a c b d"},
		{"reading a skipped node", []string{"a>b:x", "a>c", "c<b"}, none, "a -b c"},
		{"a skipped node is skipped whatever it reads", []string{"a>b:x", "f>g", "b<f"}, map[string]string{"f": "error"}, "a f! xg(f) -b"},
		{"start_node takes what it reaches", []string{"a>b", "b>c", "z>c", "start b"}, none, "b c"},
	} {
		got := play(t, flow(c.flow...), c.results)
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestCycleIsNamed(t *testing.T) {
	_, err := New(flow("a>b", "b>c", "c>b", "x>y"))
	if err == nil || !strings.Contains(err.Error(), "b → c → b") && !strings.Contains(err.Error(), "c → b → c") {
		t.Errorf("error %v", err)
	}
}

func TestLoose(t *testing.T) {
	if got := Loose(flow("a>b", "c")); len(got) != 1 || got[0] != "c" {
		t.Errorf("loose: %v", got)
	}
	if got := Loose(flow("a", "b")); got != nil {
		t.Errorf("without edges: %v", got)
	}
}

func TestEnds(t *testing.T) {
	p, _ := New(flow("a>b", "a>c:left", "d<a", "e>f"))
	for _, id := range []string{"a", "b", "d", "e", "f"} {
		p.Apply(&event.Event{Event: event.NodeCompleted, Node: id, Action: workflow.ActionDefault})
	}
	if got := fmt.Sprint(p.Ends()); got != "[b d f]" {
		t.Errorf("ends %s", got)
	}
}

// randomFlow draws a graph whose edges lead forward, with actions and readings.
func randomFlow(t *rapid.T) (*workflow.Workflow, map[string]string) {
	n := rapid.IntRange(1, 12).Draw(t, "nodes")
	var lines []string
	results := map[string]string{}
	id := func(i int) string { return fmt.Sprintf("n%d", i) }
	for i := range n {
		lines = append(lines, id(i))
		results[id(i)] = rapid.SampledFrom([]string{"", "", "", "error", "left"}).Draw(t, "result")
		for j := range i {
			switch rapid.IntRange(0, 9).Draw(t, "link") {
			case 0, 1:
				lines = append(lines, id(j)+">"+id(i))
			case 2:
				lines = append(lines, id(j)+">"+id(i)+":"+rapid.SampledFrom([]string{"error", "left"}).Draw(t, "action"))
			case 3:
				lines = append(lines, id(i)+"<"+id(j))
			}
		}
	}
	return flow(lines...), results
}

// Whatever the graph and the results: the plan never gets stuck, no node is settled twice, none runs before what it
// reads or before all edges to it are decided; and replaying any prefix of the events gives the same state.
func TestPlanProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, results := randomFlow(t)
		p, err := New(w)
		if err != nil {
			t.Fatal(err)
		}
		settled := map[string]bool{}
		var journal []*event.Event
		note := func(e *event.Event) {
			if settled[e.Node] {
				t.Fatalf("%s settled twice", e.Node)
			}
			settled[e.Node] = true
			journal = append(journal, e)
		}
		queue := p.Ready()
		for len(queue) > 0 {
			at := rapid.IntRange(0, len(queue)-1).Draw(t, "next")
			id := queue[at]
			queue = slices.Delete(queue, at, at+1)
			for _, e := range w.Edges {
				if e.To == id && !settled[e.From] {
					t.Fatalf("%s ran before %s", id, e.From)
				}
			}
			for _, from := range p.Sources(id) {
				if !settled[from] {
					t.Fatalf("%s ran before its source %s", id, from)
				}
			}
			e := &event.Event{Event: event.NodeCompleted, Node: id, Action: workflow.ActionDefault}
			if r := results[id]; r == "error" {
				e.Event = event.NodeFailed
			} else if r != "" {
				e.Action = r
			}
			derived := p.Apply(e)
			note(e)
			for _, d := range derived {
				note(d)
			}
			queue = append(queue, p.Ready()...)
		}
		if !p.Done() || len(settled) != len(w.Nodes) {
			t.Fatalf("stuck with %d of %d settled", len(settled), len(w.Nodes))
		}
		cut := rapid.IntRange(0, len(journal)).Draw(t, "cut")
		a, b := replay(t, w, journal[:cut]), replay(t, w, journal[:cut])
		if a != b {
			t.Fatalf("two replays differ:\n%s\n%s", a, b)
		}
		if cut == len(journal) {
			if whole := fmt.Sprint(p.phases()); a != whole {
				t.Fatalf("replayed %s, played %s", a, whole)
			}
		}
	})
}

func replay(t interface{ Fatal(...any) }, w *workflow.Workflow, journal []*event.Event) string {
	p, err := New(w)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range journal {
		p.Apply(e)
	}
	return fmt.Sprint(p.phases())
}

// phases are the nodes' phases, with what is merely ready counted as pending.
func (p *Plan) phases() []phase {
	out := make([]phase, len(p.state))
	for i, s := range p.state {
		out[i] = s.phase
	}
	return out
}
