package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

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
			from, rest, _ := strings.Cut(read, ".")
			if rest == "" {
				rest = "x"
			}
			reads[add(reader)] = append(reads[reader], "${"+add(from)+"."+rest+"}")
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
		id := queue[0].Node
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
	if got := Unconnected(flow("a>b", "c")); len(got) != 1 || got[0] != "c" {
		t.Errorf("loose: %v", got)
	}
	if got := Unconnected(flow("a", "b")); got != nil {
		t.Errorf("without edges: %v", got)
	}
}

func TestEnds(t *testing.T) {
	p, _ := New(flow("a>b", "a>c:left", "d<a", "e>f"))
	for _, id := range []string{"a", "b", "d", "e", "f"} {
		p.Apply(&event.Event{Event: event.NodeCompleted, Node: id, Action: workflow.ActionDefault})
	}
	if got := fmt.Sprint(p.Leaves()); got != "[b d f]" {
		t.Errorf("ends %s", got)
	}
}

func TestOrder(t *testing.T) {
	p, _ := New(flow("d<c", "a>c", "b>c:x", "b<e"))
	if got := strings.Join(p.Order(), " "); got != "a e b c d" {
		t.Errorf("%s", got)
	}
}
