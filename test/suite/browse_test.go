package suite

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/brief"
)

// tools writes a registry with n tools of 10 servers, each with some parameters.
func (p *place) tools(n int) (names []string) {
	p.Helper()
	nodes := map[string]any{}
	help := "Says in a sentence of some length what this value is for, and what happens without it. "
	for i := range n {
		name := fmt.Sprintf("mcp-server-%d-read-row-%d", i%10, i)
		var params []map[string]any
		for k := range 1 + i%12 {
			params = append(params, map[string]any{"name": fmt.Sprintf("parameter_%d", k), "type": "str", "required": k == 0, "description": strings.Repeat(help, 1+i%3)})
		}
		nodes[name] = map[string]any{"interface": map[string]any{
			"description": fmt.Sprintf("Read row %d of a table. %s", i, strings.Repeat(help, i%5)), "params": params,
			"mcp_metadata": map[string]any{"server": fmt.Sprintf("server-%d", i%10), "tool": fmt.Sprintf("read_row_%d", i)},
		}}
		names = append(names, name)
	}
	source, err := json.Marshal(map[string]any{"nodes": nodes})
	if err != nil {
		p.Fatal(err)
	}
	p.write("home/registry.json", string(source))
	slices.Sort(names)
	return names
}

// pages calls a tool until the last page, and returns the results as they are sent. Each page has at most 8,192 bytes.
func (c *client) pages(tool string, arguments map[string]any) (results []gjson.Result) {
	c.Helper()
	for {
		raw, err := json.Marshal(arguments)
		if err != nil {
			c.Fatal(err)
		}
		c.request(tool, string(raw))
		line, err := c.stdout.ReadString('\n')
		if err != nil {
			c.Fatal(err)
		}
		result := gjson.Get(line, "result")
		document, text := result.Get("structuredContent"), result.Get("content.0.text")
		if result.Get("isError").Bool() || len(document.Raw) > 8192 || len(text.Str) > 8192 {
			c.Fatalf("%s answers %d bytes and a text of %d: %.500s", tool, len(document.Raw), len(text.Str), line)
		}
		results = append(results, result)
		next := document.Get("next_cursor")
		if !next.Exists() || len(results) > 1000 {
			return results
		}
		arguments["cursor"] = next.Str
	}
}

// collect returns the values at a path of the documents of all pages, in their order.
func collect(pages []gjson.Result, path string) (values []string) {
	for _, page := range pages {
		for _, v := range page.Get("structuredContent." + path).Array() {
			values = append(values, v.String())
		}
	}
	return values
}

// TestBrowsePagesTogetherAreEverything: each page fits, and the pages together have each node type and workflow once, for a query
// and for none.
func TestBrowsePagesTogetherAreEverything(t *testing.T) {
	brief.Skip(t)
	t.Parallel()
	p := newPlace(t)
	names := p.tools(300)
	var flows []string
	for i := range 60 {
		name := fmt.Sprintf("read-row-%02d", i)
		p.write("home/library/"+name+".json", chain("echo "+name))
		flows = append(flows, name)
	}
	c := p.connect("pflow-serve")
	for _, arguments := range []map[string]any{
		{}, {"query": "read row"}, {"detail": "brief"}, {"detail": "full"}, {"query": "read row", "limit": 7}, {"server": "server-3"}, {"server": "server-3", "detail": "full"},
	} {
		what := fmt.Sprint(arguments)
		want := slices.DeleteFunc(slices.Clone(names), func(n string) bool {
			return arguments["server"] != nil && !strings.HasPrefix(n, "mcp-server-3-")
		})
		pages := c.pages("browse_components", arguments)
		got := slices.DeleteFunc(collect(pages, "nodes.#.type"), func(n string) bool { return !strings.HasPrefix(n, "mcp-") }) // without built-in types
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d types on %d pages, not %d once each", what, len(got), len(pages), len(want))
		}
		found := collect(pages, "workflows.#.name")
		slices.Sort(found)
		if arguments["server"] == nil && !slices.Equal(found, flows) || arguments["server"] != nil && found != nil {
			t.Errorf("%s: %d workflows on %d pages, not %d once each", what, len(found), len(pages), len(flows))
		}
		total := pages[0].Get("structuredContent.total").Int()
		if all := len(collect(pages, "nodes.#.type")) + len(found); total != int64(all) {
			t.Errorf("%s: the total is %d, not %d", what, total, all)
		}
		best := pages[0].Get("structuredContent.nodes.#.inputs.#.key").Array()
		if n := len(pages[0].Get("structuredContent.nodes").Array()); arguments["detail"] == nil && len(best) != min(n, 8) || arguments["detail"] == "brief" && len(best) > 0 {
			t.Errorf("%s: %d types of the first page have inputs", what, len(best))
		}
		text := pages[0].Get("content.0.text").Str
		if len(text) > 2000 {
			t.Errorf("%s: a text of %d bytes", what, len(text))
		}
		if len(best) > 0 && !strings.Contains(text, "("+best[0].Get("0").Str) {
			t.Errorf("%s: the text does not have the parameter %s: %s", what, best[0].Get("0").Str, text)
		}
	}
	a, failed := c.call("browse_components", `{"limit":0}`)
	if nodes, ok := a["nodes"].([]any); failed || !ok || len(nodes) < 300 || a["next_cursor"] != nil {
		t.Errorf("limit 0 does not answer with everything: %d types", len(nodes))
	}
	a, failed = c.call("browse_components", `{"query":"row","cursor":"`+c.cursor("read row")+`"}`)
	if message, _ := a["error"].(map[string]any); !failed || message["type"] != "usage_error" {
		t.Errorf("a cursor of another query is answered with %v", a)
	}
	c.leave()
}

