package suite

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// Arguments are checked by the tool's whole schema before its server starts: this server cannot start any more.
func TestToolArgumentsAreCheckedBeforeTheServerStarts(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve("shop", `[{"name":"order","inputSchema":{"type":"object","properties":{"lines":{"type":"array","items":{"type":"object",
		"additionalProperties":false,"properties":{"size":{"enum":["small","large"]},"count":{"type":"integer"}}}}}}}]`, nil)
	p.must("pflow-sync", "add", "--force", "shop", "--", "no-such-command")
	p.write("bad.json", `{"nodes":[{"id":"n","type":"mcp-shop-order","params":{"lines":[{"count":1},{"size":"larg"}]}}]}`)
	o := p.run("pflow-lib", "check", "bad.json")
	f := gjson.Get(o.stdout, "error")
	if o.exit != 2 || f.Get("path").Str != "nodes[0].params.lines[1].size" || !strings.Contains(f.Get("suggestions").Raw, "large") {
		t.Errorf("check: %s", o)
	}
	p.write("late.json", `{"inputs":{"lines":{"type":"array","required":true}},"nodes":[{"id":"n","type":"mcp-shop-order","params":{"lines":"${lines}"}}]}`)
	o = p.run("pflow-exec", "run", "late.json", `lines=[{"size":"small","count":"many"}]`, "--format", "json")
	if f := gjson.Get(o.stdout, "error"); o.exit != 1 || f.Get("path").Str != "params.lines[0].count" || f.Get("node").Str != "n" {
		t.Errorf("run: %s", o)
	}
	o = p.run("pflow-exec", "run", "late.json", `lines=[{"size":"small"}]`, "--format", "json")
	if o.exit != 1 || !strings.Contains(o.stdout, "Command not found: no-such-command") {
		t.Errorf("right arguments: %s", o)
	}
}

// The registry entry of the specification, without mcp_metadata, is found, described, checked and run.
func TestRegistryEntryWithoutMetadata(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve("github", `[{"name":"create_issue","inputSchema":{"type":"object"},"outputSchema":{"properties":{"result":{"type":"string"}}}}]`,
		map[string]string{"create_issue": `{"content":[],"structuredContent":{"result":"done"}}`})
	p.write("home/registry.json", `{"mcp-github-create-issue":{"class_name":"MCPNode","module":"pflow.nodes.mcp.node","file_path":"virtual://mcp","interface":{
		"description":"Create a GitHub issue","params":[{"name":"title","type":"str"},{"name":"body","type":"str"}],
		"outputs":[{"name":"issue_url","type":"str"}],"actions":["default","error"]}}}`)
	if out := p.must("pflow-lib", "describe", "mcp-github-create-issue"); gjson.Get(out, "description").Str != "Create a GitHub issue" {
		t.Errorf("describe: %s", out)
	}
	if out := p.must("pflow-sync", "tools", "github"); gjson.Get(out, "tool").Str != "create-issue" {
		t.Errorf("tools: %s", out)
	}
	p.write("w.json", `{"nodes":[{"id":"n","type":"mcp-github-create-issue","params":{"title":"t"}}],"outputs":{"r":{"source":"${n.result}"}}}`)
	out := p.must("pflow-exec", "run", "w.json", "--format", "json")
	if gjson.Get(out, "outputs.r").Str != "done" {
		t.Errorf("run: %s", out)
	}
	p.write("wrong.json", `{"nodes":[{"id":"n","type":"mcp-github-create-issue","params":{"titel":"t"}}]}`)
	if o := p.run("pflow-lib", "check", "wrong.json"); o.exit != 2 {
		t.Errorf("check: %s", o)
	}
	p.must("pflow-sync", "sync", "github") // its own entry takes the place of that one
	entry := gjson.Get(p.read("home/registry.json"), "nodes.mcp-github-create-issue")
	if entry.Get("interface.mcp_metadata.tool").Str != "create_issue" || entry.Get("interface.mcp_metadata.output_schema.properties.result.type").Str != "string" {
		t.Errorf("entry: %s", entry.Raw)
	}
}
