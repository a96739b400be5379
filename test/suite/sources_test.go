package suite

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// crm is the program of a source. It lists what is in list.json, and reports what is in status.json.
const crm = `#!/bin/sh
case $1 in
list) cat list.json;;
run) cat >>started; echo >>started; echo '{"execution_id":"e-1"}';;
status) cat >asked; cat status.json;;
cancel) cat >cancelled;;
now) sed 's/.*/{"got":&}/';;
wait) echo waits >&2; cat gate;;
fails) cat >/dev/null; echo "no such lead" >&2; exit 3;;
esac
`

// crmSource is the entry of the source in serve.json, with further members.
func crmSource(run, more string) string {
	return `{"name":"crm","list":["./crm","list"],"run":["./crm","` + run + `"]` + more + `,"refresh":"1s"}`
}

const crmFollowed = `,"status":["./crm","status"],"cancel":["./crm","cancel"]`

// source sets up the program of a source, and serve.json.
func (p *place) source(config string) {
	p.Helper()
	p.write("home/crm", crm)
	if err := os.Chmod(filepath.Join(p.home, "crm"), 0o700); err != nil {
		p.Fatal(err)
	}
	p.write("home/serve.json", config)
}

// replace writes a file of the home in one step.
func (p *place) replace(name, content string) {
	p.Helper()
	temporary := p.write("home/."+filepath.Base(name), content)
	if err := os.Rename(temporary, filepath.Join(p.home, name)); err != nil {
		p.Fatal(err)
	}
}

// The workflows of a source are tools, beside those of the library. Their calls are runs.
func TestWorkflowsOfASourceAreTools(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.source(`{"sources":[` + crmSource("run", crmFollowed) + `]}`)
	p.write("home/list.json", `{"result":[
		{"id":"w/1","name":"Create Lead","description":"Create a lead.","category":"sales","version":"3","inputSchema":{"type":"object","properties":{"who":{"type":"string"}},"required":["who"]},"metadata":{"tags":["tool"]}},
		{"id":"w2","name":"report","description":"Another report.","executionType":"sync","inputSchema":{"type":"array"}}]}`)
	p.write("home/status.json", `{"status":"running","progress":{"done":1,"total":4,"message":"calling"}}`)
	p.library("report", "")
	c, list := p.offering()
	p.eventually("the source is listed", func() bool { return strings.Count(list(), " ") == 2 }) // one that is slow comes after the start
	names := strings.Fields(list())
	if !regexp.MustCompile(`^create-lead-[0-9a-v]{8} report report-w2-[0-9a-v]{8}$`).MatchString(strings.Join(names, " ")) {
		t.Fatal(names)
	}
	lead, twin := names[0], names[2]
	tool := gjson.Parse(c.tools[lead].raw)
	if tool.Get("description").Str != "Create a lead." || tool.Get("title").Str != "Create Lead" || tool.Get("inputSchema.required.0").Str != "who" || tool.Get(`_meta.pflow/category`).Str != "sales" ||
		tool.Get(`_meta.pflow/version`).Str != "3" || tool.Get(`_meta.pflow/executionType`).Str != "async" || tool.Get(`_meta.pflow/source`).Str != "crm" || tool.Get(`_meta.pflow/metadata.tags.0`).Str != "tool" {
		t.Error(tool.Raw)
	}
	if generic := gjson.Get(c.tools[twin].raw, "inputSchema"); generic.Get("type").Str != "object" || !generic.Get("additionalProperties").Bool() || generic.Get("properties").Exists() {
		t.Error(generic.Raw)
	}
	if refused, failed := c.call(lead, `{"who":5}`); !failed || refused["run_id"] != nil {
		t.Error(refused)
	}
	p.replace("status.json", `{"status":"completed","result":{"lead":12345678901234567890}}`)
	answer, failed := c.call(lead, `{"who":"Ada","n":12345678901234567890}`)
	if failed || answer["status"] != "completed" || !strings.Contains(fmt.Sprint(answer["outputs"]), "map[result:map[lead:") {
		t.Error(answer)
	}
	if got := p.read("home/started"); got != `{"arguments":{"who":"Ada","n":12345678901234567890},"id":"w/1"}`+"\n" {
		t.Error(got)
	}
	if got := p.read("home/asked"); got != `{"execution_id":"e-1","id":"w/1"}` {
		t.Error(got)
	}
	if answer, failed = c.call(twin, `{"anything":[1]}`); failed || answer["status"] != "completed" {
		t.Error(answer)
	}
	runs, _ := c.call("list_runs", `{}`)
	if got := gjson.GetBytes(asJSON(t, runs), "runs.#.workflow").Raw; got != `["crm:w2","crm:w/1"]` {
		t.Error(got)
	}
	c.leave()
}

