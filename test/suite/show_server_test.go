package suite

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

func TestAServerIsShown(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.spoken("s", "well", "one", "two")
	p.write("add.json", `{"mcpServers":{"web":{"type":"http","url":"https://u:s3cret-url@example.com/mcp?api_key=s3cret-query","timeout":2.5,
		"headers":{"Authorization":"Bearer ${DOCS_TOKEN}","X-Api-Key":"s3cret-key","Cookie":"session=${SESSION:-s3cret-default}","Accept":"${KIND:-text}","X-Trace":"a${TRACE_TOKEN:-s3cret}b"}}}}`)
	p.must("pflow-sync", "add", "add.json")
	p.must("pflow-lib", "settings", "set-env", "DOCS_TOKEN=s3cret-token")
	show := func(server string) gjson.Result {
		t.Helper()
		o := p.run("pflow-sync", "show", server)
		text := p.run("pflow-sync", "show", server, "--format", "text")
		if o.exit != 0 || text.exit != 0 || strings.Contains(o.stdout+o.stderr+text.stdout+text.stderr, "s3cret") {
			t.Errorf("show %s: %s\n%s", server, o, text)
		}
		return gjson.Parse(o.stdout)
	}
	check := func(got gjson.Result, want map[string]string) {
		t.Helper()
		for path, value := range want {
			if g := got.Get(path); g.String() != value {
				t.Errorf("%s is %s, want %s: %s", path, g.Raw, value, got)
			}
		}
	}
	check(show("web"), map[string]string{
		"transport": "http", "headers.Authorization": "Bearer ${DOCS_TOKEN}", "headers.X-Api-Key": "<redacted>", "headers.Accept": "${KIND:-<redacted>}", "headers.X-Trace": "<redacted>${TRACE_TOKEN:-<redacted>}<redacted>",
		`variables.#(name=="DOCS_TOKEN").set`: "settings", `variables.#(name=="KIND").set`: "default", `variables.#(name=="SESSION").set`: "default",
		"limits.start_seconds": "2.5", "limits.call_seconds": "2.5", "limits.list_seconds": "5", "total": "0", "synced_at": "", "disabled": "false",
	})
	p.write("args.json", `{"args":{"command":"sh","args":["-c","echo \"$DB_PASS\" >&2; exit 1; TOKEN=s3cret-sh x","--header","Authorization: Bearer s3cret-arg1","-e","MODE=s3cret-arg2","--pat","s3cret-arg3"],
		"env":{"DB_PASS":"s3cret-env1","MODE":"s3cret-env2"}},"hook":{"url":"https://hooks.example.com/s3cret-hook"}}`)
	p.must("pflow-sync", "add", "args.json")
	check(show("args"), map[string]string{"args.2": "--header", "args.3": "Authorization: Bearer <redacted>", "args.5": "MODE=<redacted>", "args.7": "<redacted>", "env.DB_PASS": "<redacted>", "env.MODE": "<redacted>"})
	check(show("hook"), map[string]string{"url": "https://hooks.example.com/<redacted>"})
	if list, doctor := p.must("pflow-sync", "list"), p.run("pflow-sync", "doctor", "args", "--log-level", "debug"); strings.Contains(list+doctor.stdout+doctor.stderr, "s3cret") {
		t.Errorf("list or doctor shows a secret: %s\n%s", list, doctor)
	}
	check(show("s"), map[string]string{"env.TOKEN": "${NOT_SET}", `variables.#(name=="NOT_SET").set`: "", "changed_at": "", "measured_at": ""})

	p.must("pflow-sync", "sync", "s")
	first := show("s")
	check(first, map[string]string{"total": "2", "tools.0.tool": "one", "tools.0.node_type": "mcp-s-one", "tools.0.description": "does one", "changes.added": "2"})
	p.toolList("s", "two", "three")
	p.write("s.tools", strings.Replace(p.read("s.tools"), "does two", "does two things. And more", 1))
	p.must("pflow-sync", "sync", "s")
	check(show("s"), map[string]string{
		"changes.added": "1", "changes.removed": "1", "changes.overwritten": "1", "changes.names": `["mcp-s-one","mcp-s-two","mcp-s-three"]`,
		`tools.#(tool=="two").description`: "does two things.",
	})
	p.must("pflow-sync", "sync", "s") // no change: what the last one changed stays
	p.must("pflow-sync", "doctor", "s")
	last := show("s")
	check(last, map[string]string{"changes.added": "1", "implementation": "t 1"})
	if !last.Get("synced_at").Exists() || !last.Get("measured_at").Exists() {
		t.Errorf("the times are missing: %s", last)
	}
	p.must("pflow-sync", "disable", "s")
	check(show("s"), map[string]string{"disabled": "true"})

	many := make([]string, 300)
	for i := range many {
		many[i] = strings.Repeat("long-name-", 5) + string(rune('a'+i%26)) + strings.Repeat("x", i/26)
	}
	p.must("pflow-sync", "enable", "s")
	p.toolList("s", many...)
	p.must("pflow-sync", "sync", "s")
	bounded := p.must("pflow-sync", "show", "s", "--max-bytes", "2000")
	if got := gjson.Parse(bounded); len(bounded) > 2000 || got.Get("total").Int() != 300 || got.Get("omitted").Int()+got.Get("tools.#").Int() != 300 || got.Get("changes.names.#").Int() > 20 {
		t.Errorf("--max-bytes: %d bytes: %s", len(bounded), bounded)
	}

	p.write("home/mcp-records.json", "{corrupt")
	if got := show("s"); got.Get("synced_at").Exists() || got.Get("total").Int() != 300 {
		t.Errorf("with corrupt records: %.300s", got)
	}
	p.must("pflow-sync", "sync", "s")
	p.must("pflow-sync", "remove", "s")
	if strings.Contains(p.read("home/mcp-records.json"), `"s"`) {
		t.Error("the record of a server that was removed is left")
	}
	p.fails(2, `"not_found"`, "pflow-sync", "show", "s")
}
