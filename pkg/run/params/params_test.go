package params

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

const definition = `{"inputs":{"who":{"type":"string"}},"nodes":[
	{"id":"a","type":"echo","params":{"message":"hello ${who}","data":{"n":1}}},
	{"id":"b","type":"shell","params":{"command":"${a.echo} ${late.echo}","stdin":"${a.echo}"}},
	{"id":"each","type":"echo","batch":{"items":"${a.list}"},"params":{"message":"${item} of ${who}"}},
	{"id":"sub","type":"workflow","params":{"workflow":{"nodes":[{"id":"in","type":"echo","params":{"message":"${x}"}}]},"inputs":{"x":"${a.echo}"}}},
	{"id":"late","type":"echo","params":{"message":"${a.echo}"}}]}`

func TestOf(t *testing.T) {
	stream := strings.ReplaceAll(`{"v":1,"seq":1,"event":"run_started","run":"r","time":"2026-01-01T00:00:00Z","nodes":["a","b","each","sub","late"],"workflow":{"name":"w","definition":`+strings.ReplaceAll(definition, "\n", "")+`},"inputs":{"who":"Ada"}}
{"v":1,"seq":2,"event":"node_started","run":"r","time":"2026-01-01T00:00:01Z","node":"a","type":"echo"}
{"v":1,"seq":3,"event":"node_completed","run":"r","time":"2026-01-01T00:00:02Z","node":"a","outputs":{"echo":"hello Ada","list":[1,2]}}
{"v":1,"seq":4,"event":"node_started","run":"r","time":"2026-01-01T00:00:03Z","node":"b","type":"shell"}
{"v":1,"seq":5,"event":"node_started","run":"r","time":"2026-01-01T00:00:03Z","node":"each","type":"echo"}
{"v":1,"seq":6,"event":"node_started","run":"r","time":"2026-01-01T00:00:03Z","node":"sub","type":"workflow"}
`, "\t", "")
	run, err := history.ReadStream(strings.NewReader(stream), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	file, _ := workflow.Read("workflow.json", []byte(definition))
	r := New(run, file.Workflow, nil)
	for node, want := range map[string]string{
		"a":    `{"message":"hello Ada","data":{"n":1}}`,
		"b":    `{"command":"${a.echo} ${late.echo}","stdin":"hello Ada"}`, // late has no value yet
		"each": `{"message":"${item} of ${who}"}`,
		"sub":  `{"workflow":{"nodes":[{"id":"in","type":"echo","params":{"message":"${x}"}}]},"inputs":{"x":"hello Ada"}}`,
		"late": ``,
	} {
		got := r.Of(run.Node(node))
		if string(got) != want || want != "" && !json.Valid(got) {
			t.Errorf("%s: %s, not %s", node, got, want)
		}
	}
	if items, ok := r.Items(run.Node("each"), json.RawMessage(`"${a.list}"`)); !ok || string(items) != "[1,2]" {
		t.Errorf("%t %s", ok, items)
	}
}
