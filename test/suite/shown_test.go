package suite

import (
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// What follows a live run on a terminal shows what run shows, redrawn in place.
func TestALiveRunIsShownWhileItIsFollowed(t *testing.T) {
	t.Parallel()
	end := []string{"✓ a", "✓ b", "✓ c", "✓ w.json completed in 3 completed RUN"}
	for line, want := range map[string][]string{
		"wait last":            append(slices.Clone(end), "third"),
		"wait last --for 60":   append(slices.Clone(end), "third"),
		"events last --follow": end,
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			g := p.gate("gate")
			p.write("w.json", gated())
			p.must("pflow-exec", "start", "w.json")
			open := g.reached()
			s := p.session(p.command("pflow-exec", strings.Fields(line)...), 90)
			s.show()
			s.shows("▸ b shell")
			open()
			s.ends(0, want...)
			if len(s.term.Faults) > 0 {
				t.Errorf("%q", s.term.Faults)
			}
		})
	}
}

// The answer of a wait that ends before its run comes below what was shown.
func TestAShortWaitOnATerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := p.gate("gate")
	p.write("w.json", gated())
	p.must("pflow-exec", "start", "w.json")
	g.reached()
	s := p.session(p.command("pflow-exec", "wait", "last", "--for", "3"), 90)
	s.show()
	s.ends(0, "✓ a", "The run goes on…")
	s = p.session(p.command("pflow-exec", "wait", "last", "--timeout", "3"), 200)
	s.show()
	s.ends(124, "✓ a", "pflow-exec: error: Run RUN has not ended within ; it goes on", "pflow-exec: hint: Wait for its end: pflow-exec wait RUN")
	s = p.session(p.command("pflow-exec", "events", "last", "--follow"), 90)
	s.show()
	s.shows("▸ b shell")
	id, _ := p.document(p.must("pflow-exec", "status", "last"))["run_id"].(string)
	pid, err := strconv.Atoi(strings.TrimSpace(p.read("home/runs/" + id + "/lock")))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.ends(0, "✓ a", "interrupted")
	p.must("pflow-exec", "gc") // ends what the killed run left
}

// As text, events are the lines that a run without a redrawn display shows.
func TestEventsAsText(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("w", degrading(""))
	p.draft("failing", chain("echo one", "echo oops >&2; exit 3"))
	p.must("pflow-exec", "run", "w", "--quiet")
	for _, args := range [][]string{{"events", "last"}, {"events", "last", "--follow"}} {
		o := p.run("pflow-exec", append(args, "--format", "text")...)
		got := strings.Split(strings.TrimSpace(o.stdout), "\n")
		for i := range got {
			got[i] = squeezed(got[i])
		}
		want := []string{"run RUN of w: 2 nodes", "failed a", "ok b", "degraded in", "degraded: node a failed", "resume with: pflow-exec resume RUN --retry-failed"}
		if o.exit != 0 || o.stderr != "" || !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("%q: %q", args, got)
		}
		if shown := p.onTerminal(call{line: "pflow-exec " + strings.Join(args, " ")}); squeezed(shown.stdout) != squeezed(o.stdout) {
			t.Errorf("on a terminal:\n%s", shown)
		}
	}
	if o := p.run("pflow-exec", "wait", "last", "--format", "text"); !strings.HasPrefix(o.stderr, "degraded: node a failed") {
		t.Error(o)
	}
	p.run("pflow-exec", "run", "failing", "--quiet")
	if o := p.run("pflow-exec", "events", "last", "--format", "text"); o.exit != 0 || !strings.Contains(o.stdout, "\nerror: node b: ") {
		t.Error(o)
	}
	if o := p.run("pflow-exec", "events", "last", "--inline", "--format", "text"); o.exit != 2 || o.stdout != "" {
		t.Error(o)
	}
	p.events(p.onTerminal(call{line: "pflow-exec events last --inline"}).stdout)
}

// Each of several errors of a run is shown once by whatever shows the run.
func TestSeveralErrorsAreShown(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("w", `{"nodes":[{"id":"a","type":"shell","params":{"command":"echo '{\"k\":1}'"}}],"outputs":{"x":{"source":"${a.stdout.x}"},"y":{"source":"${a.stdout.y}"}}}`)
	p.run("pflow-exec", "run", "w", "--quiet")
	for _, line := range []string{"status last", "show last", "events last", "wait last"} {
		o := p.run("pflow-exec", append(strings.Fields(line), "--format", "text")...)
		for _, name := range []string{`Output "x"`, `Output "y"`} {
			if n := strings.Count(o.stdout+o.stderr, name); n != 1 {
				t.Errorf("%s has %s %d times: %s", line, name, n, o)
			}
		}
	}
}

// Of a degraded run the last line says why.
func TestADegradedRunIsFollowed(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("w", degrading(""))
	p.must("pflow-exec", "run", "w", "--quiet")
	s := p.session(p.command("pflow-exec", "events", "last", "--follow"), 200)
	s.show()
	s.ends(0, "✗ a handled…", "✓ b…", "✓ w degraded in…", "retry with: pflow-exec resume RUN --retry-failed", "degraded: node a failed…")
}

// As text, the lines of a watch name their run and its workflow.
func TestAWatchAsText(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.draft("w", chain("echo one"))
	id, _ := p.last(p.must("pflow-exec", "run", "w", "--quiet"))["run"].(string)
	s := p.session(p.command("pflow-exec", "watch", "--since", "r0"), 200)
	s.show()
	s.shows("run RUN of w: 1 node")
	s.eventually("the run has ended", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return strings.Contains(s.sent.String(), id+" w: completed in ")
	})
	s.types("\x03")
	_ = s.cmd.Wait()
	<-s.read
	if exit := s.cmd.ProcessState.ExitCode(); exit != 130 {
		t.Errorf("exit status %d", exit)
	}
	if got := s.sent.String(); !strings.Contains(got, id+" w: ok a ") || strings.Contains(got, `{"`) {
		t.Errorf("%s", got)
	}
}
