package suite

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// statusOf returns the status and the run of an answer of execute.
func statusOf(answer map[string]any) (status, run string) {
	status, _ = answer["status"].(string)
	run, _ = answer["run_id"].(string)
	return status, run
}

// A run that has not ended after wait_seconds is answered as running. A call with resume waits on, and answers the result of
// a run that has ended; none of them starts another run.
func TestExecuteAnswersARunningRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.draft("long", gated())
	c := p.connect("pflow-serve")
	first, failed := c.call("execute", `{"name":"long","wait_seconds":0.01}`)
	status, run := statusOf(first)
	if next, _ := first["next"].(string); failed || status != "running" || first["success"] != true || !strings.Contains(next, run) || run != p.onlyRun() {
		t.Fatalf("answers %v", first)
	}
	if outputs, _ := first["outputs"].(map[string]any); outputs == nil || len(outputs) > 0 {
		t.Errorf("the outputs of a running run are %v", first["outputs"])
	}
	if checkpoint, present := first["checkpoint"]; !present || checkpoint != nil {
		t.Errorf("the checkpoint of a running run is %v", checkpoint)
	}
	open := g.reached()
	if second, failed := c.call("execute", `{"name":"long","wait_seconds":0,"resume":"`+run+`"}`); failed || second["status"] != "running" || second["run_id"] != run {
		t.Errorf("the second call answers %v", second)
	}
	c.request("execute", `{"name":"long","resume":"`+run+`"}`)
	open()
	if third, failed := c.answer(); failed || third["status"] != "completed" || third["run_id"] != run || fmt.Sprint(third["outputs"]) != "map[last:third]" {
		t.Errorf("the third call answers %v", third)
	}
	if fourth, failed := c.call("execute", `{"name":"long","resume":"`+run+`"}`); failed || fourth["status"] != "completed" || fourth["run_id"] != run {
		t.Errorf("the call after the end answers %v", fourth)
	}
	if p.read("ran.txt") != "a\nb\nc\n" || p.onlyRun() != run {
		t.Errorf("%q ran, in the run %s", p.read("ran.txt"), p.onlyRun())
	}
	c.leave()
}

// Clients that resume a failed run at the same time get one run: one goes on, the others attach.
func TestExecutesThatResumeTheSameRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.draft("w", chain("echo a >> ran.txt", "echo b >> ran.txt; test -e ok && read x < gate"))
	c := p.connect("pflow-serve")
	failure, _ := c.call("execute", `{"name":"w"}`)
	status, first := statusOf(failure)
	if status != "failed" {
		t.Fatal(failure)
	}
	p.write("ok", "")
	clients := []*client{c}
	for range 3 {
		clients = append(clients, p.connect("pflow-serve"))
	}
	for _, c := range clients {
		c.request("execute", `{"name":"w","resume":"`+first+`"}`)
	}
	open := g.reached()
	waiting := func() int {
		n := 0
		for _, line := range processes("PFLOW_HOME=" + p.home) {
			if strings.Contains(line, "wait") {
				n++
			}
		}
		return n
	}
	p.eventually("all clients wait for the run", func() bool { return waiting() >= len(clients) })
	open()
	var runs []string
	for _, c := range clients {
		answer, failed := c.answer()
		status, run := statusOf(answer)
		if failed || status != "completed" {
			t.Errorf("answers %v", answer)
		}
		runs = append(runs, run)
		c.leave()
	}
	if runs = slices.Compact(runs); len(runs) != 1 || runs[0] == first || len(p.journals()) != 2 {
		t.Errorf("the runs %q, with %d journals", runs, len(p.journals()))
	}
	if got := p.read("ran.txt"); got != "a\nb\nb\n" {
		t.Errorf("%q ran", got)
	}
}

