package suite

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

// listedTool is a tool as tools/list shows it.
type listedTool struct {
	raw    string
	output *jsonschema.Schema // nil if the tool has none
}

// listTools reads the server's tools with their output schemas, by which every answer is checked.
func (c *client) listTools() {
	c.Helper()
	c.send(`{"jsonrpc":"2.0","id":"tools","method":"tools/list"}`)
	line := ""
	for gjson.Get(line, "id").Str != "tools" { // a notice may come before the answer
		var err error
		if line, err = c.stdout.ReadString('\n'); err != nil {
			c.Fatalf("no list of tools: %v, %s", err, c.stderr.String())
		}
	}
	c.tools = map[string]listedTool{}
	for _, tool := range gjson.Get(line, "result.tools").Array() {
		t := listedTool{raw: tool.Raw}
		if schema := tool.Get("outputSchema"); schema.Exists() {
			compiled, f := jsonschema.Compile(json.RawMessage(schema.Raw))
			if f != nil {
				c.Errorf("the output schema of %s: %v", tool.Get("name").Str, f)
			}
			t.output = compiled
		}
		c.tools[tool.Get("name").Str] = t
	}
}

// checkAnswer checks the structured content of a call's answer, success or failure, by the tool's output schema.
func (c *client) checkAnswer(message map[string]any, line string) {
	c.Helper()
	id, ok := message["id"].(float64)
	structured := gjson.Get(line, "result.structuredContent")
	tool := c.tools[c.called[int(id)]]
	if !ok || !structured.Exists() || tool.output == nil {
		return
	}
	if v := tool.output.Check(json.RawMessage(structured.Raw)); v != nil {
		c.Errorf("%s answers what its output schema does not allow: %v: %s", c.called[int(id)], v, structured.Raw)
	}
}

// TestEveryToolHasAnOutputSchema holds what clients want of one: type object at the root, and no choice there.
func TestEveryToolHasAnOutputSchema(t *testing.T) {
	t.Parallel()
	c := newPlace(t).connect("pflow-serve")
	defer c.leave()
	if len(c.tools) == 0 {
		t.Fatal("no tools")
	}
	for name, tool := range c.tools {
		for _, key := range []string{"inputSchema", "outputSchema"} {
			schema := gjson.Get(tool.raw, key)
			if schema.Get("type").Str != "object" || schema.Get("oneOf").Exists() || schema.Get("anyOf").Exists() || schema.Get("allOf").Exists() {
				t.Errorf("%s of %s: %s", key, name, schema.Raw)
			}
		}
		if gjson.Get(tool.raw, "title").Str == "" {
			t.Errorf("%s has no title", name)
		}
		if annotations := gjson.Get(tool.raw, "annotations"); len(annotations.Map()) != 5 {
			t.Errorf("%s has the annotations %s", name, annotations.Raw)
		}
	}
}

// TestAnswersFitTheirSchemas plays successes and failures of every tool; the client checks each answer.
func TestAnswersFitTheirSchemas(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("greet", chain("echo hello"))
	p.draft("fail", chain("echo first", "exit 3"))
	p.draft("torn", `{"nodes":[`)
	c := p.connect("pflow-serve")
	defer c.leave()
	for _, call := range []struct {
		tool, arguments string
		failed          bool
	}{
		{"browse_components", `{"query":"shell"}`, false},
		{"browse_components", `{"query":"zebra","include_workflows":false}`, false},
		{"browse_components", `{"query":7}`, true},
		{"describe_workflow", `{"name":"greet"}`, false},
		{"describe_workflow", `{"name":"shell"}`, false},
		{"describe_workflow", `{"name":"nothing"}`, true},
		{"describe_workflow", `{"name":"../greet"}`, true},
		{"describe_workflow", `{"name":"torn"}`, true},
		{"execute", `{"name":"greet"}`, false},
		{"execute", `{"name":"fail"}`, true},
		{"execute", `{"name":"fail","resume":"last"}`, true},
		{"execute", `{"name":"greet","inputs":{"no":1}}`, true},
		{"execute", `{"name":"nothing"}`, true},
		{"save_to_library", `{"draft_name":"fail","final_name":"kept","description":"d"}`, false},
		{"save_to_library", `{"draft_name":"greet","final_name":"kept","description":"d"}`, true},
		{"save_to_library", `{}`, true},
		{"list_library", `{}`, false},
		{"list_library", `{"pattern":null}`, false},
	} {
		if a, failed := c.call(call.tool, call.arguments); failed != call.failed {
			t.Errorf("%s %s: failed %v: %v", call.tool, call.arguments, failed, a)
		}
	}
}

// TestTheServerIntroducesItself holds the bounds of what a client's model reads first.
func TestTheServerIntroducesItself(t *testing.T) {
	t.Parallel()
	c := newPlace(t).connect("pflow-serve")
	defer c.leave()
	total := 0
	for name, tool := range c.tools {
		total += len(tool.raw)
		if description := gjson.Get(tool.raw, "description").Str; len(description) == 0 || len(description) > 2048 {
			t.Errorf("the description of %s has %d bytes", name, len(description))
		}
		if len(name) > 40 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
			t.Errorf("the name %s", name)
		}
	}
	if t.Logf("the list of tools has %d bytes", total); total > 12<<10 {
		t.Errorf("the list of tools has %d bytes", total)
	}
}
