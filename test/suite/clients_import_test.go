package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// becomes returns what has become of each server, by "CLIENT NAME".
func becomes(items string) map[string]string {
	fate := map[string]string{}
	for _, i := range gjson.Get(items, "items").Array() {
		fate[i.Get("client").Str+" "+i.Get("name").Str] = i.Get("status").Str
	}
	return fate
}

func checkFates(t *testing.T, what, items string, want map[string]string) {
	t.Helper()
	got := becomes(items)
	for name, status := range want {
		if got[name] != status {
			t.Errorf("%s: %s is %q, want %q", what, name, got[name], status)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: got %v", what, got)
	}
}

// clientFiles writes configurations as the clients write them, with secrets that no output may have.
func (p *place) clientFiles() {
	p.Helper()
	for path, content := range map[string]string{
		".claude.json": `{"numStartups":3,"mcpServers":{"My Loc":{"type":"stdio","command":"npx","args":["-y","srv","--header","Authorization: Bearer s3cret-five","-e","A_PASS=s3cret-six"],"env":{"API_KEY":"s3cret-one"}},
			"web":{"type":"http","url":"https://example.com/mcp","headers":{"Authorization":"Bearer s3cret-two"}}},
			"projects":{"` + p.dir + `/proj":{"mcpServers":{"mine":{"command":"./serve.sh"}}}}}`,
		".codex/config.toml":         "[mcp_servers.web]\nurl = \"https://example.com/mcp\"\nbearer_token_env_var = \"DOCS_TOKEN\"\n",
		".gemini/settings.json":      `{"mcpServers":{"old":{"url":"https://example.com/sse","type":"sse","headers":{"K":"s3cret-three"}}}}`,
		".cursor/mcp.json":           `{"mcpServers":{"x":{"command":"a","env":{"TOKEN":"s3cret-four"}}`,
		"proj/.vscode/mcp.json":      "// of the project\n{\"servers\":{\"code\":{\"command\":\"sh\",\"args\":[\"${workspaceFolder}/serve.sh\",\"${input:key}\"]}},\"inputs\":[{\"id\":\"key\",\"type\":\"promptString\"}]}",
		".config/Code/User/mcp.json": `{"servers":{}}`,
		"proj/serve.sh":              "#!/bin/sh\nexec sh -c '" + strings.ReplaceAll(toolServer, "'", `'\''`) + "' server \"$PWD/list\"\n",
		"proj/list":                  `[{"name":"where","inputSchema":{"type":"object"}}]`,
		"proj/where.json":            `{"content":[{"type":"text","text":"in the project"}]}`,
	} {
		p.write(path, content)
	}
	if err := os.Chmod(filepath.Join(p.dir, "proj/serve.sh"), 0o700); err != nil {
		p.Fatal(err)
	}
}

func TestServersOfOtherClientsAreTakenOver(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.clientFiles()
	quiet := func(args ...string) outcome {
		t.Helper()
		o := p.run("pflow-sync", append([]string{"import"}, args...)...)
		if strings.Contains(o.stdout+o.stderr, "s3cret") {
			t.Errorf("import %v shows a secret: %s", args, o)
		}
		return o
	}
	listed := quiet("--limit", "0")
	checkFates(t, "list", listed.stdout, map[string]string{
		"claude-code My Loc": "taken", "claude-code web": "taken", "codex web": "kept", "gemini old": "refused", "claude-code mine": "taken",
	})
	if listed.exit != 0 || gjson.Get(listed.stdout, "total").Int() != 5 || !strings.HasSuffix(gjson.Get(listed.stdout, "warnings.0.file").Str, ".cursor/mcp.json") {
		t.Errorf("list: %s", listed)
	}
	if _, err := os.Stat(filepath.Join(p.home, "mcp-servers.json")); !os.IsNotExist(err) {
		t.Errorf("a list wrote the configuration: %v", err)
	}
	if o := quiet("unknown"); o.exit != 2 || gjson.Get(o.stdout, "error.type").Str != "not_found" {
		t.Error(o)
	}
	if o := quiet("--from", "notepad"); o.exit != 2 || gjson.Get(o.stdout, "error.type").Str != "usage_error" {
		t.Error(o)
	}

	taken := quiet("--all")
	if taken.exit != 1 {
		t.Error(taken)
	}
	servers := gjson.Get(p.read("home/mcp-servers.json"), "mcpServers")
	for path, want := range map[string]string{
		"my-loc.env.API_KEY": "s3cret-one", "web.headers.Authorization": "Bearer s3cret-two", "mine.cwd": filepath.Join(p.dir, "proj"), "old": "",
	} {
		if got := servers.Get(path).String(); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	if info, err := os.Stat(filepath.Join(p.home, "mcp-servers.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of the file: %v, %v", info, err)
	}
	p.must("pflow-sync", "disable", "my-loc")
	before := p.read("home/mcp-servers.json")
	if o := quiet("My Loc"); o.exit != 0 || becomes(o.stdout)["claude-code My Loc"] != "unchanged" || p.read("home/mcp-servers.json") != before {
		t.Errorf("a server that is there: %s", o)
	}
	if o := quiet("web", "--from", "codex"); o.exit != 1 || becomes(o.stdout)["codex web"] != "kept" || gjson.Get(o.stdout, "items.0.error.type").Str != "already_exists" || p.read("home/mcp-servers.json") != before {
		t.Errorf("another server of a name: %s", o)
	}
	if o := quiet("web", "--from", "codex", "--rename", "web=docs"); o.exit != 0 || gjson.Get(o.stdout, "items.0.server").Str != "docs" {
		t.Errorf("--rename: %s", o)
	}
	if o := quiet("web", "--from", "codex", "--force"); o.exit != 0 {
		t.Errorf("--force: %s", o)
	}
	servers = gjson.Get(p.read("home/mcp-servers.json"), "mcpServers")
	for _, name := range []string{"docs", "web"} {
		if got := servers.Get(name + ".headers.Authorization").Str; got != "Bearer ${DOCS_TOKEN}" {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, args := range [][]string{{"--rename", "web=docs"}, {"web", "--rename", "web=../x"}, {"web", "--all"}, {"web", "--rename", "x=y"}, {"--force"}} {
		if o := quiet(args...); o.exit != 2 {
			t.Errorf("%v: %s", args, o)
		}
	}
}

// TestAServerOfAProjectStartsInItsFolder: what was taken over works from any folder.
func TestAServerOfAProjectStartsInItsFolder(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.clientFiles()
	if o := p.run("pflow-sync", "import", "--project", "proj"); o.exit != 0 || strings.Count(o.stdout, "\n") != 2 {
		t.Errorf("--project: %s", o)
	}
	p.must("pflow-sync", "import", "mine", "code", "--project", "proj")
	p.must("pflow-sync", "sync", "--all")
	for _, server := range []string{"mine", "code"} {
		if got := gjson.Get(p.must("pflow-sync", "call", server, "where"), "result").Str; got != "in the project" {
			t.Errorf("%s: %q", server, got)
		}
	}
	if got := gjson.Get(p.read("home/mcp-servers.json"), "mcpServers.code.args|@ugly").Raw; got != `["`+p.dir+`/proj/serve.sh","${KEY}"]` {
		t.Errorf("the arguments are %s", got)
	}
}

// TestServersWithAnyNameAreTakenOver: what cannot be a name here gets one with --rename, and the answer is within its limit whatever
// the files contain.
func TestServersWithAnyNameAreTakenOver(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("proj/.mcp.json", `{"mcpServers":{"検索":{"command":"x"},"":{"command":"x"},"a=b %s":{"command":"x"},"../c":{"command":"x"}}}`)
	for name, want := range map[string]string{"検索": "search", "": "empty", "a=b %s": "equal", "../c": "path"} {
		o := p.run("pflow-sync", "import", "--project", "proj", "--rename", name+"="+want, "--", name)
		if o.exit != 0 || gjson.Get(o.stdout, "items.0.server").Str != want {
			t.Errorf("%q: %s", name, o)
		}
	}
	for _, path := range []string{".claude.json", ".codex/config.toml", ".gemini/settings.json", ".cursor/mcp.json", ".config/Code/User/mcp.json", ".config/Claude/claude_desktop_config.json", "proj/.cursor/mcp.json", "proj/.codex/config.toml"} {
		p.write(path, "[{ broken")
	}
	for _, args := range [][]string{nil, {"--all"}} {
		o := p.run("pflow-sync", append([]string{"import", "--project", "proj", "--max-bytes", "1024"}, args...)...)
		if len(o.stdout) > 1024 || gjson.Get(o.stdout, "warnings.#").Int() == 0 {
			t.Errorf("%v: %d bytes: %s", args, len(o.stdout), o)
		}
	}
}

// An entry that cannot be started, or whose name another one has exactly, is not taken over.
func TestServersThatAreNotTakenOver(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("proj/.mcp.json", `{"mcpServers":{"My Server!":{"command":"foo"},"my-server":{"command":"bar"},"both":{"command":"x","url":"http://a/"},"nul":{"command":"x\u0000y"},"eq":{"command":"x","env":{"A=B":"c"}},"num":5}}`)
	p.write("proj/.gemini/settings.json", `{"mcpServers":{"off":{"command":"x"}},"mcp":{"excluded":["off"]}}`)
	o := p.run("pflow-sync", "import", "--project", "proj", "--limit", "0")
	checkFates(t, "list", o.stdout, map[string]string{
		"claude-code My Server!": "kept", "claude-code my-server": "taken", "claude-code both": "refused", "claude-code nul": "refused", "claude-code eq": "refused", "claude-code num": "refused", "gemini off": "taken",
	})
	if gjson.Get(o.stdout, `items.#(name=="off").differs.#`).Int() != 1 || strings.Contains(gjson.Get(o.stdout, `items.#(name=="num").error.message`).Str, "  ") {
		t.Errorf("list: %s", o)
	}
	p.fails(2, `"not_found"`, "pflow-sync", "import", "--project", "nope")
	if o := p.run("pflow-sync", "call", "t", "--resource", ""); o.exit != 2 || !strings.Contains(o.stderr, "--resource") {
		t.Errorf("an empty --resource: %s", o)
	}
}
