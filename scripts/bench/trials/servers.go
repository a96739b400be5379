package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/tidwall/gjson"
	"golang.org/x/sys/unix"

	"github.com/pflow-suite/pflow/internal/temporalserver"
)

// share asks for runs of shared workflows and kills pflow-share, pflow-exec and the processes that execute runs.
func (t *trial) share() {
	const workflows, tokens, runs, live, perMinute, perDay = 8, 3, 300, 6, 10, 100
	var all []string
	for i := range workflows * tokens {
		name := fmt.Sprintf("w%d", i%workflows)
		t.put("home/library/"+name+".json", `{"nodes":[{"id":"a","type":"shell","params":{"command":"echo hello"}}]}`)
		all = append(all, gjson.Get(t.call("pflow-share", "add", name, "--owner-funded").last().raw, "token").Str)
	}
	began := time.Now()
	var asked, going []*call
	for len(asked) < runs || len(going) > 0 {
		time.Sleep(t.soon(4))
		going = slices.DeleteFunc(going, func(c *call) bool { return c.endsWithin(0) || time.Since(c.began) > patience })
		switch i := t.rng.IntN(12); {
		case i < 3 && len(going) > 0:
			t.killOne("pflow-share")
		case i == 3:
			t.killOne("pflow-exec")
		case len(asked) < runs && len(going) < live:
			asked = append(asked, t.start("", "pflow-share", "run", all[t.rng.IntN(len(all))], "--quiet"))
			going = append(going, asked[len(asked)-1])
		}
	}
	minutes := int(time.Since(began)/time.Minute) + 1
	t.gone(time.Now().Add(enough), t.ours)
	runOf, jobOf, counted := map[string]string{}, map[string]string{}, map[string]int{}
	for line := range strings.Lines(read(t.call("pflow-share", "jobs").stdout)) {
		job, run := gjson.Get(line, "job_id").Str, gjson.Get(line, "run_id").Str
		t.check(run == "" || jobOf[run] == "", "repeated", "the run %s has the jobs %s and %s", run, jobOf[run], job)
		runOf[job], jobOf[run] = run, job
		counted[gjson.Get(line, "workflow").Str]++
	}
	for _, c := range asked {
		answer := gjson.Parse(t.wait(c).last().raw)
		job, run := answer.Get("job_id").Str, answer.Get("run_id").Str
		counted[c.line[2]] += min(len(job), 1)
		t.check((job == "" || run != "") && runOf[job] == run && counted[c.line[2]] <= perMinute*minutes, "", "the job has the run %q, and %d runs of its token were admitted: %s", runOf[job], counted[c.line[2]], c)
	}
	for line := range strings.Lines(read(t.call("pflow-share", "list").stdout)) {
		name := gjson.Get(line, "workflow").Str
		n := perDay - int(gjson.Get(line, "quota_remaining").Int())
		t.check(n == counted[name] && n <= perDay && n <= tokens*perMinute*minutes, "", "of %s, %d runs are counted, and there are %d jobs", name, n, counted[name])
	}
	for _, id := range t.runs() {
		t.check(jobOf[id] != "", "", "the run %s has no job", id)
	}
	t.verify()
}

