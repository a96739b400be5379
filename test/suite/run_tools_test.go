package suite

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A run that outlives its call is waited for, ended and resumed by its id. The answers name no tool that is not served.
func TestRunsOutliveCalls(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.write("home/serve.json", `{"wait_seconds":0}`)
	p.write("home/library/slow.json", `{"nodes":[{"id":"wait","type":"shell","params":{"command":"cat `+g.path+`"}}]}`)
	p.write("home/library/ask.json", `{"nodes":[{"id":"drop","type":"echo","approval":{"question":"Drop it?"},"params":{"message":"dropped"}}]}`)
	p.write("home/library/sync.json", `{"executionType":"sync","nodes":[{"id":"a","type":"shell","params":{"command":"sleep 0.3; echo done"}}]}`)
	c, _ := p.offering()
	says := func(answer map[string]any) string {
		t.Helper()
		text := fmt.Sprint(answer)
		if strings.Contains(text, "execute") {
			t.Errorf("the answer names execute: %s", text)
		}
		return text
	}
	running, failed := c.call("slow", `{}`)
	run, _ := running["run_id"].(string)
	if failed || running["status"] != "running" || !strings.Contains(says(running), `run_wait with run_id "`+run+`"`) {
		t.Fatal(running)
	}
	if again, failed := c.call("run_wait", `{"run_id":"`+run+`","wait_seconds":0}`); failed || again["status"] != "running" || again["run_id"] != run {
		t.Error(again)
	}
	g.reached()()
	if ended, failed := c.call("run_wait", `{"run_id":"`+run+`"}`); failed || ended["status"] != "completed" {
		t.Error(ended)
	}
	c.call("ask", `{}`)
	paused, _ := c.call("run_wait", `{"run_id":"last"}`)
	if paused["status"] != "paused" || !strings.Contains(says(paused), "answers") {
		t.Fatal(paused)
	}
	if done, failed := c.call("run_resume", `{"run_id":"last","answers":{"drop":"yes"}}`); failed || done["status"] != "completed" {
		t.Error(done)
	}
	if done, failed := c.call("sync", `{}`); failed || done["status"] != "completed" {
		t.Error(done)
	}
	if status, failed := c.call("run_cancel", `{"run_id":"last"}`); failed || status["status"] != "completed" {
		t.Error(status)
	}
	for _, tool := range []string{"run_wait", "run_status", "run_resume", "run_cancel", "run_logs"} {
		if none, failed := c.call(tool, `{"run_id":"r0nothing"}`); !failed || says(none) == "" {
			t.Error(none)
		}
	}
	c.leave()
}

// The tools for runs show how far a run is, what its nodes have written, and which runs there are, each in a bounded answer.
func TestRunsAreShown(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	nodes := `{"id":"first","type":"shell","params":{"command":"i=0; while [ $i -lt 500 ]; do echo line $i of a longer output; i=$((i+1)); done; echo warned >&2"}}`
	for i := range 300 {
		nodes += fmt.Sprintf(`,{"id":"a-node-with-a-long-name-%d","type":"echo","params":{"message":"x"}}`, i)
	}
	p.write("home/library/slow.json", `{"description":"Waits at a gate.","nodes":[`+nodes+`,{"id":"wait","type":"shell","params":{"command":"cat `+g.path+`"}}]}`)
	p.write("home/library/fail.json", `{"nodes":[{"id":"bad","type":"shell","params":{"command":"echo oh >&2; exit 3"}}]}`)
	p.write("home/serve.json", `{"wait_seconds":0}`)
	c, _ := p.offering("--log-level=error")
	c.call("slow", `{}`)
	open := g.reached()
	p.eventually("the first nodes are done", func() bool {
		status, failed := c.call("run_status", `{"run_id":"last"}`)
		nodes, _ := status["nodes"].(map[string]any)
		if running := fmt.Sprint(status["running"]); failed || status["status"] != "running" || nodes["total"] != 302.0 {
			t.Fatal(running, status)
		}
		return nodes["completed"] == 301.0 && status["completed_total"] == 301.0 && len(fmt.Sprint(status)) <= maxAnswer
	})
	logs, failed := c.call("run_logs", `{"run_id":"last","node":"first","stream":"stdout"}`)
	lines, _ := logs["logs"].([]any)
	if failed || len(lines) == 0 || len(lines)+int(logs["omitted"].(float64)) != 500 || lines[len(lines)-1].(map[string]any)["text"] != "line 499 of a longer output\n" {
		t.Error(logs)
	}
	if logs, failed = c.call("run_logs", `{"run_id":"last","stream":"stderr"}`); failed || len(logs["logs"].([]any)) != 1 || logs["omitted"] != nil {
		t.Error(logs)
	}
	if _, failed = c.call("run_logs", `{"run_id":"last","node":"frist"}`); !failed {
		t.Error("a node that does not exist has logs")
	}
	open()
	c.call("run_wait", `{"run_id":"last"}`)
	for range 3 {
		c.call("fail", `{}`)
		c.call("run_wait", `{"run_id":"last"}`)
	}
	status, _ := c.call("run_status", `{"run_id":"last"}`)
	if text := fmt.Sprint(status); status["failed_node"] != "bad" || strings.Contains(text, "execute") || !strings.Contains(text, "run_resume") {
		t.Error(text)
	}
	page, failed := c.call("list_runs", `{"status":"failed","limit":2}`)
	if runs, _ := page["runs"].([]any); failed || len(runs) != 2 || page["next_cursor"] == nil {
		t.Fatal(page)
	}
	next, _ := c.call("list_runs", fmt.Sprintf(`{"status":"failed","limit":2,"cursor":%q}`, page["next_cursor"]))
	if runs, _ := next["runs"].([]any); len(runs) != 1 || next["next_cursor"] != nil {
		t.Error(next)
	}
	if found, _ := c.call("list_runs", `{"text":"gate","since":"1h"}`); len(found["runs"].([]any)) != 1 {
		t.Error(found)
	}
	if _, failed := c.call("list_runs", `{"since":"soon"}`); !failed {
		t.Error("soon is a time")
	}
	c.leave()
}

// Many runs are pages that together have each run once.
func TestPagesOfRuns(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("quick", `{"nodes":[{"id":"a","type":"echo","params":{"message":"x"}}]}`)
	for range 70 {
		p.must("pflow-exec", "run", "quick", "--format", "json")
	}
	c := p.connect("pflow-serve", "--toolsets=runs")
	var ids []string
	for cursor := ""; ; {
		arguments := `{}`
		if cursor != "" {
			arguments = fmt.Sprintf(`{"cursor":%q}`, cursor)
		}
		page, failed := c.call("list_runs", arguments)
		if failed || len(fmt.Sprint(page)) > maxAnswer {
			t.Fatal(page)
		}
		for _, run := range page["runs"].([]any) {
			ids = append(ids, run.(map[string]any)["run_id"].(string))
		}
		if cursor, _ = page["next_cursor"].(string); cursor == "" {
			break
		}
	}
	if len(ids) != 70 || !slices.IsSortedFunc(ids, func(a, b string) int { return strings.Compare(b, a) }) || len(slices.Compact(ids)) != 70 {
		t.Errorf("%d runs", len(ids))
	}
	if all, _ := c.call("list_runs", `{"limit":0}`); len(all["runs"].([]any)) != 70 {
		t.Error(all)
	}
	c.leave()
}
