package suite

import (
	"encoding/json"
	"fmt"
	"net/url"
	"testing"
)

// ask sends a request and returns the result, or the code and the data of the error.
func (c *client) ask(method string, params any) (result map[string]any, code int, data map[string]any) {
	c.Helper()
	raw, err := json.Marshal(params)
	if err != nil {
		c.Fatal(err)
	}
	c.id++
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.id, method, raw))
	message := c.receive()
	for message["id"] != float64(c.id) {
		message = c.receive()
	}
	if result, ok := message["result"].(map[string]any); ok {
		return result, 0, nil
	}
	e, _ := message["error"].(map[string]any)
	number, _ := e["code"].(float64)
	data, _ = e["data"].(map[string]any)
	return nil, int(number), data
}

// resource reads a resource, which must exist.
func (c *client) resource(uri string) (text, mimeType string) {
	c.Helper()
	result, code, data := c.ask("resources/read", map[string]string{"uri": uri})
	contents, _ := result["contents"].([]any)
	if len(contents) != 1 {
		c.Fatalf("%s: %d %v", uri, code, data)
	}
	content, _ := contents[0].(map[string]any)
	text, _ = content["text"].(string)
	mimeType, _ = content["mimeType"].(string)
	if content["uri"] != uri {
		c.Errorf("%s is called %v", uri, content["uri"])
	}
	return text, mimeType
}

// TestResources reads each resource through a session: guide, schema, a node type, workflows of both forms, and a run with
// names that must be encoded.
func TestResources(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("inner", `{"nodes":[{"id":"say","type":"shell","params":{"command":"echo from inside"}}]}`)
	source := " {\"nodes\":[{\"id\":\"a\",\"type\":\"shell\",\"params\":{\"command\":\"echo one; echo two >&2\"}},{\"id\":\"sub\",\"type\":\"workflow\",\"params\":{\"workflow\":\"inner\"}}]," +
		"\"outputs\":{\"größe & mehr\":{\"source\":\"${a.stdout}\"}}}\n\n"
	p.draft("w", source)
	markdown := "# M\n\nSay it.\n\n## Steps\n\n### a\n\nSay it.\n\n- type: echo\n"
	p.write("home/workflows/m.pflow.md", markdown)
	c := p.connect("pflow-serve")
	if a, failed := c.call("execute", `{"name":"w"}`); failed {
		t.Fatalf("%v", a)
	}
	guide, _ := c.resource("pflow://guide")
	schema, _ := c.resource("pflow://schema")
	if guide != p.must("pflow-lib", "guide") || schema != p.must("pflow-lib", "schema") || len(guide) < 1000 {
		t.Error("the guide or the schema is another one than that of pflow-lib")
	}
	run := p.onlyRun()
	for uri, want := range map[string]struct{ text, mime string }{
		"pflow://workflows/w": {source, "application/json"},
		"pflow://workflows/m": {markdown, "text/markdown"},
		"pflow://runs/last/outputs/" + url.PathEscape("größe & mehr"): {"one", "text/plain"},
		"pflow://runs/" + run + "/logs/a":                             {"one\ntwo\n", "text/plain"},
		"pflow://runs/last/logs/sub%2Fsay":                            {"from inside\n", "text/plain"},
		"pflow://runs/last/logs":                                      {"a | one\na | two\nsub/say | from inside\n", "text/plain"},
	} {
		if text, mime := c.resource(uri); text != want.text || mime != want.mime {
			t.Errorf("%s is %q of type %s", uri, text, mime)
		}
	}
	for uri, want := range map[string]map[string]any{
		"pflow://nodes/echo":                {"type": "echo"},
		"pflow://runs/last":                 {"run_id": run, "status": "completed"},
		"pflow://runs/last/nodes/a":         {"node": "a", "state": "completed"},
		"pflow://runs/last/nodes/sub%2Fsay": {"node": "sub/say", "state": "completed"},
	} {
		text, mime := c.resource(uri)
		document := c.document(text)
		for key, value := range want {
			if document[key] != value || mime != "application/json" {
				t.Errorf("%s is %s of type %s", uri, text, mime)
			}
		}
	}
	for _, uri := range []string{
		"pflow://nodes/ecko", "pflow://nodes/w", "pflow://workflows/nothing", "pflow://workflows/Not%20A%20Name", "pflow://runs/rzz", "pflow://runs/rzz/logs",
		"pflow://runs/last/outputs/x", "pflow://runs/last/nodes/x", "pflow://runs/last/logs/x", "pflow://nothing", "file:///etc/passwd",
	} {
		if _, code, data := c.ask("resources/read", map[string]string{"uri": uri}); code != -32002 || data["type"] != "not_found" || data["suggestions"] == nil && data["available"] == nil {
			t.Errorf("%s: %d %v", uri, code, data)
		}
	}
	c.leave()
}

// TestResourcesOfRunsWithoutOutputs: a run that failed or is paused has no outputs, and a quiet node has an empty log. An ended run
// is read at once, however short the time to wait.
func TestResourcesOfRunsWithoutOutputs(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	c := p.connect("pflow-serve")
	execute := func(name, node string) {
		p.draft(name, `{"nodes":[{"id":"a","type":"shell",`+node+`}],"outputs":{"x":{"source":"${a.stdout}"}}}`)
		c.call("execute", `{"name":"`+name+`"}`)
	}
	for state, node := range map[string]string{
		"failed": `"params":{"command":"exit 3"}`,
		"paused": `"params":{"command":"true"},"approval":{"question":"go?"}`,
	} {
		execute(state, node)
		_, code, data := c.ask("resources/read", map[string]string{"uri": "pflow://runs/last/outputs/x"})
		if details, _ := data["details"].(map[string]any); code != -32002 || data["type"] != "not_found" || details["status"] != state {
			t.Errorf("%s: %d %v", state, code, data)
		}
	}
	execute("quiet", `"params":{"command":"true"}`)
	for _, uri := range []string{"pflow://runs/last/outputs/x", "pflow://runs/last/logs/a"} {
		result, code, data := c.ask("resources/read", map[string]string{"uri": uri})
		contents, _ := result["contents"].([]any)
		if len(contents) != 1 || contents[0].(map[string]any)["text"] != "" {
			t.Errorf("%s: %v, %d %v", uri, result, code, data)
		}
	}
	if got := p.must("pflow-exec", "wait", "last", "--timeout=1ns", "--print=x"); got != "\n" {
		t.Errorf("wait prints %q", got)
	}
	c.leave()
}

// TestTheOutputOfALiveRun: a read does not wait for the end of a run.
func TestTheOutputOfALiveRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.draft("long", gated())
	c := p.connect("pflow-serve")
	c.request("execute", `{"name":"long"}`)
	execute := c.id
	open := g.reached()
	if _, code, data := c.ask("resources/read", map[string]string{"uri": "pflow://runs/last/outputs/x"}); code != -32002 || data["type"] != "not_found" {
		t.Errorf("%d %v", code, data)
	}
	if text, _ := c.resource("pflow://runs/last"); c.document(text)["status"] != "running" {
		t.Errorf("the run is %s", text)
	}
	open()
	c.id = execute
	if a, failed := c.answer(); failed {
		t.Errorf("%v", a)
	}
	c.leave()
}