// tasks calls execute as a client that takes tasks, and polls, while the server is killed and started again. Of four jobs one succeeds, one
// fails, one is cancelled, and one asks. Each waits until the client knows its task: until then the key of the call finds the run.
func (t *trial) tasks() {
	const kills, live, workflow = 30, 4, `{"inputs":{"n":{"type":"integer"}},"nodes":[{"id":"count","type":"shell","params":{"command":MARK}},
		{"id":"work","type":"shell","params":{"command":"until [ -e \"$MARKS\".${n} ]; do sleep 0.1; done; [ $((${n} % 4)) = 2 ] && exec sleep 60; sleep 1; [ $((${n} % 4)) != 1 ]"}},
		{"id":"last","type":"shell",APPROVAL"params":{"command":"echo ${n}"}}],"edges":[{"from":"count","to":"work"},{"from":"work","to":"last"}],"outputs":{"n":{"source":"${last.stdout}"}}}`
	t.put("home/workflows/plain.json", strings.NewReplacer("MARK}", asJSON(mark)+"}", "APPROVAL", "").Replace(workflow))
	t.put("home/workflows/asking.json", strings.NewReplacer("MARK}", asJSON(mark)+"}", "APPROVAL", `"approval":{"question":"End?"},`).Replace(workflow))
	t.marks = map[string]int{"count": 1}
	var jobs []gjson.Result // the last state of each task that a server showed
	ended := func(j gjson.Result) bool {
		return slices.Contains([]string{"completed", "failed", "cancelled"}, j.Get("status").Str)
	}
	open := func() int { return len(slices.DeleteFunc(slices.Clone(jobs), ended)) }
	deadline := time.Now().Add(3 * patience)
	for (open() > 0 || t.count["kills"] < kills) && time.Now().Before(deadline) {
		requests := filepath.Join(t.dir, fmt.Sprintf("requests-%d", len(t.calls))) // of what a killed server started, something may still hold the one before
		must(unix.Mkfifo(requests, 0o600))
		pipe := got(os.OpenFile(requests, os.O_RDWR, 0))
		s := t.start(requests, "pflow-serve")
		killed, id, seen := t.count["kills"] < kills, 0, 0
		if killed {
			t.count["kills"]++
			time.AfterFunc(t.soon(150), func() { _ = s.process.Kill() })
		}
		ask := func(method, params string) (answer gjson.Result) { // the result or the error, unless the server is gone
			id++
			fmt.Fprintf(pipe, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
				`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`+"\n", id, method, params)
			for !answer.Exists() && !s.endsWithin(time.Millisecond) {
				if line, _, whole := strings.Cut(read(s.stdout)[seen:], "\n"); whole {
					seen += len(line) + 1
					answer = gjson.Parse(cmp.Or(gjson.Get(line, "result").Raw, gjson.Get(line, "error").Raw))
				}
			}
			return answer
		}
		for !s.endsWithin(10*time.Millisecond) && (killed || open() > 0) && time.Now().Before(deadline) {
			if killed && open() < live {
				jobs = append(jobs, gjson.Result{})
			}
			for n, j := range jobs {
				method, about := "tasks/get", `"taskId":`+j.Get("taskId").Raw
				if !j.Exists() {
					method, about = "tools/call", fmt.Sprintf(`"name":"execute","arguments":{"name":%q,"wait_seconds":%d,"idempotency_key":"job-%d","inputs":{"n":%d}}`,
						[]string{"plain", "plain", "plain", "asking"}[n%4], t.rng.IntN(2), n, n)
				} else if n%4 == 2 && !ended(j) {
					ask("tasks/cancel", about)
				}
				for key := range j.Get("inputRequests").Map() {
					ask("tasks/update", about+fmt.Sprintf(`,"inputResponses":{%q:{"action":"accept","content":{"answer":"yes"}}}`, key))
				}
				if task := ask(method, about); task.Exists() {
					same := !j.Exists() || task.Get("taskId").Str == j.Get("taskId").Str && (!ended(j) || task.Get("status").Str == j.Get("status").Str)
					t.check(same && task.Get("taskId").Str != "", "", "job %d was %s and is %s", n, j, task)
					t.put(fmt.Sprintf("marks.%d", n), "")
					jobs[n] = task
				}
			}
		}
		must(pipe.Close())
		t.check(t.wait(s).done() || killed, "", "a server that was not killed ended: %s", s)
	}
	for n, j := range jobs {
		result, success := j.Get("result"), fmt.Sprintf("completed false %d", n)
		end := fmt.Sprintf("%s %t %s%s", j.Get("status"), result.Get("isError").Bool(), result.Get("structuredContent.outputs.n"), result.Get("structuredContent.error.node"))
		t.check(end == []string{success, "completed true work", "cancelled false ", success}[n%4], "", "job %d is %q: %s", n, end, j)
	}
	runs, want := len(t.runs()), len(jobs)+len(jobs)/4 // an answer begins another run
	t.check(runs == want, "repeated", "%d jobs have %d runs, want %d", len(jobs), runs, want)
	t.verify()
}

