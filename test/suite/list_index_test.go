package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/brief"
)

// copies adds n runs to the home: each has the files of the newest run, with an id of its own that is older.
func (p *place) copies(n int) {
	p.Helper()
	paths := p.journals()
	newest := filepath.Dir(paths[len(paths)-1])
	id := filepath.Base(newest)
	journal, workflow := p.read("home/runs/"+id+"/journal.ndjson"), p.read("home/runs/"+id+"/workflow.json")
	for i := range n {
		other := fmt.Sprintf("r00%024d", i)
		dir := filepath.Join(filepath.Dir(newest), other)
		if err := os.Mkdir(dir, 0o700); err != nil {
			p.Fatal(err)
		}
		for name, content := range map[string]string{"journal.ndjson": strings.ReplaceAll(journal, id, other), "workflow.json": workflow, "lock": "99999999\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				p.Fatal(err)
			}
		}
	}
}

// TestAListOpensNoFinishedRun traces a list of 5,000 runs, and lists them with all kinds of damaged indexes.
func TestAListOpensNoFinishedRun(t *testing.T) {
	brief.Skip(t)
	t.Parallel()
	needs(t, "strace")
	p := newPlace(t)
	if o := p.run("strace", "-o", "trace.txt", "true"); o.exit != 0 {
		t.Skipf("strace may not trace here: %s", o.stderr)
	}
	const runs = 5000
	p.write("fails.json", chain("exit 1"))
	p.run("pflow-exec", "run", "fails.json")
	p.copies(runs)
	killed := filepath.Join(p.home, "runs", fmt.Sprintf("r00%024d", 77), "journal.ndjson")
	if err := os.Truncate(killed, int64(len(p.read("home/runs/"+filepath.Base(filepath.Dir(killed))+"/journal.ndjson"))-10)); err != nil {
		t.Fatal(err)
	}
	want := p.must("pflow-exec", "list")
	if n := strings.Count(want, "\n"); n != runs+1 || strings.Count(want, `"interrupted"`) != 1 {
		t.Fatalf("%d runs", n)
	}
	o := p.run("strace", "-f", "-qq", "-e", "trace=open,openat,openat2", "-e", "signal=none", "-o", "trace.txt", filepath.Join(bin, "pflow-exec"), "list")
	if o.exit != 0 || o.stdout != want {
		t.Errorf("traced: %s", o.stderr)
	}
	opened := regexp.MustCompile(`"([^"]*/runs/r0[^"]*)"`).FindAllStringSubmatch(p.read("trace.txt"), -1)
	journals := 0
	for _, m := range opened {
		if filepath.Dir(m[1]) != filepath.Dir(killed) {
			t.Fatalf("the list opens %s of a run that has ended", m[1])
		}
		if filepath.Base(m[1]) == "journal.ndjson" {
			journals++
		}
	}
	if journals != 1 {
		t.Errorf("the journal of the run that was killed is opened %d times", journals)
	}
	index := filepath.Join(p.home, "runs", ".index")
	whole := p.read("home/runs/.index")
	lines := strings.SplitAfter(whole, "\n")
	for name, spoil := range map[string]func() error{
		"deleted":   func() error { return os.Remove(index) },
		"truncated": func() error { return os.Truncate(index, int64(len(whole)-len(whole)/3)) },
		"foreign line": func() error {
			return os.WriteFile(index, []byte(`{"run":"`+filepath.Base(filepath.Dir(killed))+`","status":"completed"}`+"\n"+strings.Join(lines[2:], "")), 0o600)
		},
		"garbage": func() error {
			return os.WriteFile(index, []byte(lines[0]+"\xff\x00{{{\n"+lines[1][:40]+"\n"+lines[2]), 0o600)
		},
		"1 GB of zeros": func() error { return os.Truncate(index, 1<<30) },
	} {
		p.write("home/runs/.index", whole)
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := p.must("pflow-exec", "list"); got != want {
				t.Errorf("another list with an index that is %s", name)
			}
		}
		if info, err := os.Stat(index); err != nil || info.Size() > 2*int64(len(whole)) {
			t.Errorf("%s: the index is %v %v", name, info, err)
		}
	}
}

// TestKilledWhileTheIndexIsWritten kills runs and lists at each of their steps. The list is then as without an index.
func TestKilledWhileTheIndexIsWritten(t *testing.T) {
	brief.Skip(t)
	t.Parallel()
	needs(t, "strace")
	p := newPlace(t)
	if o := p.run("strace", "-o", "trace.txt", "-e", "inject=unlink:signal=KILL:when=1", "true"); o.exit != 0 {
		t.Skipf("strace may not trace here: %s", o.stderr)
	}
	p.draft("it", `{"nodes":[{"id":"a","type":"echo","params":{"message":"x"}}]}`)
	p.must("pflow-exec", "run", "it")
	p.copies(20)
	index, killed := filepath.Join(p.home, "runs", ".index"), 0
	check := func(when string) {
		t.Helper()
		got := p.must("pflow-exec", "list")
		if err := os.Remove(index); err != nil {
			t.Fatal(err)
		}
		if want := p.must("pflow-exec", "list"); got != want {
			t.Fatalf("%s: %s\nwithout an index: %s", when, got, want)
		}
	}
	for name, c := range map[string]struct {
		prepare func() error
		args    []string
	}{
		"first list":    {func() error { return os.Remove(index) }, []string{"list"}},
		"damaged index": {func() error { return os.Truncate(index, 300<<20) }, []string{"list"}},
		"run":           {func() error { return nil }, []string{"run", "it"}},
	} {
		for _, call := range []string{"write", "openat", "flock", "renameat,rename,renameat2", "close"} {
			for step, ended := 1, 0; ended < 3 && step <= 60; step += 1 + step/10 { // a step is one of a thread
				if err := c.prepare(); err != nil {
					t.Fatal(err)
				}
				args := []string{"-f", "-qq", "-o", "trace.txt", "-e", "trace=" + call, "-e", "signal=none", "-e", "inject=" + call + ":signal=KILL:when=" + strconv.Itoa(step)}
				if o := p.run("strace", append(append(args, filepath.Join(bin, "pflow-exec")), c.args...)...); o.exit == 0 {
					ended++
				} else {
					killed++
				}
				check(fmt.Sprintf("%s killed at %s %d", name, call, step))
			}
		}
	}
	if killed < 60 {
		t.Errorf("only %d processes were killed", killed)
	}
	if left, _ := filepath.Glob(index + "?*"); len(left) > 1 {
		t.Errorf("files are left: %q", left)
	}
}

