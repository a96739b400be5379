package suite

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// makefile copies testdata/make into a new place.
func makefile(t *testing.T) *place {
	t.Helper()
	needs(t, "make")
	p := newPlace(t)
	if err := os.CopyFS(p.dir, os.DirFS(filepath.Join("testdata", "make"))); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestMakeRunsSinglePrograms(t *testing.T) {
	t.Parallel()
	p := makefile(t)
	p.must("make", "-j4")
	want := "this is north\nthis is south\nthis is east\nthis is west\n" + strconv.Itoa(strings.Count(p.read("Makefile"), "\n")) + "\n"
	if got := p.read("report.txt"); got != want {
		t.Errorf("make built %q, not %q", got, want)
	}
	if got := p.read("checked.txt"); strings.Count(got, `"valid":true`) != 2 {
		t.Errorf("the checks printed %q", got)
	}
	if n := len(p.journals()); n != 5 {
		t.Errorf("%d runs are recorded, not 5", n)
	}
	if again := p.must("make", "-j4"); !strings.Contains(again, "up to date") {
		t.Errorf("nothing has changed, and make says %q", again)
	}
}

func TestMakeFailsWithARun(t *testing.T) {
	t.Parallel()
	p := makefile(t)
	o := p.run("make", "-j4", "BROKEN=east")
	if o.exit != 2 || !strings.Contains(o.stderr, "pflow-exec: error: node try: ") || !strings.Contains(o.stderr, "exit code 7: east is broken") || !strings.Contains(o.stderr, "east.txt] Error 1") {
		t.Errorf("make does not fail as it should: %s", o)
	}
	if p.read("report.txt") != "" || p.read("east.txt") != "" {
		t.Error("something was built of what failed")
	}
	if got := p.must("make", "-j4"); !strings.Contains(got, "side=east") {
		t.Errorf("make does not go on with what failed: %q", got)
	}
}

func TestShowIntoRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("greet", `{"inputs":{"name":{"type":"string"}},"nodes":[{"id":"a","type":"shell","params":{"command":"echo \"hello ${name}\""}}],"outputs":{"text":{"source":"${a.stdout}"}}}`)
	p.must("pflow-lib", "save", "greet", "hello", "--description", "Greet")
	if o := p.run("sh", "-c", "pflow-lib show hello | pflow-exec run - name=you --print text"); o.stdout != "hello you\n" || o.stderr != "" {
		t.Error(o)
	}
}

// Nodes are printed when they finish: jq receives the first node's event while the second waits.
func TestNodesArePrintedAsTheyFinish(t *testing.T) {
	t.Parallel()
	needs(t, "jq")
	p := newPlace(t)
	gate := p.gate("gate")
	p.write("w.json", gated())
	cmd := p.command("sh", "-c", `pflow-exec run w.json | jq --unbuffered -r 'select(.event=="node_completed").node'`)
	names, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := bufio.NewReader(names)
	if first, err := read.ReadString('\n'); first != "a\n" || err != nil {
		t.Errorf("the first node is %q, %v", first, err)
	}
	gate.reached()()
	var rest bytes.Buffer
	_, _ = read.WriteTo(&rest)
	if err := cmd.Wait(); err != nil || rest.String() != "b\nc\n" || stderr.Len() > 0 {
		t.Errorf("%v, then %q, and on standard error %q", err, rest.String(), stderr.String())
	}
}

