package suite

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// maxAnswer is the most bytes of a document that a tool answers unless it is asked for more.
const maxAnswer = 8192

// toolNames returns the names of the tools of a session.
func (c *client) toolNames() string { return strings.Join(slices.Sorted(maps.Keys(c.tools)), " ") }

// TestToolsetsAreChosen holds which tools a server has, by flag and by environment.
func TestToolsetsAreChosen(t *testing.T) {
	t.Parallel()
	const (
		core     = "browse_components describe_workflow execute list_library save_to_library"
		drafts   = "check_draft delete_draft read_draft write_draft"
		servers  = "call_server_tool list_server_tools list_servers sync_server"
		veloflux = "veloflux_call veloflux_read"
	)
	for _, c := range []struct {
		env  string
		args []string
		want string
	}{
		{"", nil, core},
		{"", []string{"--toolsets", "core"}, core},
		{"", []string{"stdio", "--toolsets=servers"}, servers},
		{"drafts", nil, drafts},
		{"servers,veloflux", nil, servers + " " + veloflux},
		{"servers", []string{"--toolsets", "veloflux"}, veloflux},
	} {
		p := newPlace(t)
		p.env = append(p.env, "PFLOW_TOOLSETS="+c.env)
		client := p.connect("pflow-serve", c.args...)
		if got := client.toolNames(); got != c.want {
			t.Errorf("%s %q: %s", c.env, c.args, got)
		}
		client.leave()
	}
	for _, args := range [][]string{{"--toolsets", "core,servrs"}, {"--toolsets", "drafts,servrs"}, {"--toolsets=,"}} {
		p := newPlace(t)
		o := p.run("pflow-serve", args...)
		f := gjson.Get(o.stdout, "error")
		if o.exit != 2 || f.Get("type").Str != "usage_error" || f.Get("available.0").Str != "core" || p.exists("home") {
			t.Errorf("%q: %s", args, o)
		}
	}
	if o := newPlace(t).run("pflow-serve", "--toolsets", "servrs"); !strings.Contains(o.stdout, `Did you mean \"servers\"?`) {
		t.Error(o)
	}
}

// TestAToolOfAnotherToolset: the error of a call names the toolset that has the tool.
func TestAToolOfAnotherToolset(t *testing.T) {
	t.Parallel()
	c := newPlace(t).connect("pflow-serve")
	defer c.leave()
	for tool, want := range map[string]string{"sync_server": "core,servers", "veloflux_call": "core,veloflux", "list_librry": `"list_library"`} {
		c.request(tool, `{}`)
		e, _ := c.receive()["error"].(map[string]any)
		if e["code"] != float64(-32602) || !strings.Contains(fmt.Sprint(e["message"]), want) {
			t.Errorf("%s: %v", tool, e)
		}
	}
}

// TestServersThroughTheFront plays the toolset servers: a server is listed, synced, and called.
func TestServersThroughTheFront(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("pflow-sync", "add", "suite", "--", "pflow-serve", "--toolsets", "core,servers")
	c := p.connect("pflow-serve", "--toolsets", "core,servers")
	defer c.leave()
	ok := func(tool, arguments string) gjson.Result {
		t.Helper()
		a, failed := c.call(tool, arguments)
		raw, _ := rawjson.Marshal(a)
		if failed {
			t.Errorf("%s %s: %s", tool, arguments, raw)
		}
		return gjson.ParseBytes(raw)
	}
	if got := ok("list_servers", `{}`); got.Get("servers.0.server").Str != "suite" || got.Get("servers.0.tools").Int() != 0 || got.Get("total").Int() != 1 {
		t.Error(got)
	}
	if got := ok("list_server_tools", `{"server":"suite"}`); got.Get("tools").Raw != "[]" {
		t.Error(got)
	}
	if got := ok("sync_server", `{"server":"suite","replace":null}`); got.Get("tools_registered").Int() != 10 {
		t.Error(got)
	}
	if got := ok("list_server_tools", `{"server":"suite"}`); got.Get("tools.#").Int() != 10 || got.Get("tools.0.node_type").Str != "mcp-suite-browse-components" {
		t.Error(got)
	}
	if got := ok("list_server_tools", `{"server":"suite","tool":"execute"}`); got.Get("tools.#").Int() != 1 || got.Get("tools.0.inputs.0.name").Str != "name" {
		t.Error(got)
	}
	if got := ok("list_server_tools", `{"tool":"execute"}`); got.Get("tools.#").Int() != 1 {
		t.Error(got)
	}
	if got := ok("call_server_tool", `{"server":"suite","tool":"list_library","arguments":{"pattern":""}}`); got.Get("result.workflows").Raw != "[]" {
		t.Error(got)
	}
	if got := ok("browse_components", `{"query":"mcp-suite-execute"}`); got.Get("nodes.0.type").Str != "mcp-suite-execute" {
		t.Error(got)
	}
	for arguments, want := range map[string]string{
		`{"server":"siute"}`:                   "not_found",
		`{"server":"../suite"}`:                "usage_error",
		`{"server":"--all"}`:                   "usage_error",
		`{}`:                                   "usage_error",
		`{"server":"suite","tool":"--"}`:       "usage_error",
		`{"server":"suite","tool":"nothing"}`:  "not_found",
		`{"server":"suite","arguments":[1]}`:   "usage_error",
		`{"server":"suite","cursor":"forged"}`: "usage_error",
	} {
		tool := "sync_server"
		switch {
		case strings.Contains(arguments, `"tool"`) || strings.Contains(arguments, `"arguments"`):
			tool = "call_server_tool"
		case strings.Contains(arguments, `"cursor"`):
			tool = "list_server_tools"
		}
		a, failed := c.call(tool, arguments)
		if raw, _ := rawjson.Marshal(a); !failed || gjson.GetBytes(raw, "error.type").Str != want {
			t.Errorf("%s %s: %v", tool, arguments, a)
		}
	}
}

