package suite

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestListLibraryPagesTogetherAreEverything: each page fits, its text is its array, and the pages together have each saved workflow
// once, broken ones with their fault.
func TestListLibraryPagesTogetherAreEverything(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var names []string
	for i := range 200 {
		name := fmt.Sprintf("flow-%03d", i)
		content := fmt.Sprintf(`{"description":%q,"nodes":[{"id":"a","type":"echo"}]}`, strings.Repeat("What for. ", i))
		if i%40 == 9 {
			content = `{"nodes": [` + strings.Repeat(" ", 5000)
		}
		p.write("home/library/"+name+".json", content)
		names = append(names, name)
	}
	p.draft("draft", chain("echo draft"))
	c := p.connect("pflow-serve")
	for _, arguments := range []map[string]any{{}, {"limit": 7}, {"pattern": "flow-0*"}} {
		pages := c.pages("list_library", arguments)
		want := names
		if arguments["pattern"] != nil {
			want = names[:100]
		}
		if got := collect(pages, "workflows.#.name"); !slices.Equal(got, want) {
			t.Errorf("%v: %d workflows on %d pages, not %d once each", arguments, len(got), len(pages), len(want))
		}
		for _, page := range pages {
			document := page.Get("structuredContent")
			if document.Get("total").Int() != int64(len(want)) || document.Get("workflows").Raw != page.Get("content.0.text").Str {
				t.Errorf("%v: the total is %s; the text is not the array: %.200s", arguments, document.Get("total"), page.Get("content.0.text"))
			}
		}
		broken := 0
		for _, kind := range collect(pages, "workflows.#.error.type") {
			if kind == "validation_error" {
				broken++
			}
		}
		if broken != len(want)/40 && broken != len(want)/40+1 {
			t.Errorf("%v: %d broken workflows have their error", arguments, broken)
		}
	}
	a, failed := c.call("list_library", `{"limit":0}`)
	if list, ok := a["workflows"].([]any); failed || !ok || len(list) != 200 || a["next_cursor"] != nil {
		t.Errorf("limit 0 does not answer with everything: %d", len(list))
	}
	c.leave()
}

// TestListOnTheCommandLine: without a flag for pages it prints everything, as an array or as lines.
func TestListOnTheCommandLine(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, name := range []string{"a", "b", "c"} {
		p.write("home/library/"+name+".json", chain("echo "+name))
	}
	if o := p.run("pflow-lib", "list", "--format", "json"); gjson.Get(o.stdout, "#.name").Raw != `["a","b","c"]` {
		t.Errorf("%s", o)
	}
	if o := p.run("pflow-lib", "list"); strings.Count(o.stdout, "\n") != 3 {
		t.Errorf("%s", o)
	}
	o := p.run("pflow-lib", "list", "--limit", "2")
	next := gjson.Get(o.stdout, "next_cursor").Str
	if gjson.Get(o.stdout, "workflows.#.name").Raw != `["a","b"]` || gjson.Get(o.stdout, "total").Int() != 3 || next == "" {
		t.Errorf("%s", o)
	}
	o = p.run("pflow-lib", "list", "--limit", "2", "--cursor", next)
	if gjson.Get(o.stdout, "workflows.#.name").Raw != `["c"]` || gjson.Get(o.stdout, "next_cursor").Exists() {
		t.Errorf("%s", o)
	}
	if o := p.run("pflow-lib", "list", "c", "--cursor", next); o.exit != 2 || gjson.Get(o.stdout, "error.type").Str != "usage_error" {
		t.Errorf("the cursor of another query: %s", o)
	}
	if o := p.run("pflow-lib", "list", "--limit", "2", "--format", "text"); !strings.Contains(o.stderr, "and 1 more") || strings.Contains(o.stdout, "c ") {
		t.Errorf("%s", o)
	}
}

// TestListLibraryForOldClients: without structured content, a second text has the cursor and the total.
func TestListLibraryForOldClients(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, name := range []string{"a", "b", "c"} {
		p.write("home/library/"+name+".json", chain("echo "+name))
	}
	list := func(cursor string) gjson.Result {
		o := p.fed(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_library","arguments":{"limit":2,"cursor":`+cursor+`}}}
`, "pflow-serve")
		lines := strings.Split(strings.TrimSpace(o.stdout), "\n")
		return gjson.Get(lines[len(lines)-1], "result.content")
	}
	first := list("null")
	more := gjson.Parse(first.Get("1.text").Str)
	if gjson.Get(first.Get("0.text").Str, "#.name").Raw != `["a","b"]` || more.Get("total").Int() != 3 || more.Get("next_cursor").Str == "" {
		t.Fatalf("%s", first.Raw)
	}
	last := list(more.Get("next_cursor").Raw)
	if gjson.Get(last.Get("0.text").Str, "#.name").Raw != `["c"]` || last.Get("1.text").Str != `{"total":3}` {
		t.Errorf("%s", last.Raw)
	}
}
