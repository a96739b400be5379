package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/catalog/page"
	"github.com/pflow-suite/pflow/pkg/catalog/registry"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// someTypes draws a registry.json, and returns it with the names of its types.
func someTypes(t *rapid.T) (source []byte, names []string) {
	text := rapid.OneOf(rapid.StringN(0, 40, -1), rapid.StringN(0, 4000, -1))
	nodes := map[string]any{}
	for i := range rapid.IntRange(0, 30).Draw(t, "types") {
		name := fmt.Sprintf("type-%02d%s", i, strings.Repeat("-long", rapid.IntRange(0, 40).Draw(t, "name")))
		var params, outputs []any
		for p := range rapid.IntRange(0, 20).Draw(t, "params") {
			params = append(params, map[string]any{
				"name": fmt.Sprint("p", p), "type": "str", "required": p%3 == 0, "description": text.Draw(t, "help"), "default": text.Draw(t, "default"),
			})
		}
		for o := range rapid.IntRange(0, 5).Draw(t, "outputs") {
			outputs = append(outputs, map[string]any{"name": fmt.Sprint("o", o), "type": "any", "description": text.Draw(t, "meaning")})
		}
		face := map[string]any{"description": text.Draw(t, "description"), "params": params, "outputs": outputs}
		if rapid.IntRange(0, 9).Draw(t, "broken") == 0 {
			face["params"] = 7
		}
		nodes[name] = map[string]any{"interface": face}
	}
	for name := range nodes {
		names = append(names, name)
	}
	names = append(names, nodetype.BuiltinNames()...)
	slices.Sort(names)
	source, err := json.Marshal(map[string]any{"nodes": nodes})
	if err != nil {
		t.Fatal(err)
	}
	return source, names
}

// TestPagesOfASearch: whatever there is and whatever is asked for, each page fits and has an entry, and the pages together have each
// node type and each workflow once.
func TestPagesOfASearch(t *testing.T) {
	h, err := home.Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		source, names := someTypes(t)
		if err := h.Write(source, 0o600, "registry.json"); err != nil {
			t.Fatal(err)
		}
		var flows []foundWorkflow
		var flowNames []string
		for i := range rapid.IntRange(0, 40).Draw(t, "workflows") {
			w := foundWorkflow{Name: fmt.Sprintf("workflow-%02d", i), Description: rapid.StringN(0, 500, -1).Draw(t, "what for"), Saved: i%2 == 0}
			if i%7 == 6 {
				w.Error = fault.New(fault.Validation, "%s", w.Description).Suggest("%s", w.Description)
			}
			flows, flowNames = append(flows, w), append(flowNames, w.Name)
		}
		c := searchCommand{
			maxBytes: rapid.IntRange(page.Least, 9000).Draw(t, "bytes"), Limit: rapid.IntRange(-1, 20).Draw(t, "limit"),
			Detail: rapid.SampledFrom([]string{"", "brief", "full"}).Draw(t, "detail"),
		}
		if err := c.check(); err != nil {
			t.Fatal(err)
		}
		var gotNodes, gotFlows []string
		for pages := 0; ; pages++ {
			var answer found
			err := registry.Open(h).Find(registry.Query{}, func(f *registry.Found) (err error) {
				answer, err = (&pager{command: &c, secrets: redact.New(), workflows: flows}).page(f)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			checkPage(t, &c, answer, pages)
			for _, n := range answer.Nodes {
				gotNodes = append(gotNodes, n.Type)
			}
			for _, w := range *answer.Workflows {
				gotFlows = append(gotFlows, w.Name)
			}
			if answer.More != answer.Total-len(gotNodes)-len(gotFlows) || answer.Total != len(names)+len(flows) {
				t.Fatalf("%d and %d more, of %d", len(gotNodes)+len(gotFlows), answer.More, answer.Total)
			}
			if c.Cursor = answer.NextCursor; c.Cursor == "" {
				break
			}
		}
		if d := cmp.Diff(names, gotNodes) + cmp.Diff(flowNames, gotFlows); d != "" {
			t.Fatal(d)
		}
	})
}

// checkPage checks the size and the progress of a page, and which node types are in full on it.
func checkPage(t *rapid.T, c *searchCommand, answer found, pages int) {
	if size := page.Size(answer); size > c.maxBytes {
		t.Fatalf("page %d has %d bytes, not %d", pages, size, c.maxBytes)
	}
	if len(answer.Nodes)+len(*answer.Workflows) == 0 {
		t.Fatalf("page %d has no entry: %+v", pages, answer)
	}
	if c.Limit > 0 && max(len(answer.Nodes), len(*answer.Workflows)) > c.Limit {
		t.Fatalf("page %d has more than %d entries", pages, c.Limit)
	}
	for i, n := range answer.Nodes {
		if n.Inputs == nil && n.Error == nil && !n.Truncated && (c.Detail == "full" || c.Detail == "" && pages == 0 && i < bestInFull) {
			t.Fatalf("page %d: %s is in brief", pages, n.Type)
		}
	}
}