// keysOfPages reads all pages of a tool's list, and returns the keys of the entries.
func (c *client) keysOfPages(tool, list, key string) (keys []string) {
	c.Helper()
	for cursor, first := "", true; first || cursor != ""; first = false {
		a, failed := c.call(tool, `{"cursor":`+quote(cursor)+`}`)
		raw, _ := rawjson.Marshal(a)
		entries := gjson.GetBytes(raw, list).Array()
		if failed || len(raw) > maxAnswer || len(entries) == 0 {
			c.Fatalf("%s: a page of %d bytes: %.300s", tool, len(raw), raw)
		}
		for _, e := range entries {
			keys = append(keys, e.Get(key).Str)
		}
		cursor = gjson.GetBytes(raw, "next_cursor").Str
	}
	return keys
}

// TestAnswersOfServersAreBounded: with many servers, many tools, tools with long texts and long results every answer has at
// most 8,192 bytes, the pages together have everything once, and limit 0 gives all in one.
func TestAnswersOfServersAreBounded(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	servers, nodes := map[string]any{}, map[string]any{}
	for i := range 300 {
		name := fmt.Sprintf("s%03d", i)
		long := 0 // one in 30 does not fit into a page
		if i%30 == 0 {
			long = 30 * i
		}
		servers[name] = map[string]any{"command": "true", "args": []string{strings.Repeat("long ", long)}}
		nodes["mcp-"+name+"-t"] = map[string]any{"class_name": "MCPNode", "interface": map[string]any{
			"description": strings.Repeat("ü<", long), "mcp_metadata": map[string]any{"server": name, "tool": "t"},
		}}
	}
	servers["huge"] = map[string]any{"command": "pflow-serve"}
	document := func(v any) string { raw, _ := rawjson.Marshal(v); return string(raw) }
	p.write("home/mcp-servers.json", document(map[string]any{"mcpServers": servers}))
	p.write("home/registry.json", document(map[string]any{"version": "1.0.0", "nodes": nodes}))
	c := p.connect("pflow-serve", "--toolsets", "servers")
	defer c.leave()
	for tool, want := range map[string][2]string{"list_servers": {"servers", "server"}, "list_server_tools": {"tools", "node_type"}} {
		keys := c.keysOfPages(tool, want[0], want[1])
		all, failed := c.call(tool, `{"limit":0}`)
		entries, _ := all[want[0]].([]any)
		if failed || len(entries) != len(keys) || all["next_cursor"] != nil || all["total"] != float64(len(keys)) {
			t.Errorf("%s: %d entries in pages, %d at once", tool, len(keys), len(entries))
		}
		if len(keys) < 300 || !slices.IsSorted(keys) || len(slices.Compact(keys)) != len(entries) {
			t.Errorf("%s: %q", tool, keys)
		}
		if a, _ := c.call(tool, `{"limit":2}`); len(a[want[0]].([]any)) != 2 || a["next_cursor"] == nil {
			t.Errorf("%s: %v", tool, a)
		}
	}
	// A long result: its beginning, and all of it on request.
	p.draft("long", `{"nodes":[{"id":"a","type":"shell","params":{"command":"seq 1 20000"}}]}`)
	run := func(more string) (string, map[string]any) {
		a, failed := c.call("call_server_tool", `{"server":"huge","tool":"execute","arguments":{"name":"long","max_output_chars":0}`+more+`}`)
		if failed {
			t.Errorf("%v", a)
		}
		raw, _ := rawjson.Marshal(a)
		return string(raw), a
	}
	raw, a := run("")
	if size, _ := a["result_bytes"].(float64); len(raw) > maxAnswer || len(raw) < maxAnswer/2 || a["result"] != nil || size < 100_000 || !strings.HasPrefix(fmt.Sprint(a["result_head"]), `{"success":true`) {
		t.Errorf("%d bytes: %.300s", len(raw), raw)
	}
	if raw, a := run(`,"max_bytes":0`); len(raw) < 100_000 || a["result_head"] != nil {
		t.Errorf("%d bytes: %.300s", len(raw), raw)
	}
	if raw, _ := run(`,"max_bytes":2000`); len(raw) > 2000 {
		t.Errorf("%d bytes", len(raw))
	}
}