// cluster has the nodes of a run executed on a cluster, and a whole run, and kills workers, the server, and the commands that send the work.
func (t *trial) cluster() {
	server := got(temporalserver.New(os.Getenv("CASE_TEMPORAL"), t.dir))
	defer server.Kill()
	t.put("codec.key", strings.Repeat("0123456789abcdef", 4))
	t.put("tmp/.keep", "")
	t.put("blobs/.keep", "")
	t.env["TEMPORAL_ADDRESS"], t.env["TEMPORAL_CONFIG_FILE"], t.env["TMPDIR"] = server.Address, "/dev/null", filepath.Join(t.dir, "tmp")
	common, folder := " --codec-key-file codec.key", t.rng.IntN(2) == 0
	if folder {
		common += " --blobs blobs"
	}
	t.put("home/settings.json", `{"runners":{"cluster":`+asJSON("exec pflow-temporal node --queue trial"+common)+`}}`)
	t.prepare(t.draw(true), "whole.json", "local")
	t.prepare(&t.workflow, "batch.json", "cluster")
	do := func(line string) *call { return t.start("", strings.Fields(line)...) }
	var workers [2]*call
	work := func(i int) {
		workers[i] = do(fmt.Sprintf("pflow-temporal worker --queue trial --slots 2 --log-level warn --home %s/worker-%d", t.dir, i) + common)
	}
	work(0)
	work(1)
	send := func() *call { return do("pflow-exec run batch.json --quiet --checkpoint run.ndjson") }
	batch, whole := send(), t.wait(do("pflow-temporal start whole.json --queue trial"+common)).last().RunID
	if !folder {
		t.unsure = whole // what had finished since the last heartbeat runs again
	}
	wait := do("pflow-temporal wait " + whole + common)
	kill := func(c *call) {
		if !c.endsWithin(0) && c.process.Kill() == nil {
			t.count["kills"]++
		}
		t.wait(c)
	}
	restart := func(away time.Duration) {
		t.count["kills"]++
		server.Kill()
		time.Sleep(away)
		must(server.Start())
	}
	for range 1 + t.rng.IntN(4) {
		time.Sleep(t.soon(2500))
		switch i := t.rng.IntN(8); i {
		case 0, 1, 2, 3:
			kill(workers[i%2])
			if i > 1 { // both, so that the work waits for new ones
				kill(workers[1-i%2])
				time.Sleep(t.soon(2000))
				work(1 - i%2)
			}
			work(i % 2)
		case 4, 5:
			restart(t.soon(1500))
		case 6:
			kill(batch)
		default:
			t.killOne("pflow-temporal\x00node\x00")
		}
	}
	over := func(c *call) bool { return c.endsWithin(0) && c.done() }
	deadline, answered := time.Now().Add(4*time.Minute), time.Now()
	for open, err := server.Open(); !over(batch) || !over(wait) || err != nil || len(open) > 0; open, err = server.Open() { // attempts without a sender end when their lease does
		if time.Now().After(deadline) {
			t.check(false, "stuck", "not all ends: %q, %v, %s, %s", open, err, batch, wait)
			break
		}
		if batch.endsWithin(250*time.Millisecond) && !batch.done() {
			t.count["resumes"]++
			batch = send()
		}
		if wait.endsWithin(0) && !wait.done() {
			wait = do("pflow-temporal wait " + whole + common)
		}
		if err == nil {
			answered = time.Now()
		} else if time.Since(answered) > 30*time.Second { // its database can stay interrupted, "interrupted (9)", after a request that was given up on a busy machine
			restart(0)
		}
	}
	for _, w := range workers {
		_ = w.process.Signal(syscall.SIGTERM) // an interrupt may be ignored in the background
		t.wait(w)
	}
	left := got(filepath.Glob(filepath.Join(t.dir, "tmp", "[^.]*"))) // the others are of killed programs that were about to replace a file
	t.check(left == nil, "left", "temporary files are left: %q", left)
	t.verify(batch, t.wait(do("pflow-temporal events "+whole+common)))
}
