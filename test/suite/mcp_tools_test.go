package suite

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// spokenServer is an MCP server in shell. $1 is how it begins: well, or with a fault; the file $2 has its tools. Its tools do what
// their names say.
const spokenServer = `
trap 'echo terminated >"$2.end"; exit 0' TERM
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
refuse() { printf '{"jsonrpc":"2.0","id":%s,"error":{"code":%s,"message":"%s"}}\n' "$id" "$1" "$2"; }
say() { answer '{"content":[{"type":"text","text":"'"$1"'"}]}'; }
while IFS= read -r line; do
	id=$(printf '%s\n' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
	case $line in
	*'"method":"initialize"'*)
		version=2025-11-25
		case $1 in
		garbage) echo '{"jsonrpc":"2.0","id":1,"result":{'; continue ;;
		old) version=1999-01-01 ;;
		crash) echo 'out of cheese' >&2; exit 3 ;;
		refuse) refuse -32000 'out of licences'; continue ;;
		esac
		answer '{"protocolVersion":"'$version'","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}' ;;
	*'"method":"tools/list"'*) answer '{"tools":'"$(cat "$2")"'}' ;;
	*'"method":"tools/call"'*)
		case $(printf '%s\n' "$line" | sed -n 's/.*"name":"\([a-zA-Z_ -]*\)".*/\1/p') in
		hang) sleep 60 & wait $! ;;
		method) refuse -32601 'no such thing' ;;
		params) refuse -32602 'title is missing' ;;
		garbage) echo '{"jsonrpc":' ;;
		die) echo 'out of memory' >&2; exit 7 ;;
		env) say "<${TOKEN-unset}>" ;;
		gone) refuse -32602 'Unknown tool: gone' ;;
		*) say "$(printf '%s' "$line" | sed 's/"/\\"/g')" ;;
		esac ;;
	*'"id":'*) refuse -32601 'unknown method' ;;
	esac
done`

// spoken configures a spokenServer with tools of the given names.
func (p *place) spoken(server, beginning string, tools ...string) {
	p.Helper()
	p.toolList(server, tools...)
	p.must("pflow-sync", "add", server, "--env", "TOKEN=${NOT_SET}", "--", "sh", "-c", spokenServer, "sh", beginning, filepath.Join(p.dir, server+".tools"))
}

func (p *place) toolList(server string, tools ...string) {
	p.Helper()
	entries := []string{}
	for _, name := range tools {
		entries = append(entries, fmt.Sprintf(`{"name":%q,"description":"does %s","inputSchema":{"type":"object","properties":{"title":{"type":"string"}}}}`, name, name))
	}
	p.write(server+".tools", "["+strings.Join(entries, ",")+"]")
}

// fails checks that a program fails with a status, and that its output has a text.
func (p *place) fails(exit int, text, name string, args ...string) outcome {
	p.Helper()
	o := p.run(name, args...)
	if o.exit != exit || !strings.Contains(o.stdout, text) {
		p.Errorf("%s %q: want status %d and %q: %s", name, args, exit, text, o)
	}
	return o
}

// entries returns the registry's node types.
func (p *place) entries() map[string]gjson.Result {
	p.Helper()
	return gjson.Get(p.read("home/registry.json"), "nodes").Map()
}

func TestMCPServersAreConfigured(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("pflow-sync", "add", "github", "--env", "GITHUB_TOKEN=${GITHUB_TOKEN}", "--", "npx", "@modelcontextprotocol/github")
	server := gjson.Get(p.read("home/mcp-servers.json"), "mcpServers.github")
	if server.Get("command").Str != "npx" || server.Get("args.0").Str != "@modelcontextprotocol/github" || server.Get("env.GITHUB_TOKEN").Str != "${GITHUB_TOKEN}" {
		t.Errorf("saved: %s", server.Raw)
	}
	before := p.read("home/mcp-servers.json")
	for _, transport := range []string{"sse", "ws", "carrier-pigeon"} {
		p.write("s.json", `{"servers":{"x":{"transport":"`+transport+`","url":"https://h/x"}}}`)
		p.fails(2, "streamable HTTP", "pflow-sync", "add", "s.json")
	}
	if p.read("home/mcp-servers.json") != before {
		t.Error("a refused configuration was written")
	}
}

