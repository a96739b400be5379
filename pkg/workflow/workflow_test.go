package workflow

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestParseBareAndWrapped(t *testing.T) {
	bare := `{"ir_version":"0.1.0","nodes":[{"id":"a","type":"shell","parameters":{"command":"echo"}}],"edges":[{"from":"a","to":"a"}],"created_at":"2026-01-02T03:04:05+00:00"}`
	f, err := Parse("w.json", []byte(bare))
	if err != nil {
		t.Fatal(err)
	}
	if n := f.Workflow.Nodes[0]; n.ID != "a" || string(n.Params) != `{"command":"echo"}` || f.Workflow.Edges[0].Action != "default" || f.CreatedAt.Year() != 2026 {
		t.Errorf("%+v", f.Workflow)
	}
	f, err = Parse("w.json", []byte(`{"description":"d","ir":{"nodes":[{"id":"a","type":"echo"}]},"rich_metadata":{"x":1},"version":"1.0.0"}`))
	if err != nil || !f.Wrapped || f.Workflow.Description != "d" || f.Version != "1.0.0" {
		t.Errorf("%+v %v", f, err)
	}
}

func TestParseNamesEveryFault(t *testing.T) {
	source := "{\n  \"nods\": [],\n  \"nodes\": [\n    {\"id\": \"a\"},\n    {\"id\": 3, \"type\": \"echo\", \"parms\": {}}\n  ],\n  \"inputs\": {\"x\": {\"type\": \"strnig\"}}\n}"
	_, err := Parse("w.json", []byte(source))
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok || f.Type != fault.Validation || len(f.Errors) != 5 {
		t.Fatalf("%v", err)
	}
	for i, want := range []string{
		`w.json:2:3: Unknown field "nods"`, `w.json:4:5: nodes[0] needs "type"`, `w.json:5:20: Unknown`, `w.json:5:6: `, `w.json:7:20: Unknown input type`,
	} {
		found := false
		for _, e := range f.Errors {
			found = found || strings.HasPrefix(e.Where()+e.Message, want) || i >= 2 && e.Line == f.Errors[i].Line
		}
		if !found {
			t.Errorf("no %q in\n%v", want, f)
		}
	}
	if f.Errors[0].Suggestions[0] != `Did you mean "nodes"?` {
		t.Errorf("suggestions %v", f.Errors[0].Suggestions)
	}
}

func TestParseSyntaxErrorHasItsPlace(t *testing.T) {
	for source, want := range map[string]string{
		"{\n  \"nodes\": [,]\n}": "2:13",
		"":                       "is empty",
		"hello":                  "1:1",
		`{"nodes": [`:            "1:11",
		"[]":                     "must be an object",
		"null":                   "must be an object",
	} {
		_, err := Parse("w.json", []byte(source))
		f := fault.From(err)
		if err == nil || !strings.Contains(f.Where()+f.Message, want) {
			t.Errorf("%q: %s%s", source, f.Where(), f)
		}
	}
}