// Calls with one idempotency key share a run while it goes on.
func TestExecuteWithAnIdempotencyKey(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.draft("long", gated())
	c := p.connect("pflow-serve")
	answer, _ := c.call("execute", `{"name":"long","idempotency_key":"order 7","wait_seconds":0}`)
	_, run := statusOf(answer)
	open := g.reached()
	if second, failed := c.call("execute", `{"name":"long","idempotency_key":"order 7","wait_seconds":0}`); failed || second["run_id"] != run {
		t.Errorf("the second call answers %v, not of %s", second, run)
	}
	open()
	if last, failed := c.call("execute", `{"name":"long","resume":"`+run+`"}`); failed || last["run_id"] != run || last["status"] != "completed" {
		t.Errorf("at the end it answers %v", last)
	}
	if p.read("ran.txt") != "a\nb\nc\n" {
		t.Errorf("%q ran", p.read("ran.txt"))
	}
	if refused, failed := c.call("execute", `{"name":"long","idempotency_key":"  "}`); !failed || !strings.Contains(fmt.Sprint(refused), "usage_error") {
		t.Errorf("a blank key answers %v", refused)
	}
	c.leave()
}

// pflow-exec wait --for answers with exit status 0 that a run is running, and else as without the flag.
func TestWaitFor(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.write("w.json", gated())
	id := p.started("w.json")
	open := g.reached()
	for _, d := range []string{"0", "0s", "0.01", "10ms"} {
		began := time.Now()
		a := p.document(p.must("pflow-exec", "wait", id, "--for", d))
		if a["status"] != "running" || a["run_id"] != id || a["success"] != true || a["next"] == nil || time.Since(began) > patience {
			t.Errorf("--for %s: %v", d, a)
		}
	}
	if text := p.must("pflow-exec", "wait", id, "--for", "0", "--format", "text"); !strings.Contains(text, id) {
		t.Errorf("as text it says %q", text)
	}
	for _, args := range [][]string{{"--for", "-1"}, {"--for", "soon"}, {"--for="}, {"--for", "1", "--timeout", "1"}, {"--for", "1", "--print", "last"}} {
		if o := p.run("pflow-exec", append([]string{"wait", id}, args...)...); o.exit != 2 || !strings.Contains(o.stdout, "usage_error") {
			t.Errorf("%q: %d %s", args, o.exit, o.stdout)
		}
	}
	open()
	if a := p.document(p.must("pflow-exec", "wait", id, "--for", "1h")); a["status"] != "completed" {
		t.Errorf("at the end: %v", a)
	}
	if a := p.document(p.must("pflow-exec", "wait", id, "--for", "0")); a["status"] != "completed" {
		t.Errorf("after the end: %v", a)
	}
}

// Of two clients that answer a question differently, one answers it, and the other is told how.
func TestExecutesThatAnswerDifferently(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("w", `{"nodes":[{"id":"a","type":"shell","approval":{"question":"Which?","choices":["red","blue"]},"params":{"command":"printf %s \"${__answer__}\" >> ran.txt"}}]}`)
	c, other := p.connect("pflow-serve"), p.connect("pflow-serve")
	paused, _ := c.call("execute", `{"name":"w"}`)
	_, first := statusOf(paused)
	c.request("execute", `{"name":"w","resume":"`+first+`","answers":{"a":"red"}}`)
	other.request("execute", `{"name":"w","resume":"`+first+`","answers":{"a":"blue"}}`)
	refused := 0
	for _, c := range []*client{c, other} {
		answer, failed := c.answer()
		f, _ := answer["error"].(map[string]any)
		if failed {
			refused++
		}
		if failed && (f["type"] != "usage_error" || !strings.Contains(fmt.Sprint(f["message"]), p.read("ran.txt"))) || !failed && answer["status"] != "completed" {
			t.Errorf("answers %v", answer)
		}
	}
	if got := p.read("ran.txt"); refused != 1 || got != "red" && got != "blue" {
		t.Errorf("%d answers are refused, and %q ran", refused, got)
	}
	c.leave()
	other.leave()
}
