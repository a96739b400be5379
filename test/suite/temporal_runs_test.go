package suite

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

func TestRunsOnACluster(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	t.Run("a run is as on one machine", c.whole)
	t.Run("a run survives its worker and comes home", func(t *testing.T) { c.survives(t, "") })
	t.Run("with a folder nothing that has finished is lost", func(t *testing.T) { c.survives(t, "blobs") })
	t.Run("a worker that drains hands its runs over", c.handedOver)
	t.Run("a run is cancelled", c.stopped)
	t.Run("a person answers", c.approved)
	t.Run("an answer goes on as it was", c.answeredAsItWas)
	t.Run("a corrected workflow goes on", c.corrected)
	t.Run("what is refused or secret", c.refused)
	t.Run("long values need a folder", c.longRun)
	t.Run("a value that is too long for a line", c.veryLong)
}

// clusterRun starts a run and returns its id.
func (p *place) clusterRun(queue string, args ...string) string {
	p.Helper()
	return gjson.Get(p.must("pflow-temporal", append([]string{"start", "--queue", queue}, args...)...), "run_id").Str
}

func (c *cluster) whole(t *testing.T) {
	t.Parallel()
	p, queue := c.place(t)
	p.worker("one", queue)
	p.write("part.txt", "shared")
	p.write("w.json", `{"inputs":{"n":{"type":"integer"},"list":{"type":"array"}},"nodes":[
		{"id":"a","type":"shell","params":{"command":"cat part.txt; echo \"${n} ${list}\""}},
		{"id":"each","type":"echo","batch":{"items":"${list}"},"params":{"message":"${item}"}},
		{"id":"b","type":"shell","params":{"command":"exit 3"}},
		{"id":"c","type":"echo","params":{"message":"after ${b.exit_code}"}}],
		"edges":[{"from":"a","to":"each"},{"from":"each","to":"b"},{"from":"b","to":"c","action":"error"}],"outputs":{"out":{"source":"${a.stdout}"}}}`)
	inputs := []string{"w.json", "n=5", `list:=["x","y"]`}
	id := p.clusterRun(queue, inputs...)
	o := p.run("pflow-temporal", "wait", id)
	if a := gjson.Parse(o.stdout); o.exit != 0 || a.Get("status").Str != "degraded" || a.Get("run_id").Str != id || a.Get("outputs.out").Str != `shared5 ["x","y"]` {
		t.Fatal(o)
	}
	remote := p.must("pflow-temporal", "events", id)
	p.must("pflow-exec", append([]string{"run"}, inputs...)...)
	here := kindsOf(p.must("pflow-exec", "events", "last"))
	if there := kindsOf(remote); there != here {
		t.Errorf("there:\n%s\nhere:\n%s", there, here)
	}
	if first := gjson.Get(remote, "first_run").Str; first != id {
		t.Errorf("the chain of runs begins with %q, want %s", first, id)
	}
	s := gjson.Parse(p.must("pflow-temporal", "status", id))
	if s.Get("workflow").Str != "w.json" || s.Get("nodes.completed").Int() != 3 || s.Get("nodes.failed").Int() != 1 || s.Get("nodes.total").Int() != 4 {
		t.Error(s.Raw)
	}
	p.eventually("the list has the run", func() bool {
		for line := range strings.Lines(p.must("pflow-temporal", "list")) {
			if r := gjson.Parse(line); r.Get("run_id").Str == id {
				return r.Get("status").Str == "degraded" && r.Get("workflow").Str == "w.json" && r.Get("duration_ms").Exists()
			}
		}
		return false
	})
}

// kindsOf returns what the events of a run say of its nodes, without what differs from run to run.
func kindsOf(events string) string {
	var kinds []string
	for line := range strings.Lines(events) {
		e := gjson.Parse(line)
		kinds = append(kinds, strings.Join([]string{e.Get("event").Str, e.Get("node").Str, e.Get("item").Raw, e.Get("action").Str, regexp.MustCompile(`"[a-z_]*_ms":[0-9.]+`).ReplaceAllString(e.Get("outputs").Raw, "")}, " "))
	}
	return strings.Join(kinds, "\n")
}

