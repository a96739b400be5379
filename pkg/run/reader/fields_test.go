package reader_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/run/reader"
)

// recorded writes a run with the given outputs by the paths of their nodes, and finds it.
func recorded(t *testing.T, h *home.Home, inputs string, status event.Status, outputs map[string]string) *reader.Run {
	t.Helper()
	w, err := journal.Create(h, journal.Options{Definition: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	write := func(e *event.Event) {
		if err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	nodes := make([]string, 0, len(outputs))
	for node := range outputs {
		nodes = append(nodes, node)
	}
	slices.Sort(nodes)
	write(&event.Event{Event: event.RunStarted, Workflow: &event.Workflow{Name: "w", Digest: "d"}, Inputs: json.RawMessage(inputs)})
	for _, node := range nodes {
		kept, err := event.Spill(event.Escape(json.RawMessage(outputs[node])), w.PutBlob)
		if err != nil {
			t.Fatal(err)
		}
		ms := 1.0
		write(&event.Event{Event: event.NodeStarted, Node: node, Type: "echo", Attempt: 1})
		write(&event.Event{Event: event.NodeCompleted, Node: node, Outputs: kept, InputDigest: event.Digest([]byte(outputs[node])), DurationMS: &ms})
	}
	write(&event.Event{Event: event.RunFinished, Status: status, Outputs: json.RawMessage("{}")})
	run, err := reader.Open(h).Find(w.ID)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func newHome(t *testing.T) *home.Home {
	t.Helper()
	h, err := home.Open(filepath.Join(t.TempDir(), "home"), "")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestFields(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	run := recorded(t, newHome(t), `{"who":{"name":"Ada"}}`, event.Completed, map[string]string{
		"fetch":            `{"items":[{"name":"n"}],"text":"{\"k\":[1,2]}","a/b":1,"$blob":"no reference","long":` + string(rawjson.Quote(long)) + `}`,
		"build[1]/compile": `{"stdout":"ok"}`,
	})
	for path, want := range map[string]string{
		"fetch.items[0].name":        `"n"`,
		"${fetch.items[0].name}":     `"n"`,
		"fetch.text.k[1]":            "2",
		`fetch["a/b"]`:               "1",
		`fetch["$blob"]`:             `"no reference"`,
		"fetch.long":                 string(rawjson.Quote(long)),
		"who.name":                   `"Ada"`,
		"build[1]/compile.stdout":    `"ok"`,
		"${build[1]/compile.stdout}": `"ok"`,
	} {
		fields, err := run.Fields([]string{path})
		if err != nil || len(fields) != 1 || fields[0].Path != path || string(fields[0].Value) != want {
			t.Errorf("%s: %v %v", path, fields, err)
		}
	}
	fields, err := run.Fields([]string{"who", "fetch.items", "who"})
	if raw, _ := json.Marshal(fields); err != nil || string(raw) != `{"who":{"name":"Ada"},"fetch.items":[{"name":"n"}]}` {
		t.Errorf("%s %v", raw, err)
	}
	for path, want := range map[string]fault.Type{
		"fetch.itmes": fault.NotFound, "fetsh.items": fault.NotFound, "build/compile.stdout": fault.NotFound, "fetch.items[7]": fault.NotFound,
		"": fault.Usage, "a b": fault.Usage, "${fetch": fault.Usage, "fetch..x": fault.Usage,
	} {
		fields, err := run.Fields([]string{"who", path})
		if f := fault.From(err); err == nil || f.Type != want {
			t.Errorf("%q: %v %v", path, fields, err)
		}
	}
	if _, err := run.Fields([]string{"x.a", "y.b"}); len(fault.From(err).Errors) != 2 {
		t.Errorf("%+v", err)
	}
}

func TestDiffWith(t *testing.T) {
	h := newHome(t)
	one := recorded(t, h, `{"who":"Ada"}`, event.Completed, map[string]string{
		"same": `{"a":1}`, "list": `{"l":[1,{"k":2}],"m":1}`, "gone": `{"a":1}`, "spelled": `{"a":{"b":1}}`,
	})
	two := recorded(t, h, `{"who":"Eva"}`, event.Degraded, map[string]string{
		"same": `{"a":1}`, "list": `{"l":[1,{"k":3}],"n":1}`, "new": `{"a":1}`, "spelled": `{"a": {"b": 1}}`,
	})
	d, err := one.DiffWith(two, 0)
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := json.Marshal(d.Nodes)
	var nodes []struct {
		Node    string
		Differ  []string
		State   [2]string
		Outputs []struct {
			Path   string
			Values [2]json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &nodes); err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, n := range nodes {
		got += n.Node + " " + strings.Join(n.Differ, ",") + " " + strings.Join(n.State[:], ">")
		for _, v := range n.Outputs {
			got += " " + v.Path + "=" + string(v.Values[0]) + ">" + string(v.Values[1])
		}
		got += "\n"
	}
	want := "gone status completed>\n" +
		"list inputs,outputs completed>completed l[1].k=2>3 m=1>null n=null>1\n" +
		"spelled inputs completed>completed\n" +
		"new status >completed\n"
	if got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	if d.Same || d.SameNodes != 1 || strings.Join(d.Differ, ",") != "status,inputs" || len(d.Inputs) != 1 || d.Inputs[0].Path != "who" {
		t.Errorf("%+v", d)
	}
	if same, err := two.DiffWith(two, 0); err != nil || !same.Same || len(same.Nodes) != 0 || same.SameNodes != 4 {
		t.Errorf("%+v %v", same, err)
	}
}
