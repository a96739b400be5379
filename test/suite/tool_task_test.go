package suite

import (
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"
)

// withTasks runs a test in a place with a server that has tasks, in each revision that knows them.
func withTasks(t *testing.T, test func(p *place, revision string)) {
	t.Helper()
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.protocol("tasks " + revision)
			test(p, revision)
		})
	}
}

// taskRun is a workflow with one call of a server with tasks.
func taskRun(tool string) string {
	return `{"nodes":[{"id":"call","type":"mcp-p-` + tool + `"}],"outputs":{"said":{"source":"${call.result}"}}}`
}

// A call that the server makes a task of is polled to its end, with the time between polls that the server wants.
func TestTasksArePolledToTheirEnd(t *testing.T) {
	t.Parallel()
	withTasks(t, func(p *place, revision string) {
		for tool, c := range map[string]struct {
			exit int
			want string
		}{"done": {0, "done "}, "plain": {0, "plain"}, "failed": {1, "out of paper"}} {
			p.write("w.json", taskRun(tool))
			if o := p.run("pflow-exec", "run", "w.json", "--format", "json"); o.exit != c.exit || !strings.Contains(gjson.Get(o.stdout, "outputs.said").Str+gjson.Get(o.stdout, "error.message").Str, c.want) {
				p.Errorf("%s: %s", tool, o)
			}
			if tool != "done" {
				continue
			}
			if shown := p.must("pflow-exec", "events", "last"); !strings.Contains(shown, `"message":"step 0"`) || !strings.Contains(shown, `"message":"step 1"`) {
				p.Errorf("the progress of a task: %s", shown)
			}
			if polls := strings.Count(p.read("calls"), "tasks/get done"); polls != 2 {
				p.Errorf("polled %d times", polls)
			}
			if took := gjson.Get(p.must("pflow-exec", "events", "last"), `..#(event=="node_completed").duration_ms`).Num; took < 600 {
				p.Errorf("two polls took only %v ms", took)
			}
		}
		p.write("w.json", taskRun("cancelled"))
		if o := p.run("pflow-exec", "run", "w.json", "--format", "json"); revision == "2026-07-28" && (o.exit != 1 || gjson.Get(o.stdout, "error.type").Str != "execution_error") {
			p.Error(o)
		}
		if calls := p.read("calls"); strings.Contains(calls, "tasks/cancel") {
			p.Errorf("tasks that had ended were cancelled: %s", calls)
		}
	})
}

// A task is cancelled when its call ends before it: by the time limit of the node, and by an interruption.
func TestTasksAreCancelled(t *testing.T) {
	t.Parallel()
	withTasks(t, func(p *place, _ string) {
		p.write("w.json", `{"nodes":[{"id":"call","type":"mcp-p-forever","timeout":"5s"}]}`)
		if o := p.run("pflow-exec", "run", "w.json", "--format", "json"); o.exit != 1 || gjson.Get(o.stdout, "error.type").Str != "timeout" || !strings.Contains(p.read("calls"), "tasks/cancel forever 1") {
			p.Errorf("%s\n%s", p.read("calls"), o)
		}
		polls := func() int { return strings.Count(p.read("calls"), "tasks/get forever 1") }
		before := polls()
		p.write("w.json", taskRun("forever"))
		cmd := p.command("pflow-exec", "run", "w.json")
		if err := cmd.Start(); err != nil {
			p.Fatal(err)
		}
		p.eventually("the task is polled", func() bool { return polls() > before+2 })
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
		if cancelled := strings.Count(p.read("calls"), "tasks/cancel forever 1"); cancelled != 2 {
			p.Errorf("%d tasks were cancelled", cancelled)
		}
	})
}

// A task that needs input pauses the run, and gets the answer when it asks again.
func TestATaskAsksAPerson(t *testing.T) {
	t.Parallel()
	withTasks(t, func(p *place, _ string) {
		p.write("w.json", taskRun("asks"))
		if o := p.run("pflow-exec", "run", "w.json", "--format", "json"); o.exit != 4 || !gjson.Get(o.stdout, "error.details.fields.call.properties.who").Exists() {
			p.Fatal(o)
		}
		if !strings.Contains(p.read("calls"), "tasks/cancel asks 1") {
			p.Errorf("the task of the paused run goes on: %s", p.read("calls"))
		}
		if o := p.run("pflow-exec", "resume", "last", "--approve", `{"who":"me"}`, "--format", "json"); o.exit != 0 || gjson.Get(o.stdout, "outputs.said").Str != "asks me" {
			p.Errorf("%s\n%s", p.read("calls"), o)
		}
	})
}