// survives has a run lose its worker. With a shared folder the worker is lost as soon as a node has finished.
func (c *cluster) survives(t *testing.T, folder string) {
	t.Parallel()
	p, queue := c.place(t)
	var blobs []string
	if folder != "" {
		blobs = []string{"--blobs", filepath.Join(p.dir, folder)}
		if err := os.Mkdir(blobs[1], 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.write("w.json", `{"nodes":[
		{"id":"a","type":"shell","params":{"command":"echo a >> effects; head -c 100000 /dev/zero | tr '\\0' x"}},
		{"id":"b","type":"shell","params":{"command":"echo b $PFLOW_NODE_KEY >> effects; while ! test -e go; do sleep 0.1; done; wc -c","stdin":"${a.stdout}"}},
		{"id":"c","type":"echo","params":{"message":"${b.stdout}"}}]}`)
	first := p.worker("one", queue, blobs...)
	id := p.clusterRun(queue, append([]string{"w.json"}, blobs...)...)
	about := func(command string) []string { return append([]string{command, id}, blobs...) }
	p.eventually("the cluster knows that the first node has finished", func() bool {
		if folder != "" {
			return p.exists("effects") && strings.Contains(p.read("effects"), "b ")
		}
		return gjson.Get(p.must("pflow-temporal", about("status")...), "running.0").Str == "b"
	})
	first.kill()
	home := p.must("pflow-temporal", about("events")...)
	p.worker("two", queue, blobs...)
	p.eventually("another worker goes on", func() bool { return strings.Count(p.read("effects"), "b ") == 2 })
	p.write("go", "")
	if o := p.run("pflow-temporal", about("wait")...); o.exit != 0 || gjson.Get(o.stdout, "outputs.c.echo").String() != "100000" {
		t.Error(o)
	}
	lines := strings.Split(strings.TrimSpace(p.read("effects")), "\n")
	if len(lines) != 3 || lines[0] != "a" || lines[1] != lines[2] {
		t.Errorf("the effects are %q", lines)
	}
	o := p.fed(home, "pflow-exec", "run", "w.json", "--resume", "-")
	if o.exit != 0 {
		t.Fatal(o)
	}
	lines = strings.Split(strings.TrimSpace(p.read("effects")), "\n")
	if !strings.Contains(o.stdout, `"event":"node_reused"`) || len(lines) != 4 || lines[3] != lines[2] {
		t.Errorf("at home the effects are %q", lines)
	}
}

// handedOver tells a worker to end while it executes a run: another one goes on, and what had finished does not run again.
func (c *cluster) handedOver(t *testing.T) {
	t.Parallel()
	p, queue := c.place(t)
	p.write("w.json", `{"nodes":[
		{"id":"a","type":"shell","params":{"command":"echo a >> effects"}},
		{"id":"b","type":"shell","params":{"command":"echo b $PFLOW_HOME $PFLOW_NODE_KEY >> effects; while ! test -e go; do sleep 0.1; done"}},
		{"id":"c","type":"shell","params":{"command":"echo c $PFLOW_HOME >> effects"}}],"edges":[{"from":"a","to":"b"},{"from":"b","to":"c"}]}`)
	first := p.worker("one", queue, "--drain", "100ms")
	id := p.clusterRun(queue, "w.json")
	p.eventually("the second node runs", func() bool { return p.exists("effects") && strings.Contains(p.read("effects"), "b ") })
	_ = first.Process.Signal(syscall.SIGTERM)
	if _ = first.wait(); first.ProcessState.ExitCode() != 143 {
		t.Errorf("the worker ended with %v", first.ProcessState)
	}
	second := p.worker("two", queue)
	p.eventually("another worker goes on", func() bool { return strings.Count(p.read("effects"), "b ") == 2 })
	p.write("go", "")
	if o := p.run("pflow-temporal", "wait", id); o.exit != 0 || gjson.Get(o.stdout, "status").Str != "completed" {
		t.Error(o)
	}
	f := strings.Fields(p.read("effects"))
	if len(f) != 9 || f[0] != "a" || f[2] != first.home || f[5] != second.home || f[3] != f[6] || f[8] != second.home {
		t.Errorf("the effects are %q", f)
	}
}

func (c *cluster) stopped(t *testing.T) {
	t.Parallel()
	p, queue := c.place(t)
	w := p.worker("one", queue)
	p.write("w.json", `{"nodes":[{"id":"a","type":"shell","params":{"command":"touch begun; exec sleep 300"}}]}`)
	id := p.clusterRun(queue, "w.json")
	p.eventually("the node runs", func() bool { return p.exists("begun") })
	for range 2 {
		if o := p.run("pflow-temporal", "cancel", id); o.exit != 0 || gjson.Get(o.stdout, "status").Str != "cancelled" {
			t.Fatal(o)
		}
	}
	for _, command := range processes("PFLOW_HOME=" + w.home) {
		if strings.Contains(command, "sleep 300") {
			t.Errorf("%s goes on", command)
		}
	}
	if o := p.run("pflow-temporal", "wait", id); o.exit != 143 || gjson.Get(o.stdout, "status").Str != "cancelled" {
		t.Error(o)
	}
}

func (c *cluster) approved(t *testing.T) {
	t.Parallel()
	p, queue := c.place(t)
	first := p.worker("one", queue)
	p.write("w.json", `{"nodes":[{"id":"a","type":"shell","params":{"command":"echo a >> effects"}},
		{"id":"drop","type":"shell","approval":{"question":"Drop it?"},"params":{"command":"echo dropped"}}],"edges":[{"from":"a","to":"drop"}]}`)
	id := p.clusterRun(queue, "w.json")
	if o := p.run("pflow-temporal", "wait", id); o.exit != 4 || gjson.Get(o.stdout, "status").Str != "paused" {
		t.Fatal(o)
	}
	first.kill()
	if s := gjson.Parse(p.must("pflow-temporal", "status", id)); s.Get("questions.0.question").Str != "Drop it?" || s.Get("status").Str != "paused" {
		t.Error(s.Raw)
	}
	p.must("pflow-temporal", "approve", id, "yes")
	p.worker("two", queue)
	p.eventually("the run has ended", func() bool { return gjson.Get(p.must("pflow-temporal", "status", id), "status").Str == "completed" })
	if o := p.run("pflow-temporal", "wait", id); o.exit != 0 || !strings.Contains(o.stdout, "dropped") || p.read("effects") != "a\n" {
		t.Errorf("%s, effects %q", o, p.read("effects"))
	}
	if o := p.run("pflow-temporal", "approve", id, "yes"); o.exit != 1 || !strings.Contains(o.stdout, `"conflict"`) {
		t.Error(o)
	}
}

// answeredAsItWas holds that an answer, which another worker may take, goes on with the sub-workflows that the run began with.
func (c *cluster) answeredAsItWas(t *testing.T) {
	t.Parallel()
	p, queue := c.place(t)
	p.worker("one", queue)
	const inner = `{"nodes":[{"id":"drop","type":"shell","approval":true,"params":{"command":"echo one"}}],"outputs":{"v":{"source":"${drop.stdout}"}}}`
	p.write("inner.json", inner)
	p.write("w.json", `{"nodes":[{"id":"s","type":"workflow","params":{"workflow":"./inner.json"}}],"outputs":{"r":{"source":"${s.v}"}}}`)
	id := p.clusterRun(queue, "w.json")
	if o := p.run("pflow-temporal", "wait", id); o.exit != 4 {
		t.Fatalf("got %s, want a question", o)
	}
	p.write("inner.json", strings.ReplaceAll(inner, "echo one", "echo two"))
	p.must("pflow-temporal", "approve", id, "yes")
	p.eventually("the run has ended", func() bool { return gjson.Get(p.must("pflow-temporal", "status", id), "status").Str == "completed" })
	if o := p.run("pflow-temporal", "wait", id); gjson.Get(o.stdout, "outputs.r").Str != "one" {
		t.Errorf("got %s, want the output of the sub-workflow as it was, one", o)
	}
}

// corrected holds that resume sends a workflow as it is now, and executes again only what has changed.
func (c *cluster) corrected(t *testing.T) {
	t.Parallel()
	p, queue := c.place(t)
	p.worker("one", queue)
	const text = `{"nodes":[{"id":"a","type":"shell","params":{"command":"echo a >> effects"}},{"id":"b","type":"shell","params":{"command":"echo FAIL TestLogin; exit 1"}}],"edges":[{"from":"a","to":"b"}]}`
	p.write("w.json", text)
	id := p.clusterRun(queue, "w.json")
	o := p.run("pflow-temporal", "wait", id)
	if o.exit != 1 || !strings.Contains(o.stdout, "FAIL TestLogin") || !strings.Contains(o.stderr, "pflow-temporal resume "+id) {
		t.Fatalf("got %s, want why it failed and how to go on", o)
	}
	p.write("w.json", strings.ReplaceAll(text, "exit 1", "exit 0"))
	next := strings.TrimSpace(p.must("pflow-temporal", "resume", id, "w.json", "--queue", queue, "--format", "text"))
	if o := p.run("pflow-temporal", "wait", next); o.exit != 0 || next == id {
		t.Errorf("run %s after %s: got %s, want completed", next, id, o)
	}
	if got := p.read("effects"); got != "a\n" {
		t.Errorf("node a ran as %q, want once", got)
	}
}

func (c *cluster) refused(t *testing.T) {
	t.Parallel()
	p, queue := c.place(t)
	p.worker("one", queue)
	p.write("w.json", `{"inputs":{"pin":{"type":"string","secret":true}},"nodes":[{"id":"a","type":"echo","params":{"message":"${pin}"}}]}`)
	if o := p.run("pflow-temporal", "start", "w.json", "pin=hunter22", "--queue", queue); o.exit != 2 || strings.Contains(o.String(), "hunter22") {
		t.Error(o)
	}
	id := p.clusterRun(queue, "w.json")
	if o := p.run("pflow-temporal", "wait", id); o.exit != 1 || gjson.Get(o.stdout, "error.type").Str != "template_error" || gjson.Get(o.stdout, "status").Str != "failed" {
		t.Error(o)
	}
	for _, command := range []string{"status", "wait", "events", "cancel"} {
		if o := p.run("pflow-temporal", command, "r01nothing"); o.exit != 2 || !strings.Contains(o.stdout, `"not_found"`) {
			t.Errorf("%s: %s", command, o)
		}
	}
}

func (c *cluster) longRun(t *testing.T) {
	t.Parallel()
	p, queue := c.place(t)
	blobs := filepath.Join(p.dir, "blobs")
	if err := os.Mkdir(blobs, 0o700); err != nil {
		t.Fatal(err)
	}
	p.write("w.json", `{"nodes":[{"id":"a","type":"shell","params":{"command":"head -c 3000000 /dev/urandom | base64 -w0"}},{"id":"b","type":"shell","params":{"command":"wc -c","stdin":"${a.stdout}"}}]}`)
	without := p.worker("one", queue)
	id := p.clusterRun(queue, "w.json")
	if o := p.run("pflow-temporal", "wait", id); o.exit != 1 || gjson.Get(o.stdout, "error.type").Str != "too_large" {
		t.Error(o)
	}
	without.kill()
	p.worker("two", queue, "--blobs", blobs)
	id = p.clusterRun(queue, "w.json")
	if o := p.run("pflow-temporal", "wait", id, "--blobs", blobs); o.exit != 0 || gjson.Get(o.stdout, "outputs.b.stdout").String() != "4000000" {
		t.Error(o.stderr)
	}
	if events := p.must("pflow-temporal", "events", id, "--blobs", blobs); len(events) < 4_000_000 {
		t.Errorf("the events have %d bytes", len(events))
	}
	c.collected(p, blobs)
}

// veryLong has a run with an output that is longer than a line of a stream may be. Its state can be read, and another worker takes it over.
func (c *cluster) veryLong(t *testing.T) {
	t.Parallel()
	p, queue := c.place(t)
	blobs := filepath.Join(p.dir, "blobs")
	if err := os.Mkdir(blobs, 0o700); err != nil {
		t.Fatal(err)
	}
	p.write("w.json", `{"nodes":[
		{"id":"a","type":"shell","params":{"command":"echo a >> effects; head -c 52500000 /dev/urandom | base64 -w0"}},
		{"id":"b","type":"shell","params":{"command":"echo b >> effects; while ! test -e go; do sleep 0.1; done; wc -c","stdin":"${a.stdout}"}}]}`)
	first := p.worker("one", queue, "--blobs", blobs)
	id := p.clusterRun(queue, "w.json")
	p.eventually("the second node runs", func() bool { return p.exists("effects") && strings.Contains(p.read("effects"), "b") })
	first.kill()
	if s := gjson.Parse(p.must("pflow-temporal", "status", id, "--blobs", blobs)); s.Get("completed_nodes.0").Str != "a" {
		t.Error(s.Raw)
	}
	p.worker("two", queue, "--blobs", blobs)
	p.eventually("another worker goes on", func() bool { return strings.Count(p.read("effects"), "b") == 2 })
	p.write("go", "")
	if o := p.run("pflow-temporal", "wait", id, "--blobs", blobs); o.exit != 0 || gjson.Get(o.stdout, "outputs.b.stdout").String() != "70000000" {
		t.Errorf("exit status %d, %.300s, %s", o.exit, o.stdout, o.stderr)
	}
	if got := p.read("effects"); got != "a\nb\nb\n" {
		t.Errorf("the effects are %q", got)
	}
	if n := len(p.must("pflow-temporal", "events", id, "--blobs", blobs)); n < 70_000_000 {
		t.Errorf("the events have %d bytes", n)
	}
}

// collected checks that gc keeps what the run, a file of a stranger and a young one need, and removes the rest.
func (c *cluster) collected(p *place, blobs string) {
	p.Helper()
	kept, err := os.ReadDir(blobs)
	if err != nil || len(kept) == 0 {
		p.Fatalf("the run has left %v, %v", kept, err)
	}
	gone, random := "r01m"+strings.Repeat("0", 23)+"-", strings.Repeat("A", 26)
	old := []string{"notes.txt", gone + random, "pflow-node-" + random + "-" + random}
	for _, name := range append(old, gone+strings.Repeat("B", 26)) {
		p.write(filepath.Join("blobs", name), "123")
	}
	for _, e := range kept {
		old = append(old, e.Name())
	}
	past := time.Now().Add(-2 * time.Hour)
	for _, name := range old {
		if err := os.Chtimes(filepath.Join(blobs, name), past, past); err != nil {
			p.Fatal(err)
		}
	}
	if done := gjson.Parse(p.must("pflow-temporal", "gc", "--blobs", blobs)); done.Get("files").Int() != 2 || done.Get("bytes").Int() != 6 {
		p.Error(done.Raw)
	}
	if left, err := os.ReadDir(blobs); err != nil || len(left) != len(kept)+2 {
		p.Errorf("gc has left %v, %v", left, err)
	}
	if o := p.run("pflow-temporal", "gc"); o.exit != 2 {
		p.Error(o)
	}
}