// TestACanaryThroughTheToolsetServers: what a server's configuration has, and what the server says of it, is in no answer.
func TestACanaryThroughTheToolsetServers(t *testing.T) {
	t.Parallel()
	needs(t, "sed", "tr", "cat")
	secrets := flock()[:4]
	p := newPlace(t)
	h := p.look(secrets...)
	h.theirs = append(h.theirs, "mcp-servers.json")
	script := p.write("server.sh", fakeServer)
	p.write("said", strings.Join(secrets, "\n"))
	p.write("home/mcp-servers.json", fmt.Sprintf(`{"mcpServers":{"f":{"command":"sh","args":[%q,"said","--api-key",%q,"postgres://a:%s@h/d"],"env":{"API_TOKEN":%q,"DB_URL":"postgres://me:%s@h/db"}}}}`,
		script, secrets[0], secrets[1], secrets[2], secrets[3]))
	c := p.connect("pflow-serve", "--toolsets", "servers", "--log-level", "debug")
	for _, call := range [][2]string{
		{"list_servers", `{}`}, {"sync_server", `{"server":"f"}`}, {"list_server_tools", `{}`}, {"list_server_tools", `{"server":"f","tool":"say"}`},
		{"call_server_tool", `{"server":"f","tool":"say"}`}, {"call_server_tool", `{"server":"f","tool":"fail"}`}, {"call_server_tool", `{"server":"f","tool":"none"}`},
	} {
		c.request(call[0], call[1])
		answer, _ := rawjson.Marshal(c.receive())
		h.in("the answer of "+call[0], string(answer))
	}
	_ = c.stdin.Close()
	_ = c.cmd.Wait()
	h.in("standard error of pflow-serve", c.stderr.String())
	p.draft("telling", `{"nodes":[{"id":"a","type":"mcp-f-say"},{"id":"b","type":"mcp-f-fail"}]}`)
	h.ask("", "pflow-exec", "run", "telling")
	h.everywhere()
}

// TestVelofluxThroughTheFront plays the toolset veloflux against a Manager, whose errors keep the shape of veloflux-mcp.
func TestVelofluxThroughTheFront(t *testing.T) {
	t.Parallel()
	p, _ := fluxPlace(t)
	c := p.connect("pflow-serve", "--toolsets", "veloflux")
	defer c.leave()
	answer := func(tool, arguments string, fails bool) gjson.Result {
		t.Helper()
		a, failed := c.call(tool, arguments)
		if failed != fails {
			t.Errorf("%s %s: %v", tool, arguments, a)
		}
		raw, _ := rawjson.Marshal(a)
		return gjson.ParseBytes(raw)
	}
	for path, got := range map[string]gjson.Result{
		"streams.0.name":   answer("veloflux_read", `{"uri":"veloFlux://streams/snapshot"}`, false),
		"schema.columns":   answer("veloflux_read", `{"uri":"veloFlux://streams/schema?name=user"}`, false),
		"streams":          answer("veloflux_call", `{"tool":"streams.list","arguments":null}`, false),
		"error.details":    answer("veloflux_call", `{"tool":"pipelines.verify","arguments":{"sql":"SELECT a FORM user"}}`, true),
		"error.error_code": answer("veloflux_call", `{"tool":"nothing"}`, true),
	} {
		if !got.Get(path).Exists() {
			t.Errorf("no %s in %s", path, got)
		}
	}
	if got := answer("veloflux_call", `{"tool":"pipelines.verify","arguments":{"sql":7}}`, true).Get("error.error_code").Str; got != "invalid_params" {
		t.Error(got)
	}
	if got := answer("veloflux_read", `{"uri":"veloFlux://streams/schema?name=`+strconv.Itoa(7)+`"}`, true).Get("error.error_code").Str; got != "not_found" {
		t.Error(got)
	}
}

// TestACancelledCallOfAServerLeavesNothing: the processes of a server end with the call that started it, whoever ends it.
func TestACancelledCallOfAServerLeavesNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("hung.sh", "echo > \"$1\"; exec sleep 1000\n")
	c := p.connect("pflow-serve", "--toolsets", "servers")
	for i, tool := range []string{"call_server_tool", "sync_server"} {
		begun := fmt.Sprintf("begun%d", i)
		p.must("pflow-sync", "add", "--force", "hung", "--", "sh", filepath.Join(p.dir, "hung.sh"), filepath.Join(p.dir, begun))
		arguments := map[string]string{"call_server_tool": `{"server":"hung","tool":"x"}`, "sync_server": `{"server":"hung"}`}[tool]
		id := c.request(tool, arguments)
		p.eventually("the server has begun", func() bool { return p.exists(begun) })
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"enough"}}`, id))
		p.eventually("only pflow-serve is left", func() bool {
			left := processes("PFLOW_HOME=" + p.home)
			return len(left) == 1 && left[c.cmd.Process.Pid] != ""
		})
		if a, failed := c.call("list_servers", `{}`); failed {
			t.Errorf("the server does not serve on: %v", a)
		}
	}
	c.leave()
}
