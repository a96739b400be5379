package reader

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// object returns a JSON object of n members, whose keys and values a function makes.
func object(n int, member func(i int) string) json.RawMessage {
	members := make([]string, n)
	for i := range members {
		members[i] = member(i)
	}
	return json.RawMessage("{" + strings.Join(members, ",") + "}")
}

// An answer that fits is not changed, except that it speaks to its reader once.
func TestALimitedAnswerThatFits(t *testing.T) {
	r := newRuns(t)
	run := r.find(r.record("w", finished(event.Failed)))
	last := &event.Event{
		Run: run.ID(), Status: event.Failed, Outputs: json.RawMessage(`{"a":[1,2,{"b":"c"}]}`), Error: fault.New(fault.Execution, "m").Then(fault.ByPerson("c", "t")),
		Checkpoint: &event.Checkpoint{CompletedNodes: []string{"x"}}, Resume: &fault.Step{Do: fault.DoResume, Run: run.ID(), Inputs: []string{"token"}},
	}
	client := fault.ToolsOf([]string{"core"})
	answer := func(limits int) string {
		a, err := run.Answer(last, 2000)
		if err != nil {
			t.Fatal(err)
		}
		for range limits {
			if err := a.Limit(client, 8192); err != nil {
				t.Fatal(err)
			}
		}
		a.Address(client)
		a.Error.Address(client)
		raw, err := rawjson.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	want := answer(0)
	if got := answer(2); got != want || !strings.Contains(got, "token") {
		t.Errorf("%s\nnot\n%s", got, want)
	}
}

func TestDetailsAreLimited(t *testing.T) {
	long := json.RawMessage(`{"stdout":"` + strings.Repeat("x", 9000) + `"}`)
	broken := fault.New(fault.Execution, "%s", strings.Repeat("it failed; ", 2000)).Suggest("Mend it")
	node := NodeDetails{Node: "a", State: "failed", Outputs: long, Params: long, Question: string(long), Answer: string(long), Error: broken, Warnings: slices.Repeat([]string{strings.Repeat("w", 500)}, 50)}
	for _, most := range []int{4096, 20_000} {
		one := node
		if raw, err := rawjson.Marshal(&one); one.Limit(fault.Shell, most) != nil || err != nil || len(raw) <= most {
			t.Fatalf("%v", err)
		}
		if raw, err := rawjson.Marshal(&one); err != nil || len(raw) > most || gjson.GetBytes(raw, `outputs.bytes`).Int() != int64(len(long)) {
			t.Errorf("%d bytes of %d: %v %.300s", len(raw), most, err, raw)
		}
		d := Details{RunID: "r", Status: event.Failed, Error: broken, Inputs: long, Outputs: long, Warnings: node.Warnings, Nodes: slices.Repeat([]NodeDetails{node}, 100)}
		if err := d.Limit(fault.Shell, most); err != nil {
			t.Fatal(err)
		}
		if raw, err := rawjson.Marshal(&d); err != nil || len(raw) > most || d.NodesTotal != 100 || d.WarningsTotal != 50 {
			t.Errorf("%d bytes of %d: %v %.300s", len(raw), most, err, raw)
		}
	}
}