// killed runs the gated workflow w.json with its events in run.ndjson, and kills the runner while the second node waits.
func killed(t *testing.T) (*place, *gate) {
	t.Helper()
	p := newPlace(t)
	g := p.gate("gate")
	p.write("w.json", gated())
	events, err := os.Create(filepath.Join(p.dir, "run.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := p.command("pflow-exec", "run", "w.json")
	cmd.Stdout = events
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = events.Close()
	p.eventually("the second node has its event and runs", func() bool {
		return strings.Count(p.read("run.ndjson"), `"event":"node_started"`) == 2 && p.read("ran.txt") == "a\nb\n"
	})
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return p, g
}

// onlyRun returns the id of the only run.
func (p *place) onlyRun() string {
	if paths := p.journals(); len(paths) == 1 {
		return filepath.Base(filepath.Dir(paths[0]))
	}
	return ""
}

func TestAKilledRunIsResumed(t *testing.T) {
	t.Parallel()
	// Each function returns the arguments of the resume, and its standard input.
	for name, resume := range map[string]func(p *place) (args []string, stdin string){
		"from its events": func(*place) ([]string, string) { return []string{"run", "w.json", "--resume", "run.ndjson"}, "" },
		"from a prefix": func(p *place) ([]string, string) {
			whole := strings.SplitAfter(p.read("run.ndjson"), "\n")
			p.write("prefix.ndjson", strings.Join(whole[:1], ""))
			return []string{"run", "w.json", "--resume", "prefix.ndjson"}, ""
		},
		"from events with a torn last line": func(p *place) ([]string, string) {
			p.write("torn.ndjson", p.read("run.ndjson")+`{"v":1,"seq":9,"event":"node_com`)
			return []string{"run", "w.json", "--resume", "torn.ndjson"}, ""
		},
		"from standard input": func(p *place) ([]string, string) {
			return []string{"run", "w.json", "--resume", "-"}, p.read("run.ndjson")
		},
		"by its id": func(p *place) ([]string, string) {
			return []string{"run", "w.json", "--resume", p.onlyRun()}, ""
		},
		"by resume": func(p *place) ([]string, string) { return []string{"resume", p.onlyRun()[:12]}, "" },
		"by resume, its journal's last line torn": func(p *place) ([]string, string) {
			p.write("home/runs/"+p.onlyRun()+"/journal.ndjson", p.read("run.ndjson")+`{"v":1,"seq":9,"event":"node_com`)
			return []string{"resume", "last"}, ""
		},
		"from events of another home": func(p *place) ([]string, string) {
			if err := os.RemoveAll(filepath.Join(p.home, "runs")); err != nil {
				t.Error(err)
			}
			return []string{"run", "w.json", "--resume", "run.ndjson"}, ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, g := killed(t)
			args, stdin := resume(p)
			p.eventually("nothing of the run is left", func() bool { return len(processes("PFLOW_HOME="+p.home)) == 0 })
			cmd := p.command("pflow-exec", args...)
			cmd.Stdin = strings.NewReader(stdin)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			g.reached()()
			if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
				t.Fatalf("%v: %s", err, stderr.String())
			}
			if got := p.read("ran.txt"); got != "a\nb\nb\nc\n" {
				t.Errorf("the nodes ran %q", strings.Fields(got))
			}
			var got []string
			for _, e := range p.events(stdout.String()) {
				if node, _ := e["node"].(string); e["event"] != "node_started" && node != "" {
					got = append(got, e["event"].(string)+" "+node)
				}
			}
			if want := []string{"node_reused a", "node_completed b", "node_completed c"}; !slices.Equal(got, want) {
				t.Errorf("the events are %q, not %q", got, want)
			}
			if last := p.last(stdout.String()); last["status"] != "completed" || last["outputs"].(map[string]any)["last"] != "third" {
				t.Errorf("it ends with %v", last)
			}
		})
	}
}

// SIGKILL of a runner ends its children, but not theirs. The next resume ends those.
func TestWhatAKilledRunnerLeftIsEnded(t *testing.T) {
	t.Parallel()
	needsLinux(t, "processes are found in /proc")
	p := newPlace(t)
	g := p.gate("gate")
	p.write("w.json", chain("echo a >> ran.txt; cat gate; echo done"))
	cmd := p.command("pflow-exec", "run", "w.json")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = g.reached()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	left := processes("PFLOW_HOME=" + p.home)
	again := p.command("pflow-exec", "resume", "last")
	if err := again.Start(); err != nil {
		t.Fatal(err)
	}
	p.eventually("the node runs again", func() bool { return p.read("ran.txt") == "a\na\n" })
	for pid, command := range processes("PFLOW_HOME=" + p.home) {
		if left[pid] != "" {
			t.Errorf("the node runs again while process %d of the run before is left: %s", pid, command)
		}
	}
	_ = again.Process.Signal(os.Interrupt)
	_ = again.Wait()
}

// Repeated resumes of the same run continue from its latest successor: nothing that has finished in any of them runs again,
// not even when all is done.
func TestResumingTheSameAgainRepeatsNothing(t *testing.T) {
	t.Parallel()
	for name, words := range map[string][]string{
		"by its id":     {"run", "w.json", "--resume", "ID"},
		"by its events": {"run", "w.json", "--resume", "first.ndjson"},
		"as it was":     {"resume", "ID"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("w.json", chain(
				"echo a >> ran.txt", "echo b >> ran.txt; test -e one", "echo c >> ran.txt", "echo d >> ran.txt; test -e two", "echo e >> ran.txt; echo end"))
			first := p.run("pflow-exec", "run", "w.json")
			p.write("first.ndjson", first.stdout)
			id, _ := p.last(first.stdout)["run"].(string)
			words = slices.Clone(words)
			if i := slices.Index(words, "ID"); i >= 0 {
				words[i] = id
			}
			for _, ready := range []string{"one", "two", "three"} {
				p.write(ready, "")
				p.run("pflow-exec", words...)
			}
			last := p.last(p.must("pflow-exec", "run", "w.json", "--resume", id))
			if ran := p.read("ran.txt"); ran != "a\nb\nb\nc\nd\nd\ne\n" || last["status"] != "completed" || last["nodes_executed"] != 0.0 {
				t.Errorf("ran %q, then %v with %v nodes", ran, last["status"], last["nodes_executed"])
			}
		})
	}
}
