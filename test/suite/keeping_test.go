package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// started starts a detached run and returns its id.
func (p *place) started(args ...string) string {
	p.Helper()
	id, _ := p.document(p.must("pflow-exec", append([]string{"start"}, args...)...))["run_id"].(string)
	return id
}

// removed runs a collection and returns the runs that it removed.
func (p *place) removed(args ...string) string {
	p.Helper()
	d := p.document(p.must("pflow-exec", append([]string{"gc"}, args...)...))
	return fmt.Sprint(d["removed"], " ", d["kept"])
}

func TestCollectingLeavesWhatIsLive(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.write("w.json", gated())
	p.write("short.json", chain("echo short"))
	p.must("pflow-exec", "run", "short.json")
	short := p.last(p.journal())["run"].(string)
	live := p.started("w.json")
	_ = g.reached()
	if got := p.removed("--keep", "0", "--dry-run"); got != "["+short+"] 1" || len(p.journals()) != 2 {
		t.Errorf("would remove %s", got)
	}
	if got := p.removed("--older-than", "1h"); got != "[] 2" {
		t.Errorf("removed %s", got)
	}
	if got := p.removed("--older-than", "0", "--keep", "0"); got != "["+short+"] 1" {
		t.Errorf("removed %s", got)
	}
	p.kill(live)
	g.left()
	resumed := p.command("pflow-exec", "resume", live)
	if err := resumed.Start(); err != nil {
		t.Fatal(err)
	}
	again := g.reached()
	if got := p.removed("--keep", "0"); got != "[] 2" {
		t.Errorf("removed %s while it is resumed", got)
	}
	again()
	if err := resumed.Wait(); err != nil {
		t.Error(err)
	}
	if got := p.removed("--keep", "1"); got != "["+live+"] 1" {
		t.Errorf("removed %s", got)
	}
	p.must("pflow-exec", "resume", "last")
}

// A collection also ends the processes that a killed runner has left behind.
func TestCollectingEndsWhatIsLeftOver(t *testing.T) {
	t.Parallel()
	needsLinux(t, "elsewhere nothing finds them")
	p := newPlace(t)
	g := p.gate("gate")
	p.write("w.json", chain("setsid sh -c 'read x < gate' & wait"))
	id := p.started("w.json")
	_ = g.reached()
	p.kill(id)
	p.must("pflow-exec", "gc", "--dry-run")
	if len(processes("PFLOW_RUN_ID="+id)) == 0 {
		t.Log("it was ended with its runner")
	}
	p.must("pflow-exec", "gc")
	p.eventually("nothing is left over", func() bool { return len(processes("PFLOW_RUN_ID="+id)) == 0 })
}

// Old runs and old entries of the cache are removed automatically, once a day.
func TestOldRunsGoByThemselves(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", `{"nodes":[{"id":"a","type":"shell","cache":true,"params":{"command":"echo x"}}]}`)
	p.must("pflow-exec", "run", "w.json")
	old, err := filepath.Glob(filepath.Join(p.home, "runs", "r*"))
	if err != nil || len(old) != 1 {
		t.Fatal(old, err)
	}
	ancient := filepath.Join(p.home, "runs", "r00000000000000000000000000")
	if err := os.Rename(old[0], ancient); err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join(ancient, "journal.ndjson")
	p.write("home/runs/"+filepath.Base(ancient)+"/journal.ndjson", strings.ReplaceAll(p.read("home/runs/"+filepath.Base(ancient)+"/journal.ndjson"), `"time":"20`, `"time":"10`))
	entries, err := filepath.Glob(filepath.Join(p.home, "cache", "*"))
	if err != nil || len(entries) == 0 {
		t.Fatal("nothing is cached", err)
	}
	longAgo := time.Now().AddDate(-1, 0, 0)
	for _, path := range append(entries, journal) {
		if err := os.Chtimes(path, longAgo, longAgo); err != nil {
			t.Fatal(err)
		}
	}
	other := chain("echo other")
	p.write("other.json", other)
	p.must("pflow-exec", "run", "other.json")
	if _, err := os.Stat(ancient); err != nil {
		t.Error("it went on the first day")
	}
	if err := os.Chtimes(filepath.Join(p.home, "runs", ".collected"), longAgo, longAgo); err != nil {
		t.Fatal(err)
	}
	p.must("pflow-exec", "run", "other.json")
	if _, err := os.Stat(ancient); err == nil {
		t.Error("the old run is still there")
	}
	if left, _ := filepath.Glob(filepath.Join(p.home, "cache", "*")); len(left) != 0 {
		t.Errorf("the cache has %q", left)
	}
	if len(p.journals()) != 2 {
		t.Errorf("there are %d runs", len(p.journals()))
	}
}

func TestAnIdempotencyKeyStartsOneRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.write("w.json", gated())
	p.write("other.json", chain("echo other"))
	const crowd = 20
	outcomes, answered := make([]outcome, crowd), make(chan bool, crowd)
	for i := range crowd {
		command := "start"
		if i%5 == 0 {
			command = "run" // which follows what it finds
		}
		go func() {
			outcomes[i] = p.run("pflow-exec", command, "w.json", "--idempotency-key", "release 1", "--format", "json")
			answered <- true
		}()
	}
	open := g.reached()
	for range crowd - crowd/5 { // those that start; the others answer when the run has ended
		<-answered
	}
	if o := p.run("pflow-exec", "run", "other.json", "--idempotency-key", "release 1"); o.exit != 2 || !strings.Contains(o.stderr, "w.json") {
		t.Errorf("another workflow with the key: %s", o)
	}
	if d := p.document(p.must("pflow-exec", "run", "w.json", "--idempotency-key", "release 1", "--dry-run")); d["attach"] == nil || len(d["nodes"].([]any)) != 0 {
		t.Errorf("a dry run with the key: %v", d)
	}
	open()
	for range crowd / 5 {
		<-answered
	}
	if n := len(p.journals()); n != 1 {
		t.Fatalf("%d runs were started", n)
	}
	id := p.last(p.journal())["run"]
	for i, o := range outcomes {
		if o.exit != 0 || p.document(o.stdout)["run_id"] != id {
			t.Errorf("%d: %s", i, o)
		}
	}
	p.must("pflow-exec", "run", "other.json", "--idempotency-key", "release 1")
	p.must("pflow-exec", "run", "other.json", "--idempotency-key", "release 1")
	if n := len(p.journals()); n != 3 {
		t.Errorf("there are %d runs: the key of a run that has ended starts another", n)
	}
	keys, _ := filepath.Glob(filepath.Join(p.home, "runs", ".keys", "*"))
	for _, key := range keys { // they are kept for an hour
		if err := os.Chtimes(key, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	p.must("pflow-exec", "gc")
	if keys, _ := filepath.Glob(filepath.Join(p.home, "runs", ".keys", "*")); len(keys) != 0 {
		t.Errorf("keys are left: %q", keys)
	}
	if o := p.run("pflow-exec", "run", "other.json", "--idempotency-key", strings.Repeat("k", 257)); o.exit != 2 {
		t.Errorf("a long key: %s", o)
	}
}

func TestListTellsWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("good", chain("echo good"))
	p.draft("bad", chain("exit 1"))
	for _, w := range []string{"good", "bad", "good", "bad", "good"} {
		p.run("pflow-exec", "run", w)
	}
	for args, want := range map[string]int{
		"": 5, "--limit 2": 2, "--limit 9": 5, "--workflow good": 3, "--workflow good --limit 2": 2, "--status failed": 2,
		"--status completed --workflow bad": 0, "--status failed --limit 1": 1, "--workflow nothing": 0,
	} {
		if got := len(p.events(p.must("pflow-exec", append([]string{"list"}, strings.Fields(args)...)...))); got != want {
			t.Errorf("list %s: %d runs, want %d", args, got, want)
		}
	}
	if o := p.run("pflow-exec", "list", "--status", "complete"); o.exit != 2 || !strings.Contains(o.stderr, `Did you mean "completed"?`) {
		t.Errorf("%s", o)
	}
}
