package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"
)

// connectIn starts a server and initializes a session of a revision.
func (p *place) connectIn(revision, name string, args ...string) *client {
	p.Helper()
	c := p.launch(name, args...)
	c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + revision + `","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	c.receive()
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

// modern sends a request of revision 2026-07-28, whose id is a text.
func (c *client) modern(id, method, params string) {
	c.Helper()
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, id, method, params))
}

// line reads messages up to one for which is returns true.
func (c *client) line(is func(message gjson.Result) bool) gjson.Result {
	c.Helper()
	for {
		line, err := c.stdout.ReadString('\n')
		if err != nil {
			c.Fatalf("%v, %s", err, c.stderr.String())
		}
		if message := gjson.Parse(line); is(message) {
			return message
		}
	}
}

// The list says how long it may be kept, and is the same for every client, in whatever order the workflows came.
func TestTheListOfWorkflowsIsTheSameForEveryone(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.source(`{"sources":[` + crmSource("now", "") + `]}`)
	p.write("home/list.json", `[{"id":"z","name":"from crm","description":"Z."},{"id":"a","name":"alpha","description":"A."}]`)
	p.library("beta", "")
	answer := func(c *client) gjson.Result {
		c.modern("list", "tools/list", "")
		return c.line(func(m gjson.Result) bool { return m.Get("id").Str == "list" })
	}
	one, _ := p.offering()
	first := answer(one)
	if ttl, scope := first.Get("result.ttlMs").Int(), first.Get("result.cacheScope").Str; ttl != 60_000 || scope != "public" {
		t.Error(ttl, scope)
	}
	one.call("beta", `{}`)
	p.replace("list.json", `[{"id":"a","name":"alpha","description":"A."},{"id":"z","name":"from crm","description":"Z."}]`)
	one.call("refresh_workflows", `{}`)
	again := answer(one)
	two, _ := p.offering()
	if other := answer(two); first.Raw != other.Raw || first.Raw != again.Raw || !strings.Contains(first.Raw, "from-crm-") {
		t.Errorf("%s\n%s\n%s", first.Raw, again.Raw, other.Raw)
	}
	fixed := p.connect("pflow-serve")
	if ttl := answer(fixed).Get("result.ttlMs").Int(); ttl != 3600_000 {
		t.Error(ttl)
	}
	for _, c := range []*client{one, two, fixed} {
		c.leave()
	}
}

// A client of revision 2026-07-28 hears of changes by its subscription.
func TestSubscribersHearOfChanges(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.source(`{"sources":[` + crmSource("now", "") + `]}`)
	p.write("home/list.json", `[]`)
	c, _ := p.offering()
	c.modern("ear", "subscriptions/listen", `"notifications":{"toolsListChanged":true},`)
	subscribed := func(m gjson.Result) bool {
		return m.Get(`params._meta.io\.modelcontextprotocol/subscriptionId`).Str == "ear"
	}
	c.line(subscribed) // the acknowledgement
	p.replace("list.json", `[{"id":"a","name":"alpha","description":"A."}]`)
	if notice := c.line(subscribed); notice.Get("method").Str != "notifications/tools/list_changed" {
		t.Error(notice)
	}
	c.modern("list", "tools/list", "")
	if list := c.line(func(m gjson.Result) bool { return m.Get("id").Str == "list" }); !slices.ContainsFunc(list.Get("result.tools.#.name").Array(), func(name gjson.Result) bool { return name.Str == "alpha" }) {
		t.Error(list)
	}
	_ = c.stdin.Close()
	_ = c.cmd.Wait()
}

// The toolset is the switch: without it nothing is discovered. With core, a workflow that is called as a tool of that has another name.
func TestDiscoveryIsAToolset(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.source(`{"sources":[{"name":"crm","list":["sh","-c","echo x >>listed; echo '[{\"id\":\"e\",\"name\":\"execute\",\"description\":\"E.\"}]'"],"run":["./crm","now"]}]}`)
	p.library("run-status", "")
	c := p.connect("pflow-serve")
	if got := c.toolNames(); got != "browse_components describe_workflow execute list_library save_to_library" {
		t.Error(got)
	}
	c.leave()
	if _, err := os.Stat(filepath.Join(p.home, "listed")); err == nil {
		t.Error("the source was listed")
	}
	c = p.connect("pflow-serve", "--toolsets=core,workflows")
	names := c.toolNames()
	if !regexp.MustCompile(` execute execute-[0-9a-v]{8} .* run-status run_cancel .* run_status `).MatchString(names) {
		t.Error(names)
	}
	other := regexp.MustCompile(`execute-[0-9a-v]{8}`).FindString(names)
	if answer, failed := c.call(other, `{"name":"x"}`); failed || !strings.Contains(fmt.Sprint(answer["outputs"]), "map[name:x]") {
		t.Error(answer)
	}
	if answer, failed := c.call("execute", `{"name":"crm:e","inputs":{"arguments":{"by":"name"}}}`); failed || !strings.Contains(fmt.Sprint(answer["outputs"]), "map[by:name]") {
		t.Error(answer)
	}
	if answer, failed := c.call("run-status", `{}`); failed || answer["status"] != "completed" {
		t.Error(answer)
	}
	c.leave()
}

// SIGHUP lists the sources at once, and a source that is added to serve.json appears without a restart.
func TestAHangupListsTheSources(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("home/serve.json", `{}`)
	c, list := p.offering()
	p.write("home/list.json", `[{"id":"a","name":"alpha","description":"A."}]`)
	p.write("home/.serve", `{"sources":[{"name":"crm","list":["cat","list.json"],"run":["cat"],"refresh":"24h"}]}`)
	if err := os.Rename(filepath.Join(p.home, ".serve"), filepath.Join(p.home, "serve.json")); err != nil {
		t.Fatal(err)
	}
	c.nextNotice()
	if got := list(); got != "alpha" {
		t.Error(got)
	}
	p.replace("list.json", `[{"id":"b","name":"beta","description":"B."}]`)
	if err := c.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	c.nextNotice()
	if got := list(); got != "beta" {
		t.Error(got)
	}
	c.leave()
}

// Arguments are checked before anything starts. What is wrong has its place and the nearest name, in the form of the revision.
func TestArgumentsOfWorkflowToolsAreChecked(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.source(`{"sources":[` + crmSource("now", "") + `]}`)
	p.write("home/list.json", `[{"id":"a","name":"alpha","description":"A.","inputSchema":{"type":"object","properties":{"day":{"type":"string"}},"required":["day"],"additionalProperties":false}}]`)
	p.library("report", `"inputs":{"day":{"type":"string"}},`)
	for _, revision := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		c := p.connectIn(revision, "pflow-serve", "--toolsets=workflows")
		for _, tool := range []string{"alpha", "report"} {
			params := fmt.Sprintf(`"name":%q,"arguments":{"dya":"x"}`, tool)
			if revision == "2026-07-28" {
				c.modern("call", "tools/call", params+",")
			} else {
				c.send(`{"jsonrpc":"2.0","id":"call","method":"tools/call","params":{` + params + `}}`)
			}
			answer := c.line(func(m gjson.Result) bool { return m.Get("id").Str == "call" })
			found := answer.Get("result.structuredContent.error")
			if revision == "2025-06-18" {
				if found = answer.Get("error.data"); answer.Get("error.code").Int() != -32602 {
					t.Errorf("%s, %s: %s", revision, tool, answer)
				}
			} else if !answer.Get("result.isError").Bool() {
				t.Errorf("%s, %s: %s", revision, tool, answer)
			}
			if found.Get("type").Str != "usage_error" || !strings.Contains(found.Raw, `day`) || !strings.Contains(found.Raw, `dya`) {
				t.Errorf("%s, %s: %s", revision, tool, answer)
			}
		}
		c.leave()
	}
	if got := p.journals(); len(got) != 0 {
		t.Errorf("runs were started: %q", got)
	}
}

// The detail of a run that failed is logged as a warning, with its id. The progress of nodes is logged at info. A good run logs
// nothing by default.
func TestFailedRunsAreLogged(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.source(`{"sources":[` + crmSource("fails", "") + `]}`)
	p.write("home/list.json", `[{"id":"a","name":"broken","description":"A."}]`)
	p.library("good", "")
	p.write("home/library/bad.json", `{"nodes":[{"id":"a","type":"shell","params":{"command":"echo lost >&2; exit 5"}}]}`)
	log := func(tool, level string) (log string, answer map[string]any) {
		c, _ := p.offering("--log-level=" + level)
		answer, failed := c.call(tool, `{}`)
		if checkpoint, _ := answer["checkpoint"].(map[string]any); failed && checkpoint["failed_node"] == nil || failed == (tool == "good") {
			t.Error(answer)
		}
		_ = c.stdin.Close()
		_ = c.cmd.Wait()
		return c.stderr.String(), answer
	}
	if said, _ := log("good", "warn"); said != "" {
		t.Error(said)
	}
	for tool, reason := range map[string]string{"bad": "lost", "broken": "no such lead"} {
		said, answer := log(tool, "warn")
		if strings.Count(said, "\n") != 1 || !strings.Contains(said, "level=WARN") || !strings.Contains(said, fmt.Sprint("run=", answer["run_id"])) || !strings.Contains(said, reason) {
			t.Error(said)
		}
	}
	if said, answer := log("good", "info"); !strings.Contains(said, fmt.Sprintf("level=INFO msg=\"a node of a run\" run=%s event=node_completed node=a", answer["run_id"])) {
		t.Error(said)
	}
}
