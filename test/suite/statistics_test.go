package suite

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	gosync "sync"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/brief"
)

// TestStatisticsOfRunsThatAreGone: gc changes no figure, the index can be deleted, and a workflow that takes a name begins anew.
func TestStatisticsOfRunsThatAreGone(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	text := `{"inputs":{"n":{"type":"integer"}},"nodes":[{"id":"a","type":"shell","params":{"command":"exit ${n}"}}]}`
	p.write("home/library/it.json", text)
	p.draft("it-too", text)
	for _, n := range []string{"0", "1", "0", "0"} {
		p.run("pflow-exec", "run", "it", "n="+n)
	}
	p.run("pflow-exec", "run", "it", "n=0", "--only", "a")
	p.run("pflow-exec", "run", "it-too", "n=1")
	p.run("pflow-exec", "run", "home/library/it.json", "n=1")
	describe := func(name string) gjson.Result {
		return gjson.Get(p.must("pflow-lib", "describe", name), "statistics")
	}
	want := describe("it")
	if want.Get("runs").Int() != 4 || want.Get("success_rate").Raw != "0.75" || want.Get("p95_duration_ms").Type != gjson.Number || want.Get("last_status").Str != "completed" {
		t.Fatalf("%s", want)
	}
	same := func(when string) {
		t.Helper()
		if got := describe("it"); got.Raw != want.Raw {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
	index := filepath.Join(p.home, "runs", ".index")
	if err := os.Remove(index); err != nil {
		t.Fatal(err)
	}
	same("without the index")
	p.must("pflow-exec", "gc", "--keep", "4")
	same("after gc")
	p.must("pflow-exec", "gc", "--keep", "1")
	same("after another gc")
	if err := os.Remove(index); err != nil {
		t.Fatal(err)
	}
	same("after gc, without the index")
	p.must("pflow-exec", "gc", "--keep", "0")
	same("without runs")
	if s := describe("it-too"); s.Get("runs").Int() != 1 || s.Get("success_rate").Raw != "0" {
		t.Errorf("of the draft: %s", s)
	}
	p.run("pflow-exec", "run", "it-too", "n=0")
	p.must("pflow-lib", "remove", "it-too")
	p.must("pflow-lib", "remove", "it")
	for _, name := range []string{"it", "it-too"} {
		p.draft(name, text)
		if s := describe(name); s.Get("runs").Int() != 0 {
			t.Errorf("another %s begins with %s", name, s)
		}
	}
	p.run("pflow-exec", "run", "it-too", "n=0")
	if s := describe("it-too"); s.Get("runs").Int() != 1 {
		t.Errorf("after its first run: %s", s)
	}
	p.must("pflow-exec", "gc", "--keep", "0")
	if left, _ := filepath.Glob(filepath.Join(p.home, "stats", "*.json")); len(left) != 0 {
		t.Errorf("files of removed workflows are left: %s", strings.Join(left, " "))
	}
}

// TestStatisticsWhenGCIsKilled kills gc at each of its steps: every run counts once, whether it is left or removed.
func TestStatisticsWhenGCIsKilled(t *testing.T) {
	brief.Skip(t)
	t.Parallel()
	needs(t, "strace")
	p := newPlace(t)
	if o := p.run("strace", "-o", "trace.txt", "-e", "inject=unlink:signal=KILL:when=1", "true"); o.exit != 0 {
		t.Skipf("strace may not trace here: %s", o.stderr)
	}
	p.write("home/library/it.json", `{"nodes":[{"id":"a","type":"echo","params":{"message":"x"}}]}`)
	p.must("pflow-exec", "run", "it")
	p.copies(12)
	describe := func() string { return gjson.Get(p.must("pflow-lib", "describe", "it"), "statistics").Raw }
	want := describe()
	if gjson.Get(want, "runs").Int() != 13 {
		t.Fatal(want)
	}
	before := filepath.Join(p.dir, "before")
	if err := os.CopyFS(before, os.DirFS(p.home)); err != nil {
		t.Fatal(err)
	}
	killed := 0
	for _, call := range []string{"write", "flock", "renameat,rename,renameat2", "unlinkat,unlink"} {
		for step, ended := 1, 0; ended < 2 && step <= 60; step += 1 + step/6 { // a step is one of a thread
			if err := os.RemoveAll(p.home); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(p.home, os.DirFS(before)); err != nil {
				t.Fatal(err)
			}
			args := []string{"-f", "-qq", "-o", "trace.txt", "-e", "trace=" + call, "-e", "signal=none", "-e", "inject=" + call + ":signal=KILL:when=" + strconv.Itoa(step)}
			if o := p.run("strace", append(args, filepath.Join(bin, "pflow-exec"), "gc", "--keep", "2")...); o.exit == 0 {
				ended++
			} else {
				killed++
			}
			if got := describe(); got != want {
				t.Errorf("killed at %s %d: %s, want %s", call, step, got, want)
			}
			p.must("pflow-exec", "gc", "--keep", "1")
			if err := os.Remove(filepath.Join(p.home, "runs", ".index")); err != nil {
				t.Fatal(err)
			}
			if got := describe(); got != want {
				t.Errorf("killed at %s %d, after another gc: %s, want %s", call, step, got, want)
			}
		}
	}
	if killed < 20 {
		t.Errorf("only %d processes were killed", killed)
	}
}

// TestStatisticsOfResumedRuns: a run that resume began counts like the one that it goes on from.
func TestStatisticsOfResumedRuns(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	text := `{"nodes":[{"id":"a","type":"shell","params":{"command":"test -e flag"}}]}`
	p.write("home/library/saved.json", text)
	p.draft("drafted", text)
	for _, name := range []string{"saved", "drafted"} {
		p.run("pflow-exec", "run", name)
		p.write("flag", "")
		p.must("pflow-exec", "resume", "last")
		if s := gjson.Get(p.must("pflow-lib", "describe", name), "statistics"); s.Get("runs").Int() != 2 || s.Get("successes").Int() != 1 {
			t.Errorf("%s: %s", name, s)
		}
		if err := os.Remove(filepath.Join(p.dir, "flag")); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStatisticsWhenGCsOverlap: commands that remove runs while others end count each run once, and do not fail.
func TestStatisticsWhenGCsOverlap(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("home/library/it.json", `{"nodes":[{"id":"a","type":"echo","params":{"message":"x"}}]}`)
	const rounds, runs = 5, 3
	for range rounds {
		var programs gosync.WaitGroup
		for range runs {
			programs.Go(func() {
				if o := p.run("pflow-exec", "run", "it"); o.exit != 0 {
					t.Error(o.stderr)
				}
			})
		}
		for range 2 {
			programs.Go(func() {
				if o := p.run("pflow-exec", "gc", "--older-than", "0"); o.exit != 0 {
					t.Error(o.stderr)
				}
			})
		}
		programs.Wait()
	}
	if s := gjson.Get(p.must("pflow-lib", "describe", "it"), "statistics"); s.Get("runs").Int() != rounds*runs || s.Get("successes").Int() != rounds*runs {
		t.Errorf("%s", s)
	}
}
