package suite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// run_status has what finished nodes have put out, while the run goes on and after its end, in a bounded answer.
func TestRunStatusHasOutputs(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.write("home/serve.json", `{"wait_seconds":0}`)
	p.write("home/library/slow.json", `{"nodes":[{"id":"a","type":"shell","params":{"command":"echo first"}},{"id":"long","type":"shell","params":{"command":"seq 1 2000"}},
		{"id":"wait","type":"shell","params":{"command":"cat `+g.path+`; exit ${code}"}}],"inputs":{"code":{"type":"integer","default":0}},
		"edges":[{"from":"a","to":"long"},{"from":"long","to":"wait"}],"outputs":{"said":{"source":"${a.stdout}"},"all":{"source":"${long.stdout}"}}}`)
	c, _ := p.offering()
	status := func() gjson.Result {
		t.Helper()
		answer := c.result("run_status", `{"run_id":"last"}`)
		if len(answer.Raw) > maxAnswer {
			t.Errorf("%d bytes", len(answer.Raw))
		}
		return answer
	}
	c.call("slow", `{}`)
	open := g.reached()
	live := status()
	run := live.Get("run_id").Str
	if live.Get("status").Str != "running" || live.Get("node_outputs.a.stdout").Str != "first" || live.Get("outputs").Exists() || live.Get("node_outputs.wait").Exists() ||
		!strings.Contains(live.Get("next").Str, `run_wait with run_id "`+run+`"`) {
		t.Error(live)
	}
	if long := live.Get("node_outputs.long.stdout"); long.Get("bytes").Int() != 8892 || len(long.Get("head").Str) == 0 {
		t.Error(long)
	}
	open()
	c.call("run_wait", `{"run_id":"last"}`)
	ended := status()
	if ended.Get("status").Str != "completed" || ended.Get("outputs.said").Str != "first" || ended.Get("outputs.all.uri").Str != "pflow://runs/"+run+"/outputs/all" || ended.Get("next").Exists() {
		t.Error(ended)
	}
	c.call("slow", `{"code":3}`)
	g.reached()()
	c.call("run_wait", `{"run_id":"last"}`)
	failed := status()
	if failed.Get("error.node").Str != "wait" || failed.Get("node_outputs.a.stdout").Str != "first" || !strings.Contains(failed.Get("resume").Str, `run_resume with run_id "`+failed.Get("run_id").Str) {
		t.Error(failed)
	}
	c.leave()
}

// However much the nodes put out, run_status is bounded and says what it leaves out.
func TestRunStatusIsBounded(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var nodes, outputs []string
	for i := range 200 {
		nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","type":"echo","params":{"message":"%s"}}`, i, strings.Repeat("x", 500)))
		outputs = append(outputs, fmt.Sprintf(`"o%d":{"source":"${n%d.echo}"}`, i, i))
	}
	p.write("w.json", `{"nodes":[`+strings.Join(nodes, ",")+`],"outputs":{`+strings.Join(outputs, ",")+`}}`)
	p.run("pflow-exec", "run", "w.json")
	for _, most := range []int{1024, 2000, 8192, 100_000} {
		status := p.must("pflow-exec", "--max-bytes", fmt.Sprint(most), "status", "last", "--outputs")
		shown := int(gjson.Get(status, "node_outputs.@keys.#").Int())
		if len(status) > most || shown < 200 && gjson.Get(status, "node_outputs_total").Int() != 200 {
			t.Errorf("%d bytes of at most %d: %s", len(status), most, status)
		}
		if most == 8192 && (shown == 0 || gjson.Get(status, "outputs.@keys.#").Int() == 0 || gjson.Get(status, "outputs_total").Int() != 200 || !gjson.Get(status, "next").Exists()) {
			t.Error(status)
		}
	}
}

// A list with --page is one object, whatever its size, and so is that of list_runs without a limit.
func TestAPageOfRunsIsAnObject(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if page := p.must("pflow-exec", "list", "--page"); strings.TrimSpace(page) != `{"runs":[]}` {
		t.Error(page)
	}
	p.write("home/library/quick.json", chain("echo hello"))
	for range 3 {
		p.must("pflow-exec", "run", "--name", "quick")
	}
	page := p.must("pflow-exec", "list", "--page", "--limit", "2")
	if gjson.Get(page, "runs.#").Int() != 2 || gjson.Get(page, "next_cursor").Str != gjson.Get(page, "runs.1.run_id").Str {
		t.Error(page)
	}
	if last := p.must("pflow-exec", "list", "--page", "--cursor", gjson.Get(page, "next_cursor").Str); gjson.Get(last, "runs.#").Int() != 1 || gjson.Get(last, "next_cursor").Exists() {
		t.Error(last)
	}
	c := p.connect("pflow-serve", "--toolsets", "runs")
	if all := c.result("list_runs", `{"limit":0}`); all.Get("runs.#").Int() != 3 {
		t.Error(all)
	}
	c.leave()
}

// A run that was cancelled says how to go on, to a shell and to a client.
func TestACancelledRunSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.write("home/serve.json", `{"wait_seconds":0}`)
	p.write("home/library/slow.json", chain("cat "+g.path))
	c, _ := p.offering()
	c.call("slow", `{}`)
	answer := c.result("run_cancel", `{"run_id":"last"}`)
	if want := `run_resume with run_id "` + answer.Get("run_id").Str + `"`; answer.Get("status").Str != "cancelled" || !strings.Contains(answer.Get("resume").Str, want) {
		t.Error(answer)
	}
	if again := p.must("pflow-exec", "cancel", "last"); gjson.Get(again, "resume").Str != "pflow-exec resume "+answer.Get("run_id").Str {
		t.Error(again)
	}
	c.leave()
}
