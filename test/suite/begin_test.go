package suite

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// named returns the runs of a home that other programs see.
func (p *place) named(home string) []string {
	found, err := filepath.Glob(filepath.Join(home, "runs", "[^.]*"))
	if err != nil {
		p.Error(err)
	}
	return found
}

// TestARunAlwaysBegins: whenever a runner is killed, every run that is seen has its first event, and can be resumed.
func TestARunAlwaysBegins(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := p.write("w.json", `{"nodes": [{"id": "a", "type": "shell", "params": {"command": "echo a"}}]}`)
	begun := 0
	for range 60 {
		dir, err := os.MkdirTemp(p.dir, "home")
		if err != nil {
			t.Fatal(err)
		}
		cmd := p.command("pflow-exec", "run", w)
		cmd.Env = append(cmd.Env, "PFLOW_HOME="+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(patience)
		for len(p.named(dir)) == 0 && time.Now().Before(deadline) { // until the moment in which the run is seen
			continue
		}
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait()
		for _, run := range p.named(dir) {
			begun++
			journal, err := os.ReadFile(filepath.Join(run, "journal.ndjson"))
			first, _, whole := strings.Cut(string(journal), "\n")
			if err != nil || !whole || !strings.Contains(first, `"event":"run_started"`) {
				t.Fatalf("the run does not begin: %q %v", journal, err)
			}
			resume := p.command("pflow-exec", "resume", filepath.Base(run), "--print", "a.stdout")
			resume.Env = cmd.Env
			if out, err := resume.Output(); err != nil || string(out) != "a\n" {
				t.Errorf("resume: %q %v", out, err)
			}
		}
	}
	if begun == 0 {
		t.Error("no run was killed")
	}
}

// TestIDsSortThoughTheClockWentBack: the newest run is the last that was created, though an earlier one has a later time.
func TestIDsSortThoughTheClockWentBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("home/runs/.newest", "r7000000000"+strings.Repeat("0", 16)+"\n") // a run of the year 9735
	w := p.write("w.json", `{"nodes": [{"id": "a", "type": "shell", "params": {"command": "echo a"}}]}`)
	last := "r7000000000" + strings.Repeat("0", 16)
	for _, removed := range []bool{false, true, false} {
		if removed { // then the runs themselves have the time
			if err := os.Remove(filepath.Join(p.home, "runs", ".newest")); err != nil {
				t.Fatal(err)
			}
		}
		run := strings.TrimSpace(p.run("pflow-exec", "start", w, "--format", "text").stdout)
		p.run("pflow-exec", "wait", run)
		if run <= last {
			t.Errorf("%s is not after %s", run, last)
		}
		last = run
		if o := p.run("pflow-exec", "status", "last", "--format", "text"); !strings.HasPrefix(o.stdout, run+" ") {
			t.Errorf("the last run is not %s: %s", run, o)
		}
	}
	p.run("pflow-exec", "gc", "--keep", "1")
	if o := p.run("pflow-exec", "list", "--format", "text"); strings.Count(o.stdout, "\n") > 2 || !strings.Contains(o.stdout, last) {
		t.Errorf("left: %s", o)
	}
}

// TestTheEventsOfAnInterruptedRunSayWhyTheyEnd: on standard error, since the stream has the events of the journal only. When such a
// run or its node ended is not known.
func TestTheEventsOfAnInterruptedRunSayWhyTheyEnd(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("w.json", `{"nodes": [{"id": "a", "type": "shell", "params": {"command": "kill -9 $(cat $PFLOW_HOME/runs/$PFLOW_RUN_ID/lock)"}}]}`)
	p.run("pflow-exec", "run", "w.json")
	for _, args := range [][]string{{"events", "last"}, {"events", "last", "--follow"}} {
		if o := p.run("pflow-exec", args...); o.exit != 0 || !strings.Contains(o.stderr, "interrupted") || strings.Contains(o.stdout, "interrupted") {
			t.Errorf("%q: %s", args, o)
		}
	}
	if o := p.run("pflow-exec", "events", "last", "--max-bytes", "4096"); o.exit != 2 || o.stdout == "" {
		t.Errorf("a bounded stream: %s", o)
	}
	if node := p.document(p.must("pflow-exec", "show", "last", "a")); node["state"] != "interrupted" || node["started_at"] == nil || node["duration_ms"] != nil {
		t.Errorf("%v", node)
	}
	if text := p.must("pflow-exec", "status", "last", "--format", "text"); strings.Contains(text, "\n: ") {
		t.Errorf("%s", text)
	}
	today := time.Now().Format(time.DateOnly)
	if o := p.must("pflow-exec", "list", "--since", today); strings.Count(o, "\n") != 1 {
		t.Errorf("since %s: %q", today, o)
	}
}
