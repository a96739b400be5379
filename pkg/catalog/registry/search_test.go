package registry

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/nodetype"
)

func TestSearch(t *testing.T) {
	types := []nodetype.Type{
		{Name: "github", Description: "GitHub operations", Params: []nodetype.Param{{Name: "repo"}}},
		{Name: "github-issues", Description: "List issues"},
		{Name: "mcp-github-log", Description: "Show commits"},
		{Name: "notify", Description: "Send a message about a GitHub event"},
		{Name: "clone", Description: "Copy", Params: []nodetype.Param{{Name: "github_url"}}},
	}
	nodes := map[string]json.RawMessage{}
	for _, typ := range types {
		b, err := typ.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		_ = json.Unmarshal(b, &m)
		m["module"] = "someone.else"
		nodes[typ.Name], _ = json.Marshal(m)
	}
	b, _ := json.Marshal(map[string]any{"version": "1.0.0", "nodes": nodes})
	r, _ := open(t, map[string]string{fileName: string(b), "settings.json": `{"registry":{"nodes":{"deny":["echo","http","shell","*-file","agent","code","jq","llm"]}}}`})

	for query, want := range map[string][]string{
		"github":        {"github", "github-issues", "mcp-github-log", "notify", "clone"},
		"GitHub":        {"github", "github-issues", "mcp-github-log", "notify", "clone"},
		"":              {"clone", "github", "github-issues", "mcp-github-log", "notify", "workflow"},
		"  ":            {"clone", "github", "github-issues", "mcp-github-log", "notify", "workflow"},
		"github issues": {"github-issues", "github"},
		"commits":       {"mcp-github-log"},
		"gihtub":        {"github", "github-issues", "mcp-github-log", "notify", "clone"},
		"gihtub list":   {"github-issues", "mcp-github-log", "github"},
		"repo":          {"github"},
		"lgo":           nil,
		"zebra-stripe":  nil,
	} {
		matches, _, err := r.Search(query, 0, 0)
		if err != nil || matches == nil {
			t.Fatalf("%q: %v %v", query, matches, err)
		}
		var got []string
		for _, m := range matches {
			got = append(got, m.Type.Name)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", query, d)
		}
	}
	right, _, _ := r.Search("github", 0, 0)
	wrong, _, _ := r.Search("githbu", 0, 0)
	if len(wrong) == 0 || wrong[0].Score >= right[0].Score {
		t.Errorf("a mistyped word scores too high: %v", wrong)
	}
	few, total, _ := r.Search("github", 0, 2)
	if len(few) != 2 || total != 5 {
		t.Errorf("%d of the best %d", len(few), total)
	}
}

// The parts of a search are together the whole of it.
func TestSearchInParts(t *testing.T) {
	r, _ := open(t, map[string]string{fileName: upstreamFlat})
	for _, query := range []string{"", "file", "zebra-stripe"} {
		whole, total, err := r.Search(query, 0, 0)
		if err != nil || len(whole) != total {
			t.Fatalf("%q: %d of %d, %v", query, len(whole), total, err)
		}
		for limit := range 4 {
			parts := []Match{}
			for from := 0; from < total; {
				part, of, err := r.Search(query, from, limit)
				if err != nil || of != total || len(part) == 0 || limit > 0 && len(part) > limit {
					t.Fatalf("%q from %d: %d of %d, %v", query, from, len(part), of, err)
				}
				parts, from = append(parts, part...), from+len(part)
			}
			if d := cmp.Diff(whole, parts); d != "" {
				t.Errorf("%q by %d: %s", query, limit, d)
			}
		}
		if part, of, err := r.Search(query, total+1, 1); len(part) != 0 || of != total || err != nil {
			t.Errorf("%q after the end: %d of %d, %v", query, len(part), of, err)
		}
	}
}

// An entry that is not shown is not decoded: it may be broken.
func TestSearchDecodesWhatItReturns(t *testing.T) {
	r, _ := open(t, map[string]string{fileName: `{"nodes":{"a":{"interface":{"description":"Whole"}},"z":{"interface":{"description":"Broken","params":7}}}}`})
	if found, total, err := r.Search("", 0, 1); err != nil || len(found) != 1 || found[0].Type.Name != "a" || total < 2 {
		t.Errorf("%v of %d, %v", found, total, err)
	}
	if _, _, err := r.Search("broken", 0, 1); err == nil {
		t.Error("the broken entry is no error")
	}
}