func TestMCPServersThatDoNotBegin(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must("pflow-sync", "add", "absent", "--", "no-such-command-here")
	texts := map[string]string{
		"absent": "Command not found: no-such-command-here", "garbage": "Invalid JSON response from server", "old": "MCP protocol version not supported",
		"crash": "MCP server process terminated unexpectedly", "refuse": "out of licences",
	}
	for server, text := range texts {
		if server != "absent" {
			p.spoken(server, server, "a")
		}
		p.write("w.json", `{"nodes":[{"id":"n","type":"mcp-`+server+`-a"}]}`)
		p.fails(1, text, "pflow-sync", "sync", server)
		p.fails(1, text, "pflow-exec", "run", "w.json", "--format", "json")
		if o := p.run("pflow-sync", "call", server, "a"); o.exit == 0 || !strings.Contains(o.stdout, text) {
			t.Errorf("call: %s", o)
		}
	}
	p.fails(2, "Server nowhere not configured", "pflow-sync", "sync", "nowhere")
	p.fails(2, "Server nowhere not configured", "pflow-sync", "call", "nowhere", "a")
	if len(p.entries()) != 0 {
		t.Errorf("registered: %v", p.entries())
	}
}

func TestMCPToolsAreEntries(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.spoken("s", "well", "list_issues", "Create Issue", "get")
	p.spoken("other", "well", "get")
	p.spoken("empty", "well")
	out := p.must("pflow-sync", "sync", "--all")
	for path, want := range map[string]int64{"tools_discovered": 4, "tools_registered": 4, `servers.#(server=="s").tools_registered`: 3, `servers.#(server=="empty").tools_registered`: 0} {
		if gjson.Get(out, path).Int() != want {
			t.Errorf("%s is not %d: %s", path, want, out)
		}
	}
	for name, tool := range map[string]string{"mcp-s-list-issues": "list_issues", "mcp-s-create-issue": "Create Issue", "mcp-s-get": "get", "mcp-other-get": "get"} {
		e := p.entries()[name]
		if e.Get("class_name").Str != "MCPNode" || e.Get("module").Str != "pflow.nodes.mcp.node" || e.Get("file_path").Str != "virtual://mcp" ||
			e.Get("interface.actions").Raw == "" || e.Get("interface.params.0.name").Str != "title" || e.Get("interface.mcp_metadata.tool").Str != tool {
			t.Errorf("%s: %s", name, e.Raw)
		}
	}
	p.toolList("s", "list_issues", "get", "put")
	before := p.read("home/registry.json")
	p.write("s.tools", strings.Replace(p.read("s.tools"), "does get", "gets", 1))
	o := p.run("pflow-sync", "sync", "s")
	if got := gjson.Get(o.stdout, "servers.0.overwritten").Raw; o.exit != 0 || got != `["mcp-s-get"]` || !strings.Contains(o.stderr, "mcp-s-get") || strings.Contains(o.stderr, "mcp-s-list-issues") {
		t.Errorf("overwritten %s: %s", got, o)
	}
	e := p.entries()
	if _, kept := e["mcp-s-create-issue"]; kept || e["mcp-s-get"].Get("interface.description").Str != "gets" || !e["mcp-s-put"].Exists() || p.read("home/registry.json.bak") != before {
		t.Errorf("after: %v", e)
	}
	p.write("home/registry.json", "{corrupt")
	o = p.run("pflow-sync", "sync", "s")
	name := gjson.Get(o.stdout, "corrupt").Str
	if o.exit != 0 || p.read(filepath.Join("home", name)) != "{corrupt" || !strings.Contains(o.stderr, name) || len(p.entries()) != 3 {
		t.Errorf("corrupt: %s", o)
	}
}

