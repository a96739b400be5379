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
	"time"

	"github.com/tidwall/gjson"
)

// offering starts a server of workflows as tools, and returns a function that lists the workflows' tools.
func (p *place) offering(args ...string) (*client, func() string) {
	p.Helper()
	c := p.connect("pflow-serve", append([]string{"--toolsets=workflows"}, args...)...)
	return c, func() string {
		p.Helper()
		c.listTools()
		names := strings.Fields(c.toolNames())
		return strings.Join(slices.DeleteFunc(names, func(name string) bool {
			return slices.Contains([]string{"refresh_workflows", "run_wait", "run_resume", "run_cancel", "run_status", "run_logs", "list_runs"}, name)
		}), " ")
	}
}

// library saves a workflow by its file, at once: a server that watches the folder reads no half of it.
func (p *place) library(name, fields string) {
	p.Helper()
	begun := p.write("home/library/."+name, `{`+fields+`"nodes":[{"id":"a","type":"shell","params":{"command":"echo ran"}}],"outputs":{"said":{"source":"${a.stdout}"}}}`)
	if err := os.Rename(begun, filepath.Join(p.home, "library", name+".json")); err != nil {
		p.Fatal(err)
	}
}

// nextNotice reads messages up to the notice that the list of tools has changed.
func (c *client) nextNotice() {
	c.Helper()
	for {
		if c.receive()["method"] == "notifications/tools/list_changed" {
			return
		}
	}
}

func TestWorkflowsAreTools(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.library("report", `"description":"Make a report.","category":"finance","tags":["tool"],"inputs":{"day":{"type":"string","description":"which day"},"n":{"type":"integer","default":1}},`)
	p.library("execute", "")
	p.library("run-wait", "")
	p.draft("unsaved", chain("echo draft"))
	c, list := p.offering()
	names := list()
	if !regexp.MustCompile(`^execute-[0-9a-v]{8} report run-wait$`).MatchString(names) {
		t.Fatal(names)
	}
	tool := gjson.Parse(c.tools["report"].raw)
	if tool.Get("description").Str != "Make a report." || tool.Get("inputSchema.required.0").Str != "day" || !tool.Get("outputSchema.properties.outputs.properties.said").Exists() ||
		tool.Get(`_meta.pflow/category`).Str != "finance" || tool.Get(`_meta.pflow/version`).Str != "1.0.0" || tool.Get(`_meta.pflow/executionType`).Str != "async" || tool.Get(`_meta.pflow/metadata.tags.0`).Str != "tool" {
		t.Error(tool.Raw)
	}
	if other := gjson.Parse(c.tools["run-wait"].raw); other.Get("description").Str != "Run the workflow run-wait" || len(other.Get("inputSchema.properties").Map()) != 0 {
		t.Error(other.Raw)
	}
	answer, failed := c.call("report", `{"day":"Monday"}`)
	outputs, _ := answer["outputs"].(map[string]any)
	if failed || answer["status"] != "completed" || outputs["said"] != "ran" {
		t.Error(answer)
	}
	if answer, failed := c.call("report", `{"dya":"Monday"}`); !failed || answer["run_id"] != nil || !strings.Contains(fmt.Sprint(answer), `"day"`) {
		t.Error(answer)
	}
	if answer, failed := c.call(strings.Fields(names)[0], `{}`); failed || answer["status"] != "completed" {
		t.Error(answer)
	}
	if got := len(p.journals()); got != 2 {
		t.Errorf("%d runs", got)
	}
	c.leave()
}

// The list follows the files: what is added, changed and removed is announced, and what only looks changed is not.
func TestWorkflowToolsFollowTheLibrary(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	c, list := p.offering()
	if got := list(); got != "" {
		t.Fatal(got)
	}
	p.library("first", "")
	c.nextNotice()
	if got := list(); got != "first" {
		t.Error(got)
	}
	now := time.Now()
	if err := os.Chtimes(filepath.Join(p.home, "library", "first.json"), now, now); err != nil { // a touch
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(p.home, "library", "first.json")); err != nil {
		t.Fatal(err)
	}
	p.library("second", "")
	c.nextNotice()
	if got := list(); got != "second" {
		t.Error(got)
	}
	c.request("first", `{}`)
	refused := c.receive()
	if e, _ := refused["error"].(map[string]any); e["code"] != -32602.0 {
		t.Error(refused)
	}
	p.write("home/serve.json", `{"exclude":["sec*"]}`)
	c.nextNotice()
	if got := list(); got != "" {
		t.Error(got)
	}
	answer, failed := c.call("refresh_workflows", `{}`)
	if added, _ := answer["added"].([]any); failed || len(added) != 0 || answer["unchanged"] != 0.0 {
		t.Error(answer)
	}
	p.write("home/serve.json", `{"exclude":`)
	if answer, failed = c.call("refresh_workflows", `{}`); failed || len(answer["failed"].([]any)) != 1 || list() != "" {
		t.Error(answer)
	}
	if err := os.Remove(filepath.Join(p.home, "serve.json")); err != nil {
		t.Fatal(err)
	}
	c.nextNotice()
	if got := list(); got != "second" {
		t.Error(got)
	}
	_ = c.stdin.Close()
	if err := c.cmd.Wait(); err != nil || !strings.Contains(c.stderr.String(), "serve.json") {
		t.Errorf("%v: %s", err, c.stderr.String())
	}
}

