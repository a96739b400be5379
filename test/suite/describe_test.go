package suite

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestDescribeSaysHowToCall: the example is accepted by execute, and what is missing is said before a run fails.
func TestDescribeSaysHowToCall(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("home/library/sub.json", `{"nodes": [{"id": "x", "type": "mcp-gone-read"}]}`)
	p.write("home/mcp-servers.json", `{"mcpServers": {"hub": {"command": "hub", "env": {"T": "${HUB_TOKEN}"}}}}`)
	p.write("home/registry.json", `{"nodes": {"mcp-gone-read": {"interface": {"mcp_metadata": {"server": "gone", "tool": "read"}}}}}`)
	p.draft("needy", `{"inputs": {"who": {"type": "string"}, "count": {"type": "integer"}, "deep": {"type": "object"}, "list": {"type": "array"}, "api_token": {"type": "string"}, "more": {"default": 1}},
		"nodes": [{"id": "say", "type": "echo", "params": {"message": "${who} ${count} ${deep} ${list}"}}, {"id": "tool", "type": "mcp-hub-do", "params": {"a": "${say.echo}"}},
			{"id": "sub", "type": "workflow", "params": {"workflow": "sub"}}],
		"edges": [{"from": "say", "to": "tool", "action": "error"}, {"from": "tool", "to": "sub"}],
		"outputs": {"said": {"source": "${say.echo}"}}}`)
	p.write("home/settings.json", `{"env": {"api_token": "the-secret-token"}}`)
	c := p.connect("pflow-serve")
	a, failed := c.call("describe_workflow", `{"name":"needy"}`)
	doc := sent(t, a)
	if failed || strings.Contains(doc, "the-secret-token") {
		t.Errorf("%s", doc)
	}
	for path, want := range map[string]string{
		"edges.#": "2", "edges.0.action": `"error"`, `templates.#(node=="say").reads`: `["who","count","deep","list"]`, `templates.#(node=="tool").path`: `"params.a"`,
		`dependencies.servers.#(name=="hub").configured`: "true", `dependencies.servers.#(name=="gone").configured`: "false", "dependencies.workflows": `["sub"]`,
		`dependencies.settings.#(name=="HUB_TOKEN").set`: "false", `dependencies.settings.#(name=="api_token").set`: "true", "saved": "false",
		"example.name": `"needy"`, "example.inputs.api_token": "", "example.inputs.more": "", "statistics.success_rate": "null",
	} {
		if got := gjson.Get(doc, path).Raw; got != want {
			t.Errorf("%s is %s, not %s", path, got, want)
		}
	}
	if a, failed = c.call("execute", gjson.Get(doc, "example").Raw); failed || a["success"] != true {
		t.Errorf("the example is not accepted: %v", a)
	}
	a, failed = c.call("save_to_library", `{"draft_name":"needy","final_name":"needy","description":"Needs much"}`)
	doc = sent(t, a)
	if failed || gjson.Get(doc, "dependencies.servers.#.name").Raw != `["gone","hub"]` || !strings.Contains(gjson.Get(doc, "dependencies.node_types").Raw, `"mcp-gone-read"`) ||
		gjson.Get(doc, `dependencies.settings.#(name=="HUB_TOKEN").for`).Str != "server hub" {
		t.Errorf("%s", doc)
	}
	c.leave()
}

// TestDescribeIsBounded: a workflow of 1,000 nodes is described in 8,192 bytes, with totals, and limit 0 has everything.
func TestDescribeIsBounded(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	inputs, nodes := map[string]any{}, []any{}
	for i := range 300 {
		inputs[fmt.Sprintf("input_%d", i)] = map[string]any{"type": "string", "description": strings.Repeat("What it is for. ", i%20)}
	}
	for i := range 1000 {
		nodes = append(nodes, map[string]any{"id": fmt.Sprintf("node-%d", i), "type": "echo", "purpose": "Say it", "params": map[string]any{"message": fmt.Sprintf("${input_%d}", i%300)}})
	}
	source, err := json.Marshal(map[string]any{"description": strings.Repeat("Long. ", 3000), "inputs": inputs, "nodes": nodes})
	if err != nil {
		t.Fatal(err)
	}
	p.write("home/library/large.json", string(source))
	c := p.connect("pflow-serve")
	pages := c.pages("describe_workflow", map[string]any{"name": "large"})
	doc := pages[0].Get("structuredContent")
	if doc.Get("nodes_total").Int() != 1000 || doc.Get("inputs_total").Int() != 300 || doc.Get("templates_total").Int() != 1000 || !doc.Get("truncated").Bool() {
		t.Errorf("%.600s", doc.Raw)
	}
	for _, list := range []string{"nodes.#", "templates.#", "inputs|@keys|#", "template_inputs.#"} {
		if doc.Get(list).Int() < 3 {
			t.Errorf("%s is %s", list, doc.Get(list).Raw)
		}
	}
	if text := pages[0].Get("content.0.text").Str; len(text) > 1000 || !strings.Contains(text, "pflow://workflows/") {
		t.Errorf("the text is %q", text)
	}
	a, _ := c.call("describe_workflow", `{"name":"large","limit":0}`)
	if whole := sent(t, a); gjson.Get(whole, "nodes.#").Int() != 1000 || gjson.Get(whole, "nodes_total").Exists() || gjson.Get(whole, "truncated").Exists() {
		t.Errorf("limit 0: %.300s", whole)
	}
	a, _ = c.call("describe_workflow", `{"name":"large","limit":2}`)
	if few := sent(t, a); gjson.Get(few, "nodes.#").Int() != 2 || gjson.Get(few, "nodes_total").Int() != 1000 {
		t.Errorf("limit 2: %.300s", few)
	}
	c.leave()
}