func TestMCPNodesKnowTheirTool(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.spoken("github", "well", "create-issue", "Close Issue")
	p.must("pflow-sync", "sync", "github")
	p.write("w.json", `{"nodes":[{"id":"a","type":"echo"},{"id":"b","type":"mcp-github-close-issue","params":{"title":"t"}}],"outputs":{"sent":{"source":"${b.result}"}}}`)
	dry := p.must("pflow-exec", "run", "w.json", "--dry-run")
	stream := p.must("pflow-exec", "run", "w.json", "--format", "ndjson")
	var started []gjson.Result
	for line := range strings.Lines(stream) {
		if e := gjson.Parse(line); e.Get("event").Str == "node_started" {
			started = append(started, e)
		}
	}
	slices.SortFunc(started, func(a, b gjson.Result) int { return strings.Compare(a.Get("node").Str, b.Get("node").Str) })
	const tool = `{"server":"github","tool":"Close Issue"}`
	if len(started) != 2 || started[0].Get("mcp").Exists() || started[1].Get("mcp").Raw != tool || !strings.Contains(dry, tool) {
		t.Errorf("started %v, dry run %s", started, dry)
	}
	// What the server has read: the tool in its own spelling, and no metadata.
	sent := gjson.Get(p.must("pflow-exec", "wait", "last"), "outputs.sent").Get("params")
	if sent.Get("name").Str != "Close Issue" || sent.Get("arguments").Raw != `{"title":"t"}` {
		t.Errorf("sent: %s", sent.Raw)
	}
	p.write("own.json", `{"nodes":[{"id":"b","type":"mcp-github-close-issue","params":{"__mcp_tool__":"x"}}]}`)
	p.fails(2, "__mcp_tool__", "pflow-lib", "check", "own.json")
	// A type that is not registered is parsed: the server, then the tool.
	p.must("pflow-sync", "remove", "github")
	p.spoken("github", "well", "create-issue")
	p.write("parsed.json", `{"nodes":[{"id":"b","type":"mcp-github-create-issue"}]}`)
	if dry := p.must("pflow-exec", "run", "parsed.json", "--dry-run"); !strings.Contains(dry, `{"server":"github","tool":"create-issue"}`) {
		t.Errorf("dry run: %s", dry)
	}
	p.must("pflow-exec", "run", "parsed.json", "--format", "json")
	// Unless it is almost that of a registered tool.
	p.must("pflow-sync", "sync", "github")
	p.write("like.json", `{"nodes":[{"id":"b","type":"mcp-github-create-issues"}]}`)
	wrong := gjson.Parse(p.run("pflow-lib", "check", "like.json").stdout).Get("error")
	if hints := wrong.Get("@pretty").Raw; !strings.Contains(hints, "pflow-sync sync github") || !strings.Contains(hints, "mcp-github-create-issue\\\"") || !strings.Contains(hints, "MCP server github") {
		t.Errorf("a name like that of a registered tool: %s", wrong.Raw)
	}
}

func TestMCPToolsThatFail(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.spoken("s", "well", "method", "params", "garbage", "die", "env", "gone", "hang")
	p.must("pflow-sync", "sync", "s")
	p.toolList("s", "method", "params", "garbage", "die", "env", "hang")
	for tool, text := range map[string]string{
		"method": "Method not found", "params": "Invalid params: title is missing", "garbage": "Invalid JSON response from server",
		"die": "MCP server process terminated unexpectedly: out of memory", "gone": "Tool gone not found on server s",
	} {
		p.write(tool+".json", `{"nodes":[{"id":"n","type":"mcp-s-`+tool+`"}]}`)
		p.fails(1, text, "pflow-exec", "run", tool+".json", "--format", "json")
		if o := p.run("pflow-sync", "call", "s", tool); o.exit == 0 || !strings.Contains(o.stdout, text) {
			t.Errorf("call %s: %s", tool, o)
		}
	}
	p.write("env.json", `{"nodes":[{"id":"n","type":"mcp-s-env"}],"outputs":{"r":{"source":"${n.result}"}}}`)
	o := p.run("pflow-exec", "run", "env.json", "--format", "json")
	if gjson.Get(o.stdout, "outputs.r").Str != "<>" || !strings.Contains(o.stderr, "${NOT_SET}") {
		t.Errorf("an undefined variable: %s", o)
	}
}

func TestAnMCPServerThatHangsIsTerminated(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.toolList("h", "hang")
	p.write("servers.json", fmt.Sprintf(`{"mcpServers":{"h":{"command":"sh","args":["-c",%q,"sh","well",%q],"timeout":5}}}`, spokenServer, filepath.Join(p.dir, "h.tools")))
	p.must("pflow-sync", "add", "servers.json")
	p.write("w.json", `{"nodes":[{"id":"n","type":"mcp-h-hang"}]}`)
	p.fails(1, "MCP tool timed out after 5 seconds", "pflow-exec", "run", "w.json", "--format", "json")
	p.eventually("SIGTERM", func() bool { return p.read("h.tools.end") == "terminated\n" })
}
