package suite

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// checkCancelled checks that the newest run was stopped in order while its second node ran, and that it resumes.
func (p *place) checkCancelled(g *gate) {
	p.Helper()
	var ends []string
	for _, e := range p.events(p.journal()) {
		if node, _ := e["node"].(string); e["event"] != "node_started" {
			ends = append(ends, strings.TrimSpace(e["event"].(string)+" "+node))
		}
	}
	want := []string{"run_started", "node_completed a", "node_cancelled b", "node_cancelled c", "run_finished"}
	if withoutC := slices.Delete(slices.Clone(want), 3, 4); !slices.Equal(ends, want) && !slices.Equal(ends, withoutC) {
		p.Errorf("the journal has %q, not %q", ends, want)
	}
	if last := p.last(p.journal()); last["status"] != "cancelled" {
		p.Errorf("the journal ends with %v", last)
	}
	if left := processes("PFLOW_HOME=" + p.home); len(left) > 0 {
		p.Errorf("processes are left: %v", left)
	}
	again := p.command("pflow-exec", "resume", "last", "--print", "last")
	var stdout, stderr bytes.Buffer
	again.Stdout, again.Stderr = &stdout, &stderr
	if err := again.Start(); err != nil {
		p.Fatal(err)
	}
	g.reached()()
	if err := again.Wait(); err != nil || stdout.String() != "third\n" || stderr.Len() > 0 {
		p.Errorf("resume: %v, %q, %q", err, stdout.String(), stderr.String())
	}
	if got := p.read("ran.txt"); got != "a\nb\nb\nc\n" {
		p.Errorf("the nodes ran %q", strings.Fields(got))
	}
}

func TestASignalEndsARunInOrder(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
		for _, format := range []string{"ndjson", "json", "text"} {
			t.Run(sig.String()+" "+format, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t)
				g := p.gate("gate")
				p.write("w.json", gated())
				cmd := p.command("pflow-exec", "run", "w.json", "--format", format)
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				_ = g.reached()
				_ = cmd.Process.Signal(sig)
				_ = cmd.Wait()
				if status := cmd.ProcessState.ExitCode(); status != 128+int(sig) {
					t.Errorf("exit status %d", status)
				}
				if !strings.Contains(stderr.String(), ": pflow-exec resume ") {
					t.Errorf("no command to resume: %q", stderr.String())
				}
				switch format {
				case "ndjson":
					if stdout.String() != p.journal() {
						t.Errorf("standard output is not the journal: %q", stdout.String())
					}
				case "json":
					if d := p.document(stdout.String()); d["status"] != "cancelled" || d["success"] != false {
						t.Errorf("the answer is %v", d)
					}
				case "text":
					if stdout.Len() > 0 {
						t.Errorf("standard output is %q", stdout.String())
					}
				}
				p.checkCancelled(g)
			})
		}
	}
}

// A signal also ends what a node has started, even in a session of its own.
func TestASignalReachesDescendants(t *testing.T) {
	t.Parallel()
	needsLinux(t, "processes are found in /proc")
	for name, command := range map[string]string{
		"a child":              "cat gate; true",
		"one in a pipeline":    "cat gate | cat | cat",
		"one in background":    "cat gate & cat gate",
		"a group of its own":   "set -m; cat gate & wait",
		"a session of its own": "setsid cat gate & wait",
		"a daemon":             "(setsid sh -c 'cat gate; true' >/dev/null 2>&1 &) ; cat gate",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(command, "setsid") {
				needs(t, "setsid")
			}
			p := newPlace(t)
			g := p.gate("gate")
			p.write("w.json", chain(command))
			cmd := p.command("pflow-exec", "run", "w.json")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = g.reached()
			p.eventually("all that read the gate do", func() bool {
				n := 0
				for _, c := range processes("PFLOW_HOME=" + p.home) {
					if strings.HasPrefix(c, "cat gate") {
						n++
					}
				}
				return n >= strings.Count(command, "cat gate")
			})
			_ = cmd.Process.Signal(syscall.SIGTERM)
			_ = cmd.Wait()
			if left := processes("PFLOW_HOME=" + p.home); len(left) > 0 {
				t.Errorf("processes are left: %v", left)
			}
		})
	}
}