// cursor returns the next_cursor of the first page of a query.
func (c *client) cursor(query string) string {
	c.Helper()
	a, _ := c.call("browse_components", fmt.Sprintf(`{"query":%q}`, query))
	next, ok := a["next_cursor"].(string)
	if !ok {
		c.Errorf("%q has one page: %v", query, a)
	}
	return next
}

// TestBrowseOneType: one exact type in full, and shortened only if it is larger than a page, which is said.
func TestBrowseOneType(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.tools(3)
	registry := p.read("home/registry.json")
	p.write("home/registry.json", strings.Replace(registry, `"nodes":{`, `"nodes":{"huge":{"interface":{"description":"`+strings.Repeat("Huge. ", 3000)+
		`","params":[{"key":"repo","type":"str","description":"`+strings.Repeat("x", 9000)+`","required":true}]}},`, 1))
	c := p.connect("pflow-serve")
	a, _ := c.call("browse_components", `{"type":"mcp-server-1-read-row-1"}`)
	if got := gjson.Get(sent(t, a), `nodes.0.inputs.#.key`).Raw; got != `["parameter_0","parameter_1"]` || a["total"] != 1.0 {
		t.Errorf("%v", a)
	}
	a, _ = c.call("browse_components", `{"type":"huge"}`)
	doc := sent(t, a)
	if len(doc) > 8192 || !gjson.Get(doc, "nodes.0.truncated").Bool() || gjson.Get(doc, "nodes.0.inputs.0.key").Str != "repo" || !strings.Contains(doc, "TYPE") {
		t.Errorf("%.300s", doc)
	}
	a, _ = c.call("browse_components", `{"type":"huge","limit":0}`)
	if doc := sent(t, a); len(doc) < 27000 || gjson.Get(doc, "nodes.0.truncated").Exists() {
		t.Errorf("%d bytes", len(doc))
	}
	a, failed := c.call("browse_components", `{"type":"mcp-server-1-read-rwo-1"}`)
	if doc := sent(t, a); !failed || gjson.Get(doc, "error.type").Str != "not_found" || !strings.Contains(doc, "mcp-server-1-read-row-1") {
		t.Errorf("%s", doc)
	}
	if a, failed = c.call("browse_components", `{"type":"shell","query":"file"}`); !failed {
		t.Errorf("%v", a)
	}
	c.leave()
}

// sent returns a document as it was sent.
func sent(t *testing.T, document map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestBrowseWithBrokenFiles: files that cannot be read are named, and what can be read is found.
func TestBrowseWithBrokenFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file, content string
	}{
		{"a corrupt registry", "registry.json", `{"nodes":{"a"`},
		{"a registry that is too large", "registry.json", ""},
		{"corrupt settings", "settings.json", `{"env":`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("home/library/keep.json", chain("echo kept"))
			path := p.write("home/"+c.file, c.content)
			if c.content == "" {
				if err := os.Truncate(path, 64<<20+1); err != nil {
					t.Fatal(err)
				}
			}
			front := p.connect("pflow-serve")
			a, failed := front.call("browse_components", `{}`)
			doc := sent(t, a)
			if types := gjson.Get(doc, "nodes.#.type").Raw; failed || !strings.Contains(types, `"shell"`) || gjson.Get(doc, "workflows.0.name").Str != "keep" {
				t.Errorf("%s", doc)
			}
			if said := gjson.Get(doc, "warnings.0.message").Str; !strings.Contains(said, c.file) {
				t.Errorf("%q does not name %s", said, c.file)
			}
			front.leave()
			if o := p.run("pflow-lib", "search", "shell", "--format", "text"); o.exit != 0 || !strings.Contains(o.stderr, c.file) {
				t.Errorf("%s", o)
			}
		})
	}
}

// TestBrowseFindsDraftsAndBrokenWorkflows: a draft is marked, and a file that cannot be read is shown with its fault.
func TestBrowseFindsDraftsAndBrokenWorkflows(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("deploy-draft", chain("echo draft"))
	p.draft("both", chain("echo draft"))
	p.write("home/library/both.json", chain("echo saved"))
	p.write("home/library/deploy-broken.json", `{"nodes": [`)
	p.write("home/library/other-broken.json", strings.Repeat("x", 20000))
	c := p.connect("pflow-serve")
	a, _ := c.call("browse_components", `{"query":"deploy"}`)
	doc := sent(t, a)
	if d := gjson.Get(doc, `workflows.#(name=="deploy-draft")`); !d.Get("saved").Exists() || d.Get("saved").Bool() || d.Get("error").Exists() {
		t.Errorf("the draft is %s", d.Raw)
	}
	if b := gjson.Get(doc, `workflows.#(name=="deploy-broken").error`); b.Get("type").Str != "validation_error" || b.Get("message").Str == "" {
		t.Errorf("the broken workflow has the error %s", b.Raw)
	}
	if !strings.Contains(gjson.Get(doc, "warnings.0.message").Str, ": 1") {
		t.Errorf("the other broken workflow is dropped silently: %s", doc)
	}
	a, _ = c.call("browse_components", `{}`)
	doc = sent(t, a)
	if got := gjson.Get(doc, `workflows.#(name=="both")#.saved`).Raw; got != "[true]" || len(gjson.Get(doc, "workflows").Array()) != 4 {
		t.Errorf("%s", gjson.Get(doc, "workflows").Raw)
	}
	c.leave()
	for _, file := range []string{"library/both.json", "workflows/both.json"} {
		if _, err := os.Stat(filepath.Join(p.home, file)); err != nil {
			t.Error(err)
		}
	}
}
