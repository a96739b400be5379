package offer

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestParse(t *testing.T) {
	listings, skipped, err := Parse("", []byte(`[
		{"id":"a","name":"A","description":"Does a.","executionType":"sync","category":"x","version":"2","inputSchema":{"type":"object"},"metadata":{"tags":["t"]},"more":1},
		{"id":"b","name":"B","description":"Does b.","executionType":"later","category":5},
		{"id":"c","name":"C"}, {"id":7,"name":"D","description":"d"}, {"id":"e","name":" ","description":"e"}, 5, null, [],
		{"id":"a","name":"again","description":"Has an id twice."}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Listing{
		{ID: "a", Name: "A", Description: "Does a.", ExecutionType: "sync", Category: "x", Version: "2", InputSchema: json.RawMessage(`{"type":"object"}`), Metadata: json.RawMessage(`{"tags":["t"]}`)},
		{ID: "b", Name: "B", Description: "Does b.", ExecutionType: "async", Category: "workflow", Version: "1.0.0"},
	}
	if d := cmp.Diff(want, listings); d != "" {
		t.Error(d)
	}
	var paths []string
	for _, f := range skipped {
		paths = append(paths, f.Path)
	}
	if !slices.Equal(paths, []string{"[2]", "[3]", "[4]", "[5]", "[6]", "[7]", "[8]"}) {
		t.Error(paths)
	}
	for _, text := range []string{"", "{}", "5", `[`, "null x"} {
		if _, _, err := Parse("", []byte(text)); err == nil || fault.From(err).Type != fault.Protocol {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`[{"id":"a","name":"A","description":"x","inputSchema":{"$ref":"#/x"},"metadata":{"tags":[1]}}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		listings, _, err := Parse("", data)
		if err != nil {
			return
		}
		for i, name := range Names(listings, nil) {
			shown, _ := listings[i].InputSchemas()
			if name == "" || !json.Valid(shown) {
				t.Errorf("%q: %s", name, shown)
			}
			_ = listings[i].Outputs()
		}
	})
}