func TestWorkflowToolsAreChosen(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.library("report-daily", `"tags":["tool"],`)
	p.library("report-weekly", "")
	p.library("other", `"tags":["tool"],"category":"x",`)
	p.write("home/serve.json", `{"include":["tag:tool"],"exclude":["category:x"]}`)
	for _, want := range []struct {
		args  []string
		names string
	}{
		{nil, "report-daily"},
		{[]string{"--workflows=report-*"}, "report-daily report-weekly"},
		{[]string{"--workflows=category:x", "--workflows=*weekly"}, "report-weekly"},
	} {
		c, list := p.offering(want.args...)
		if got := list(); got != want.names {
			t.Errorf("%q: %s", want.args, got)
		}
		c.leave()
	}
	if o := p.run("pflow-serve", "--toolsets=workflows", "--workflows=["); o.exit != 2 {
		t.Error(o)
	}
	if o := p.run("pflow-serve", "--workflows=x"); o.exit != 2 { // without the toolset
		t.Error(o)
	}
}

// A call with the key of a live run waits for that run.
func TestTheKeyOfAWorkflowToolAttaches(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.write("home/serve.json", `{"wait_seconds":0}`)
	p.write("home/library/slow.json", `{"nodes":[{"id":"wait","type":"shell","params":{"command":"cat `+g.path+`"}}]}`)
	c, _ := p.offering()
	var ids []any
	for range 3 {
		c.id++
		c.called[c.id] = "slow"
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"slow","arguments":{},"_meta":{"pflow/idempotency_key":"k 1"}}}`, c.id))
		answer, failed := c.answer()
		if failed || answer["status"] != "running" {
			t.Fatal(answer)
		}
		ids = append(ids, answer["run_id"])
	}
	if ids[0] != ids[1] || ids[0] != ids[2] || len(p.journals()) != 1 {
		t.Error(ids)
	}
	for _, key := range []string{`5`, `""`, `{}`} {
		c.id++
		c.called[c.id] = "slow"
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"slow","arguments":{},"_meta":{"pflow/idempotency_key":%s}}}`, c.id, key))
		if answer, failed := c.answer(); !failed || answer["run_id"] != nil {
			t.Error(key, answer)
		}
	}
	g.reached()()
	if ended, failed := c.call("run_wait", `{"run_id":"last"}`); failed || ended["run_id"] != ids[0] {
		t.Error(ended)
	}
	c.leave()
}

// SIGHUP asks for a refresh, in every toolset, however often it comes.
func TestAHangupDoesNotEndTheServer(t *testing.T) {
	t.Parallel()
	for _, toolset := range []string{"core", "workflows"} {
		p := newPlace(t)
		p.library("flow", "")
		c := p.connect("pflow-serve", "--toolsets="+toolset)
		for range 5 {
			if err := c.cmd.Process.Signal(syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
			c.listTools()
		}
		c.leave()
	}
}

// Changes that do not end do not put off the notice of the first.
func TestABurstOfChangesIsAnnounced(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.library("busy", "")
	c, list := p.offering()
	p.library("new", "")
	notice := func() <-chan struct{} {
		noticed := make(chan struct{})
		go func() {
			defer close(noticed)
			c.nextNotice()
		}()
		return noticed
	}
	noticed := notice()
	for i := 0; ; i++ {
		select {
		case <-noticed:
			if list() == "busy new" {
				c.leave()
				return
			}
			noticed = notice() // the server had begun to read before there was a new one
		default:
			p.library("busy", fmt.Sprintf(`"description":"Change %d.",`, i))
		}
	}
}

// What save_to_library has saved can be called at once.
func TestASavedWorkflowIsATool(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("fresh", `{"nodes":[{"id":"a","type":"echo","params":{"message":"x"}}]}`)
	c := p.connect("pflow-serve", "--toolsets=core,workflows")
	for _, name := range []string{"one", "two"} {
		p.draft(name, `{"nodes":[{"id":"a","type":"echo","params":{"message":"x"}}]}`)
		if answer, failed := c.call("save_to_library", fmt.Sprintf(`{"draft_name":%q,"final_name":%q,"description":"Echo."}`, name, name)); failed {
			t.Fatal(answer)
		}
		c.listTools()
		if answer, failed := c.call(name, `{}`); failed || answer["status"] != "completed" {
			t.Error(answer)
		}
	}
	c.leave()
}