// TestListsWhileRunsEnd: lists that read, build and lose the index while runs end name each of those, and all agree at the end.
func TestListsWhileRunsEnd(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("it", `{"nodes":[{"id":"a","type":"echo","params":{"message":"x"}}]}`)
	runs := 60
	if testing.Short() {
		runs = 20
	}
	index := filepath.Join(p.home, "runs", ".index")
	ended := make(chan []string, 1) // the ids of the runs that have ended
	ended <- nil
	seats := make(chan bool, 8)
	for range runs {
		seats <- true
		go func() {
			defer func() { <-seats }()
			id := gjson.Get(p.run("pflow-exec", "run", "it", "--format", "json").stdout, "run_id").Str
			known := append(slices.Clone(<-ended), id)
			ended <- known
			if len(known)%7 == 0 {
				_ = os.Remove(index)
			}
			list := p.run("pflow-exec", "list").stdout
			for _, id := range known {
				if id == "" || !strings.Contains(list, `{"run_id":"`+id+`","workflow":"it","status":"completed"`) {
					t.Errorf("the list does not have %q", id)
				}
			}
		}()
	}
	for range cap(seats) {
		seats <- true
	}
	with := p.must("pflow-exec", "list")
	if _ = os.Remove(index); p.must("pflow-exec", "list") != with || strings.Count(with, "\n") != runs {
		t.Errorf("%d runs are listed: %s", strings.Count(with, "\n"), with)
	}
}

// TestListFilters: the options of list, for runs that are in the index and for others.
func TestListFilters(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("greet", `{"description":"Greet a person","inputs":{"who":{"type":"string"},"n":{"type":"integer","default":1},"key":{"type":"string","secret":true,"default":"hunter2hunter2"}},"nodes":[{"id":"a","type":"shell","params":{"command":"test \"${who}\" != Bob || { echo no bobs >&2; exit 1; }"}}]}`)
	for _, who := range []string{"Ada", "Bob", "Eve"} {
		p.run("pflow-exec", "run", "greet", "who="+who)
	}
	var all []string
	for _, r := range p.events(p.must("pflow-exec", "list")) {
		all = append(all, r["run_id"].(string))
	}
	eve, bob, ada := all[0], all[1], all[2]
	started := p.events(p.must("pflow-exec", "list", "--cursor", eve, "--limit", "1"))[0]["started_at"].(string) // of Bob
	for range 2 {
		for args, want := range map[string][]string{
			"--input who=Bob": {bob}, "--input who=Bob --input n=1": {bob}, "--input who=Bob --input n=2": {}, "--input who=bob": {},
			"--text greet": all, "--text PERSON": all, "--text nothing": {}, "--text bobs": {bob},
			"--since 1h": all, "--until 1h": {}, "--since " + started: {eve, bob}, "--until " + started: {bob, ada}, "--since 2020-01-01T00:00:00+01:00": all, "--since 7d": all,
			"--cursor " + eve: {bob, ada}, "--cursor " + bob + " --limit 5": {ada}, "--limit 1 --cursor " + eve: {bob}, "--cursor " + ada: {},
			"--cursor r7zzzzzzzzzzzzzzzzzzzzzzzzz": all, "--status failed --workflow greet --input who=Bob --text greet --since 1h --limit 1": {bob},
		} {
			got := []string{}
			for _, r := range p.events(p.must("pflow-exec", append([]string{"list"}, strings.Fields(args)...)...)) {
				got = append(got, r["run_id"].(string))
			}
			if !slices.Equal(got, want) {
				t.Errorf("list %s: %q, want %q", args, got, want)
			}
		}
		o := p.run("pflow-exec", "list", "--input", "key=hunter2hunter2")
		if o.exit != 0 || o.stdout != "" || strings.Contains(o.stderr, "hunter2") || !strings.Contains(o.stderr, "key") {
			t.Errorf("a secret input: %s", o)
		}
		if err := os.Remove(filepath.Join(p.home, "runs", ".index")); err != nil {
			t.Fatal(err)
		}
	}
	if index := p.read("home/runs/.index"); strings.Contains(index, "hunter2") {
		t.Errorf("a secret is in the index: %s", index)
	}
	for _, args := range []string{"--since yesterday", "--until 2020-13-01T00:00:00Z", "--input who", "--input =x", "--input who=a --input who=b", "--cursor last", "--cursor ../x"} {
		if o := p.run("pflow-exec", append([]string{"list"}, strings.Fields(args)...)...); o.exit != 2 || gjson.Get(o.stdout, "error.type").Str != "usage_error" {
			t.Errorf("list %s: %s", args, o)
		}
	}
}