func TestPlace(t *testing.T) {
	f, err := Parse("w.json", []byte("{\"nodes\": [\n {\"id\":\"a\",\"type\":\"echo\",\n  \"params\": {\"message\": \"x\",\n   \"data\": [1,\n    2]}}]}"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][2]int{
		"nodes[0]": {2, 2}, "nodes[0].params.message": {3, 14}, "nodes[0].params.data[1]": {5, 5}, "nodes[0].params.nope": {3, 3}, "": {1, 1}, "edges[0]": {1, 1},
	} {
		if l, c := f.Place(path); l != want[0] || c != want[1] {
			t.Errorf("%s is at %d:%d, want %v", path, l, c, want)
		}
	}
}

func TestResolveInputs(t *testing.T) {
	w := &Workflow{Inputs: map[string]Input{
		"s": {Type: "string", Required: new(bool)}, "n": {Type: "number", Required: new(bool)}, "i": {Type: "integer", Required: new(bool)},
		"b": {Type: "boolean", Required: new(bool)}, "o": {Type: "object", Required: new(bool)}, "a": {Type: "array", Required: new(bool)},
		"x": {Type: "any", Required: new(bool)}, "d": {Type: "string", Default: json.RawMessage(`"dflt"`)},
	}}
	text := func(s string) Given { return Given{Text: s} }
	raw := func(s string) Given { return Given{JSON: json.RawMessage(s)} }
	for _, c := range []struct {
		name string
		in   Given
		want string // empty: refused
	}{
		{"s", text("42"), `"42"`}, {"s", raw("42"), `"42"`}, {"s", text(""), `""`}, {"s", raw(`{"a": 1}`), `"{\"a\":1}"`}, {"s", raw("null"), "null"},
		{"n", text("1.50"), "1.50"}, {"n", text("9007199254740993"), "9007199254740993"}, {"n", text("abc"), ""}, {"n", text(""), ""}, {"n", raw("true"), ""}, {"n", raw(`"7"`), "7"},
		{"i", text("7"), "7"}, {"i", text("7.0"), "7.0"}, {"i", text("7.5"), ""}, {"i", text("1e999999999"), ""}, {"i", text("0x10"), ""},
		{"b", text("Yes"), "true"}, {"b", text("0"), "false"}, {"b", text("maybe"), ""}, {"b", raw("false"), "false"},
		{"o", text(`{"k":[1]}`), `{"k":[1]}`}, {"o", text("[1]"), ""}, {"o", raw("[1]"), ""}, {"a", text("[1, 2]"), "[1, 2]"}, {"a", text("1,2"), ""},
		{"x", text("5"), "5"}, {"x", text("true"), "true"}, {"x", text("hello"), `"hello"`}, {"x", text("{bad"), `"{bad"`}, {"x", raw(`"5"`), `"5"`},
	} {
		got, err := w.Resolve(map[string]Given{c.name: c.in}, Supply{})
		switch {
		case c.want == "" && err == nil:
			t.Errorf("%s=%+v was taken as %s", c.name, c.in, got[c.name].JSON)
		case c.want != "" && (err != nil || string(got[c.name].JSON) != c.want):
			t.Errorf("%s=%+v: %s %v, want %s", c.name, c.in, got[c.name].JSON, err, c.want)
		}
	}
}

func TestResolveOrderAndFaults(t *testing.T) {
	w := &Workflow{Inputs: map[string]Input{
		"given": {Type: "string"}, "env": {Type: "string"}, "set": {Type: "integer"}, "dflt": {Type: "string", Default: json.RawMessage(`"d"`)}, "opt": {Type: "string", Required: new(bool)},
	}}
	has := func(m map[string]string) func(string) (string, bool) {
		return func(n string) (string, bool) { s, ok := m[n]; return s, ok }
	}
	from := Supply{Environment: has(map[string]string{"given": "no", "env": "from env"}), Settings: has(map[string]string{"env": "no", "set": "3"})}
	got, err := w.Resolve(map[string]Given{"given": {Text: "mine"}}, from)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]Value{
		"given": {json.RawMessage(`"mine"`), "given"}, "env": {json.RawMessage(`"from env"`), "environment"}, "set": {json.RawMessage(`3`), "settings"},
		"dflt": {json.RawMessage(`"d"`), "default"}, "opt": {json.RawMessage(`null`), "unset"},
	} {
		if string(got[name].JSON) != string(want.JSON) || got[name].Origin != want.Origin {
			t.Errorf("%s = %s from %s", name, got[name].JSON, got[name].Origin)
		}
	}
	_, err = w.Resolve(map[string]Given{"gvien": {Text: "x"}, "set": {Text: "x"}, "env": {JSON: json.RawMessage("null")}}, Supply{})
	f := fault.From(err)
	if len(f.Errors) != 4 || strings.Join(f.Missing, " ") != "env given" || !strings.Contains(f.Error(), `no input "gvien"`) {
		t.Errorf("%v, missing %v", f, f.Missing)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"nodes":[{"id":"a","type":"echo","params":{"message":"${x}"}}],"inputs":{"x":{"default":1}},"edges":[{"from":"a","to":"b"}]}`))
	f.Add([]byte(`{"ir":{"nodes":[]},"version":3}`))
	f.Fuzz(func(t *testing.T, source []byte) {
		file, err := Parse("f", source)
		if (file == nil) == (err == nil) {
			t.Error("neither a workflow nor an error")
		}
	})
}