// Metadata that is too long for a list of many tools is left out of it, and the tool stays.
func TestLongMetadataIsLeftOut(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.source(`{"sources":[` + crmSource("run", crmFollowed) + `]}`)
	metadata := func(bytes int) string { return `{"x":"` + strings.Repeat("x", bytes-len(`{"x":""}`)) + `"}` }
	p.write("home/list.json", `[{"id":"a","name":"fits","description":"A.","metadata":`+metadata(16<<10)+`},{"id":"b","name":"long","description":"B.","metadata":`+metadata(16<<10+1)+`}]`)
	c, list := p.offering()
	if got := list(); got != "fits long" {
		t.Fatalf("the tools are %q, want fits and long", got)
	}
	for name, want := range map[string]int{"fits": 16 << 10, "long": 0} {
		if got := len(gjson.Get(c.tools[name].raw, "_meta.pflow/metadata").Raw); got != want {
			t.Errorf("%s has metadata of %d bytes, want %d", name, got, want)
		}
	}
	c.leave()
}

// The run of a source reports progress, is found by its key, ends by run_cancel, survives the server, and can be resumed.
func TestARunOfASourceOutlivesItsCall(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.source(`{"wait_seconds":0,"sources":[` + crmSource("run", crmFollowed) + `]}`)
	p.write("home/list.json", `[{"id":"w1","name":"lead","description":"Create a lead."}]`)
	p.write("home/status.json", `{"status":"RUNNING","progress":0.5}`)
	c, _ := p.offering()
	call := func(arguments string) (map[string]any, bool) {
		c.id++
		c.called[c.id] = "lead"
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"lead","arguments":%s,"_meta":{"pflow/idempotency_key":"k"}}}`, c.id, arguments))
		return c.answer()
	}
	answer, failed := call(`{"a":1}`)
	run := fmt.Sprint(answer["run_id"])
	if failed || answer["status"] != "running" {
		t.Fatal(answer)
	}
	if again, _ := call(`{"a":1}`); again["run_id"] != run {
		t.Error(again)
	}
	if other, failed := call(`{"a":2}`); !failed || other["run_id"] != nil {
		t.Error(other)
	}
	p.eventually("the progress is in the status", func() bool {
		status, _ := c.call("run_status", `{"run_id":"`+run+`"}`)
		return strings.Contains(fmt.Sprint(status["running_nodes"]), "running: 0.5")
	})
	c.leave()
	c, _ = p.offering()
	if cancelled, failed := c.call("run_cancel", `{"run_id":"`+run+`"}`); failed || cancelled["status"] != "cancelled" || cancelled["beyond"] != nil {
		t.Error(cancelled)
	}
	if got := p.read("home/cancelled"); got != `{"execution_id":"e-1","id":"w1"}` {
		t.Error(got)
	}
	p.replace("status.json", `{"status":"failed","error":{"message":"the lead is a duplicate"}}`)
	if _, failed := c.call("run_resume", `{"run_id":"`+run+`","wait_seconds":0}`); failed {
		t.Error("it cannot be resumed")
	}
	ended, failed := c.call("run_wait", `{"run_id":"last"}`)
	if e, _ := ended["error"].(map[string]any); !failed || ended["status"] != "failed" || !strings.Contains(fmt.Sprint(e["message"]), "the lead is a duplicate") || !strings.Contains(fmt.Sprint(e["details"]), "e-1") {
		t.Error(ended)
	}
	if starts := strings.Count(p.read("home/started"), "\n"); starts != 2 {
		t.Errorf("%d executions were started", starts)
	}
	_ = c.stdin.Close()
	_ = c.cmd.Wait()
}

// At the time limit of a run, its source is told to cancel the execution.
func TestATimeLimitCancelsTheExecution(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.source(`{"sources":[` + crmSource("run", crmFollowed) + `]}`)
	p.write("home/status.json", `{"status":"running"}`)
	o := p.run("pflow-exec", "run", "--format", "json", "--timeout", "8s", "crm:w1")
	if o.exit != 124 && gjson.Get(o.stdout, "status").Str != "timed_out" || p.read("home/cancelled") != `{"execution_id":"e-1","id":"w1"}` {
		t.Error(o)
	}
}

// A source without status and cancel: both are reported as not supported, and the command is ended.
func TestASourceWithoutStatusAndCancel(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.source(`{"wait_seconds":0,"sources":[` + crmSource("wait", "") + `,{"name":"now","list":["cat","now.json"],"run":["./crm","now"]},{"name":"bad","list":["cat","bad.json"],"run":["./crm","fails"]}]}`)
	g := p.gate("home/gate")
	p.write("home/list.json", `[{"id":"w1","name":"slow","description":"Waits."}]`)
	p.write("home/now.json", `{"workflows":[{"id":"w1","name":"fast","description":"Answers.","executionType":"sync"}]}`)
	p.write("home/bad.json", `[{"id":"w1","name":"broken","description":"Fails.","executionType":"sync"}]`)
	c, list := p.offering()
	p.eventually("the sources are listed", func() bool { return list() == "broken fast slow" })
	if answer, failed := c.call("fast", `{"x":[1,2]}`); failed || fmt.Sprint(answer["outputs"]) != "map[result:map[got:map[arguments:map[x:[1 2]] id:w1]]]" {
		t.Error(answer)
	}
	answer, failed := c.call("broken", `{}`)
	if e, _ := answer["error"].(map[string]any); !failed || answer["status"] != "failed" || !strings.Contains(fmt.Sprint(e["message"]), "no such lead") || !strings.Contains(fmt.Sprint(e["message"]), "exit status 3") {
		t.Error(answer)
	}
	started, _ := c.call("slow", `{}`)
	g.reached()
	p.eventually("the status says what is not supported", func() bool {
		status, _ := c.call("run_status", fmt.Sprintf(`{"run_id":%q}`, started["run_id"]))
		return strings.Contains(fmt.Sprint(status["running_nodes"]), "not supported")
	})
	cancelled, failed := c.call("run_cancel", fmt.Sprintf(`{"run_id":%q}`, started["run_id"]))
	if failed || cancelled["status"] != "cancelled" || !strings.Contains(fmt.Sprint(cancelled["beyond"]), "not supported") {
		t.Error(cancelled)
	}
	g.left()
	_ = c.stdin.Close()
	_ = c.cmd.Wait()
}

// A source that is down at the start appears without a request. One that is down later keeps its last good list. What leaves a good list goes.
func TestASourceThatIsDown(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.source(`{"sources":[` + crmSource("now", "") + `]}`)
	p.library("own", "")
	c, list := p.offering()
	if got := list(); got != "own" {
		t.Fatal(got)
	}
	p.replace("list.json", `[{"id":"a","name":"alpha","description":"A."},{"id":"b","name":"beta","description":"B."}]`)
	c.nextNotice()
	if got := list(); got != "alpha beta own" {
		t.Error(got)
	}
	p.replace("list.json", `[{"id":"b","name":"beta","description":"B."}]`)
	c.nextNotice()
	if got := list(); got != "beta own" {
		t.Error(got)
	}
	p.replace("list.json", `oops`)
	answer, failed := c.call("refresh_workflows", `{}`)
	faults, _ := answer["failed"].([]any)
	if failed || len(faults) != 1 || !strings.Contains(fmt.Sprint(faults), "source:crm") || answer["unchanged"] != 2.0 || list() != "beta own" {
		t.Error(answer)
	}
	if answer, failed := c.call("beta", `{}`); failed || answer["status"] != "completed" {
		t.Error(answer)
	}
	p.replace("list.json", `[]`)
	if answer, failed = c.call("refresh_workflows", `{}`); failed || !strings.Contains(fmt.Sprint(answer["removed"]), "beta") || list() != "own" {
		t.Error(answer)
	}
	c.request("beta", `{}`)
	refused := c.receive()
	for refused["method"] != nil {
		refused = c.receive()
	}
	if e, _ := refused["error"].(map[string]any); e["code"] != -32602.0 {
		t.Error(refused)
	}
	p.replace("serve.json", `{}`)
	_ = c.stdin.Close()
	_ = c.cmd.Wait()
	if said := c.stderr.String(); strings.Count(said, "No such file") != 1 || !strings.Contains(said, "exit status 1") {
		t.Errorf("the log does not name the failure once: %s", said)
	}
}

// What cannot be offered is left out with a warning that names it and says why. The rest is offered.
func TestBadWorkflowsOfASourceAreSkipped(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.source(`{"exclude":["tag:hidden","category:old"],"sources":[` + crmSource("now", "") + `]}`)
	p.write("home/settings.json", `{"env":{"CRM_TOKEN":"tok-en-123456"}}`)
	p.write("home/list.json", `[{"id":"good","name":"good","description":"tok-en-123456"},{"id":"nameless","description":"D."},{"id":7,"name":"number","description":"D."},{"id":"x","name":"x"},
		5, null, {"id":"bad\u0000id","name":"nul","description":"D."},{"id":"good","name":"again","description":"D."},
		{"id":"h","name":"hidden","description":"D.","metadata":{"tags":["hidden"]}},{"id":"o","name":"old","description":"D.","category":"old"},
		{"id":"dead","name":"dead-ref","description":"D.","inputSchema":{"type":"object","properties":{"x":{"$ref":"#/nowhere"}}}},
		{"id":"five","name":"five","description":"D.","inputSchema":{"properties":5}},
		{"id":"run","name":"run-status","description":"D."},{"id":"refresh","name":"refresh_workflows","description":"D."}]`)
	c, list := p.offering()
	p.eventually("the source is listed", func() bool { return list() != "" })
	if got := list(); !regexp.MustCompile(`^dead-ref five good refresh_workflows-[0-9a-v]{8} run-status$`).MatchString(got) {
		t.Fatal(got)
	}
	for name := range strings.FieldsSeq(list()) {
		if tool := gjson.Parse(c.tools[name].raw); tool.Get("inputSchema").Raw != `{"additionalProperties":true,"type":"object"}` && tool.Get("inputSchema").Raw != `{"type":"object","additionalProperties":true}` {
			t.Error(tool.Raw)
		}
		if answer, failed := c.call(name, `{"x":{"y":null}}`); failed || answer["status"] != "completed" || !strings.Contains(fmt.Sprint(answer["outputs"]), "map[x:map[y:<nil>]]") {
			t.Error(name, answer)
		}
	}
	answer, _ := c.call("refresh_workflows", `{}`)
	if faults, _ := answer["failed"].([]any); len(faults) != 7 {
		t.Error(answer["failed"])
	}
	_ = c.stdin.Close()
	_ = c.cmd.Wait()
	said := strings.Split(strings.TrimSpace(c.stderr.String()), "\n")
	for _, part := range []string{"crm[1]", "crm[2]", "crm[3]", "crm[4]", "crm[5]", "crm[6]", "crm[7]"} {
		if !slices.ContainsFunc(said, func(line string) bool { return strings.Contains(line, "level=WARN") && strings.Contains(line, part) }) {
			t.Errorf("no warning names %s: %q", part, said)
		}
	}
	if len(said) != 7 || strings.Contains(fmt.Sprint(c.stderr.String(), c.tools["good"].raw), "tok-en-123456") {
		t.Errorf("%q", said)
	}
}

// A broken source in serve.json is a fault with its place, and the last good file stays in effect.
func TestTheSourcesInServeJSONAreChecked(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.source(`{"sources":[` + crmSource("now", "") + `]}`)
	p.write("home/list.json", `[{"id":"a","name":"alpha","description":"A."}]`)
	c, list := p.offering()
	p.eventually("the source is listed", func() bool { return list() == "alpha" })
	for config, path := range map[string]string{
		`{"sources":{}}`:                                  "sources",
		`{"sources":[5]}`:                                 "sources[0]",
		`{"sources":[{"name":"A","list":["x"]}]}`:         "sources[0].name",
		`{"sources":[{"name":"a","list":["x"]}]}`:         "sources[0].run",
		`{"sources":[{"name":"a","list":"x"}]}`:           "sources[0].list",
		`{"sources":[{"name":"a","lst":["x"]}]}`:          "sources[0].lst",
		`{"sources":[{"name":"a","refresh":"1ms"}]}`:      "sources[0].refresh",
		`{"sources":[{"name":"a","status":[""]}]}`:        "sources[0].status",
		`{"sources":[{"name":"a","cancel":["a\u0000"]}]}`: "sources[0].cancel",
	} {
		p.replace("serve.json", config)
		answer, failed := c.call("refresh_workflows", `{}`)
		if got := gjson.GetBytes(asJSON(t, answer), "failed.0.path").Str; failed || got != path || list() != "alpha" {
			t.Errorf("%s: %q, %v", config, got, answer)
		}
	}
	_ = c.stdin.Close()
	_ = c.cmd.Wait()
	for _, o := range []outcome{p.run("pflow-lib", "list", "--source", "crm"), p.run("pflow-lib", "list", "--tools", "--source", "nothing")} {
		if o.exit != 2 {
			t.Error(o)
		}
	}
}

// asJSON returns a value as JSON.
func asJSON(t *testing.T, value any) []byte {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
