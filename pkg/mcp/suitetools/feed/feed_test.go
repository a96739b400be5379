package feed

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/internal/fakeprograms"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// suiteOf returns the suite of a folder of programs.
func suiteOf(f *fakeprograms.Folder) *suite.Programs {
	return &suite.Programs{Dir: f.Dir, Env: f.Env(), Version: "1.0", Log: slog.New(slog.DiscardHandler)}
}

// watchLines makes pflow-exec watch print the lines of a file, and wait.
const watchLines = `cat "$DIR/lines"; [ -e "$DIR/once" ] || { touch "$DIR/once"; exit 1; }; exec sleep 60`

// follows follows a run and returns the events as text.
func follows(t *testing.T, r *Feed, e *Expected, run string) string {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var seen []string
	r.Follow(ctx, e, run, func(event Event) { seen = append(seen, event.Kind+" "+event.Node) })
	if ctx.Err() != nil {
		t.Errorf("the run %s has no end: %q", run, seen)
	}
	return strings.Join(seen, "|")
}

// TestRunsAreFollowed holds that followers see the events of their runs once, also after the command was started again, and go on with
// the run that continues theirs.
func TestRunsAreFollowed(t *testing.T) {
	f := fakeprograms.New(t)
	f.Program("pflow-exec", watchLines)
	lines := `{"v":1,"seq":1,"event":"run_started","run":"r2","nodes":["a"]}
{"v":1,"seq":1,"event":"run_started","run":"r3","nodes":["a"]}
{"v":1,"seq":2,"event":"node_started","run":"r2","node":"a","type":"shell"}
{"v":1,"seq":2,"event":"run_finished","run":"r3","status":"paused"}
{"v":1,"seq":3,"event":"node_completed","run":"r2","node":"a"}
{"v":1,"seq":1,"event":"run_started","run":"r4","resumed_from":"r3"}
{"v":1,"seq":2,"event":"run_finished","run":"r4","status":"completed"}
`
	if err := os.WriteFile(filepath.Join(f.Dir, "lines"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	r := New(t.Context(), suiteOf(f))
	var all sync.WaitGroup
	for run, want := range map[string]string{
		"r2": "run_started |node_started a|node_completed a|run_finished ", "r3": "run_started |run_finished |run_started |run_finished ",
	} {
		all.Go(func() {
			if got := follows(t, r, r.Expect(), run); got != want {
				t.Errorf("%s: %s", run, got)
			}
		})
	}
	// The second time that the command is started, r2 has ended.
	for deadline := time.Now().Add(20 * time.Second); len(f.Calls()) < 2; <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the command is not started again")
		}
	}
	r.pass(parse([]byte(`{"v":1,"seq":4,"event":"run_finished","run":"r2","status":"completed"}`)))
	all.Wait()
	r.Close()
	if len(r.followers) != 0 || r.pending != 0 || len(r.kept) != 0 {
		t.Errorf("left over: %v %d %v", r.followers, r.pending, r.kept)
	}
}

// TestEventsAreKeptForACallThatStartsARun holds that a run whose events come before its id is known is followed from its beginning, and
// that nothing is kept when no call is pending.
func TestEventsAreKeptForACallThatStartsARun(t *testing.T) {
	f := fakeprograms.New(t)
	f.Program("pflow-exec", "exec sleep 60")
	r := New(t.Context(), suiteOf(f))
	defer r.Close()
	begun := []byte(`{"v":1,"seq":1,"event":"run_started","run":"r7","nodes":["a"]}`)
	r.pass(parse(begun))
	if len(r.kept) != 0 {
		t.Errorf("kept without need: %v", r.kept)
	}
	e := r.Expect()
	r.pass(parse(begun))
	r.pass(parse([]byte(`{"v":1,"event":"run_interrupted","run":"r7"}`)))
	if got := follows(t, r, e, "r7"); got != "run_started |run_interrupted " {
		t.Errorf("%s", got)
	}
	if len(r.kept) != 0 {
		t.Errorf("still kept: %v", r.kept)
	}
}

// TestSlowFollowerHoldsUpNoOther holds that events wait for a follower that does not take them, up to a limit, and its end is not lost.
func TestSlowFollowerHoldsUpNoOther(t *testing.T) {
	f := &follower{run: "r1", more: make(chan struct{}, 1)}
	for i := range 2 * maxWaiting {
		f.add(Event{Seq: int64(i + 1), Kind: "node_started", Run: "r1"})
	}
	f.add(Event{Seq: 3 * maxWaiting, Kind: "run_finished", Run: "r1", Status: "completed"})
	taken := f.take()
	if len(taken) != maxWaiting+1 || !ends(taken[maxWaiting]) {
		t.Errorf("%d events", len(taken))
	}
}