// The second signal ends a run without waiting for the grace of a node that ignores SIGTERM.
func TestTheSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.write("w.json", chain("echo first", "trap 'echo > heard.txt' TERM; while :; do cat gate; done"))
	cmd := p.command("pflow-exec", "run", "w.json")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = g.reached()
	_ = cmd.Process.Signal(syscall.SIGINT)
	p.eventually("the node has SIGTERM", func() bool { return p.read("heard.txt") != "" })
	_ = cmd.Process.Signal(syscall.SIGINT)
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 130 {
		t.Errorf("exit status %d, want 130", got)
	}
	p.events(p.journal())                           // whole lines
	if got := p.runStatus(); got != "interrupted" { // after the grace it would be cancelled
		t.Errorf("the run is %q, want interrupted", got)
	}
}

// A run ends in order if the reader of its output goes away while the second node waits.
func TestAClosedPipeEndsARunInOrder(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.write("w.json", gated())
	cmd := p.command("sh", "-c", "{ pflow-exec run w.json; echo $? > status.txt; } | { read line; echo \"$line\"; read x < seen; }")
	seen := p.gate("seen")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = g.reached()
	seen.reached()()
	if err := cmd.Wait(); err != nil || strings.Count(stdout.String(), "\n") != 1 || stderr.Len() > 0 {
		t.Errorf("%v, %q, %q", err, stdout.String(), stderr.String())
	}
	p.eventually("the runner has ended", func() bool { return p.read("status.txt") != "" })
	if status := p.read("status.txt"); status != "141\n" {
		t.Errorf("exit status %s", status)
	}
	p.checkCancelled(g)
}

// A run ends in order if head has its line and goes away, at any time.
func TestHead(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.write("w.json", gated())
	o := p.run("sh", "-c", "{ pflow-exec run w.json; echo $? > status.txt; } | head -n 1")
	if e := p.last(o.stdout); e["event"] != "run_started" || o.stderr != "" {
		t.Error(o)
	}
	p.eventually("the runner has ended", func() bool { return p.read("status.txt") != "" })
	if last := p.last(p.journal()); p.read("status.txt") != "141\n" || last["status"] != "cancelled" {
		t.Errorf("exit status %s, and the journal ends with %v", p.read("status.txt"), last)
	}
	again := p.command("pflow-exec", "resume", "last")
	var stdout bytes.Buffer
	again.Stdout = &stdout
	if err := again.Start(); err != nil {
		t.Fatal(err)
	}
	g.reached()()
	if err := again.Wait(); err != nil || p.last(stdout.String())["status"] != "completed" {
		t.Errorf("resume: %v, %s", err, stdout.String())
	}
}

// If nobody reads the output, the exit status shows that and standard error is empty.
func TestAPipeThatNobodyReads(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"pflow-exec run w.json", "pflow-exec run w.json --format ndjson", "pflow-exec events last --follow", "pflow-exec wait last", "pflow-exec resume last",
		"pflow-lib search --format json", "pflow-lib completion bash", "pflow-lib --help",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("w.json", chain("echo first", "echo second"))
			p.must("pflow-exec", "run", "w.json")
			gone, err := closedPipe()
			if err != nil {
				t.Fatal(err)
			}
			args := strings.Fields(command)
			cmd := p.command(args[0], args[1:]...)
			var stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = gone, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = gone.Close()
			_ = cmd.Wait()
			if status := cmd.ProcessState.ExitCode(); status != 141 || stderr.Len() > 0 {
				t.Errorf("exit status %d, standard error %q", status, stderr.String())
			}
			if last := p.last(p.journal()); last["event"] != "run_finished" {
				t.Errorf("the journal ends with %v", last)
			}
			if last := p.last(p.must("pflow-exec", "resume", "last")); last["status"] != "completed" {
				t.Errorf("resume ends with %v", last)
			}
		})
	}
}

// closedPipe returns the write end of a pipe without a reader.
func closedPipe() (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return w, r.Close()
}
