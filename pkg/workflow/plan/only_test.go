package plan_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
)

// diamond has a branch for failures, and a node that only reads.
const diamond = `{"nodes":[
	{"id":"a","type":"echo"},{"id":"b","type":"echo"},{"id":"help","type":"echo"},{"id":"c","type":"echo"},
	{"id":"reader","type":"echo","params":{"data":"${b.data}"}},{"id":"apart","type":"echo"},{"id":"last","type":"echo"}],
	"edges":[{"from":"a","to":"b"},{"from":"b","to":"c"},{"from":"b","to":"help","action":"error"},{"from":"c","to":"last"},{"from":"apart","to":"last"},{"from":"last","to":"reader"}]}`

func parsed(t *testing.T, definition string) *workflow.Workflow {
	t.Helper()
	file, err := workflow.Parse("w.json", []byte(definition))
	if err != nil {
		t.Fatal(err)
	}
	return file.Workflow
}

func TestBehind(t *testing.T) {
	w := parsed(t, diamond)
	for from, want := range map[string]string{
		"a": "b c help last reader", "b": "c help last reader", "help": "", "c": "last reader", "reader": "", "apart": "last reader", "last": "reader",
		"help c": "last reader", "a b": "b c help last reader", "nowhere": "",
	} {
		ids := map[string]bool{}
		for id := range strings.FieldsSeq(from) {
			ids[id] = true
		}
		if got := strings.Join(slices.Sorted(maps.Keys(plan.Behind(w, ids))), " "); got != want {
			t.Errorf("behind %s: %s, want %s", from, got, want)
		}
	}
}

func TestOnly(t *testing.T) {
	w := parsed(t, diamond)
	for _, id := range w.NodeIDs() {
		p := plan.Only(w, id)
		steps := p.Ready()
		if len(steps) != 1 || steps[0].Node != id || p.Done() {
			t.Fatalf("%s: %+v", id, steps)
		}
		if id == "b" && p.Handles(id) {
			t.Error("the failure of the only node is handled")
		}
		p.Apply(&event.Event{Event: event.NodeStarted, Node: id, Attempt: 1})
		if more := p.Apply(&event.Event{Event: event.NodeCompleted, Node: id, Action: "default"}); len(more) != 0 || len(p.Ready()) != 0 || !p.Done() {
			t.Errorf("after %s: %+v", id, more)
		}
	}
}
