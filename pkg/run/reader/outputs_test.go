package reader

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// recordFrom records a run with all its events.
func (r *runs) recordFrom(events ...*event.Event) string {
	r.Helper()
	w, err := journal.Create(r.home, journal.Options{Definition: []byte("{}")})
	if err != nil {
		r.Fatal(err)
	}
	for _, e := range events {
		r.append(w, e)
	}
	w.Close()
	return w.ID
}

func TestOutputsOf(t *testing.T) {
	const definition = `{"nodes":[],"outputs":{"said":{"source":"${a.stdout}"},"both":{"source":"${a.stdout} and ${b.stdout}"},"lost":{"source":"${b.stdout}"},
		"who":{"source":"who"},"image":{"source":"${a.content[0].data}"},"count":{"type":"integer","source":"${a.stdout}"},"else":{"source":"${b.stdout ?? a.stdout}"}}}`
	const image = `{"$base64":"AAEC","mime":"image/png"}`
	began := func() *event.Event {
		return &event.Event{Event: event.RunStarted, Workflow: &event.Workflow{Name: "w", Definition: json.RawMessage(definition)}, Nodes: []string{"a", "b"}, Inputs: json.RawMessage(`{"who":"Ada"}`)}
	}
	said := &event.Event{Event: event.NodeCompleted, Node: "a", Outputs: json.RawMessage(`{"stdout":"hello","content":[{"data":` + image + `}]}`)}
	broke := &event.Event{Event: event.NodeFailed, Node: "b", Error: fault.New(fault.Execution, "broken"), Outputs: json.RawMessage(`{"stdout":"half"}`)}
	for name, c := range map[string]struct {
		last *event.Event
		want map[string]string
	}{
		"failed":      {&event.Event{Event: event.RunFinished, Status: event.Failed, Outputs: json.RawMessage("{}")}, map[string]string{"said": `"hello"`, "who": `"Ada"`, "else": `"hello"`}},
		"interrupted": {nil, map[string]string{"said": `"hello"`, "who": `"Ada"`, "else": `"hello"`}},
		"degraded": {
			&event.Event{Event: event.RunFinished, Status: event.Degraded, Outputs: json.RawMessage(`{"said":"as recorded","image":"AAEC"}`)},
			map[string]string{"said": `"as recorded"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRuns(t)
			events := []*event.Event{said, broke}
			if c.last != nil {
				events = append(events, c.last)
			}
			id := r.recordFrom(append([]*event.Event{began()}, events...)...)
			run, err := r.Find(id)
			if err != nil {
				t.Fatal(err)
			}
			h, _, err := run.History()
			if err != nil {
				t.Fatal(err)
			}
			got, err := OutputsOf(run, h)
			if err != nil {
				t.Fatal(err)
			}
			if !event.IsBytes(got["image"]) {
				t.Errorf("the image is %s", got["image"])
			}
			texts := map[string]string{}
			for name, value := range got {
				if name != "image" {
					texts[name] = string(value)
				}
			}
			if d := cmp.Diff(c.want, texts); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
