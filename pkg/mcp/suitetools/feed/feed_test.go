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
const watchLines = `cat "$DIR/lines"; [ -e "$DIR/once" ] || { touch "$DIR/once"; exit 1; }; exec sleep 1000`

// patience is the longest time for which a test waits. It bounds tests that hang, not what is slow.
const patience = 5 * time.Minute

// follows follows a run and returns the events as text.
func follows(t *testing.T, r *Feed, e *Expected, run string) string {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
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
{"v":1,"seq":3,"event":"node_progress","run":"r2","node":"a"}
{"v":1,"seq":2,"event":"run_finished","run":"r3","status":"paused"}
{"v":1,"seq":4,"event":"node_completed","run":"r2","node":"a"}
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
		e := r.Expect()
		all.Go(func() {
			if got := follows(t, r, e, run); got != want {
				t.Errorf("%s: %s", run, got)
			}
		})
	}
	// The second time that the command is started, r2 has ended.
	for deadline := time.Now().Add(patience); len(f.Calls()) < 2; <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the command is not started again")
		}
	}
	r.pass(parse([]byte(`{"v":1,"seq":5,"event":"run_finished","run":"r2","status":"completed"}`)))
	all.Wait()
	r.Close()
	if len(r.followers) != 0 || r.pending != 0 || r.held != 0 {
		t.Errorf("left over: %v %d %v", r.followers, r.pending, r.runs)
	}
}

// passAll passes lines on.
func passAll(r *Feed, lines ...string) {
	for _, l := range lines {
		r.pass(parse([]byte(l)))
	}
}

const (
	begun    = `{"v":1,"seq":1,"event":"run_started","run":"r7","workflow":{"name":"w"},"nodes":["a"]}`
	stepped  = `{"v":1,"seq":2,"event":"node_progress","run":"r7","node":"a"}`
	finished = `{"v":1,"seq":3,"event":"run_finished","run":"r7","status":"completed"}`
)

// quiet returns a feed whose command prints nothing.
func quiet(t *testing.T) *Feed {
	f := fakeprograms.New(t)
	f.Program("pflow-exec", "exec sleep 1000")
	r := New(t.Context(), suiteOf(f))
	t.Cleanup(r.Close)
	return r
}

// TestEventsAreHeldForACallThatStartsARun holds that a run whose events come before its id is known is followed from its beginning, and
// that nothing is held when no call is pending.
func TestEventsAreHeldForACallThatStartsARun(t *testing.T) {
	r := quiet(t)
	passAll(r, begun)
	if r.held != 0 {
		t.Errorf("held without need: %v", r.runs)
	}
	passAll(r, finished)
	e := r.Expect()
	passAll(r, begun, stepped, finished)
	if got := follows(t, r, e, "r7"); got != "run_started |run_finished " {
		t.Errorf("%s", got)
	}
	if r.held != 0 || len(r.runs) != 0 {
		t.Errorf("still held: %v", r.runs)
	}
	e, other := r.Expect(), r.Expect()
	passAll(r, begun, finished)
	e.End()
	if len(r.runs) != 1 {
		t.Errorf("while a call is pending, %v is held", r.runs)
	}
	r.now = func() time.Time { return time.Now().Add(2 * keptTime) }
	passAll(r, strings.ReplaceAll(begun, "r7", "r8"))
	if r.runs["r7"] != nil {
		t.Error("a run that has ended is held for long")
	}
	if other.End(); r.held != 0 {
		t.Errorf("still held: %v", r.runs)
	}
}

// TestLiveRunsAreHeldForLaterFollowers holds that whoever begins to follow a live run receives it from its first event, that the
// beginnings and ends of all runs can be followed, and that a run that has ended, or is too long, is not held.
func TestLiveRunsAreHeldForLaterFollowers(t *testing.T) {
	r := quiet(t)
	r.HoldAll()
	all, both := r.AttachAll(nil), r.AttachAll([]string{"r7", "r9"})
	passAll(r, begun, stepped)
	f, known := r.Attach("r7")
	if known != (Known{"w", true, true}) || !r.IsLive("r7") {
		t.Errorf("%+v", known)
	}
	passAll(r, finished)
	if lines, lost := f.Take(); len(lines) != 3 || lost || string(lines[1].JSON) != stepped || !lines[2].Ends() {
		t.Errorf("%d lines, lost: %v", len(lines), lost)
	}
	if lines, _ := all.Take(); len(lines) != 2 || lines[0].Kind != "run_started" || lines[1].Workflow != "w" {
		t.Errorf("of all runs: %+v", lines)
	}
	if lines, _ := both.Take(); len(lines) != 3 || string(lines[1].JSON) != stepped || !lines[2].Ends() {
		t.Errorf("of all runs and one: %+v", lines)
	}
	f.Leave()
	all.Leave()
	if both.Leave(); len(r.followers) != 0 {
		t.Errorf("followers that have left: %v", r.followers)
	}
	if _, known := r.Attach("r7"); known.Live || r.IsLive("r7") || r.held != 0 {
		t.Errorf("after the end: %+v", known)
	}
	passAll(r, begun, `{"v":1,"seq":2,"event":"node_progress","run":"r7","text":"`+strings.Repeat("x", maxHeld)+`"}`)
	if _, known := r.Attach("r7"); known != (Known{"w", true, false}) || r.held != 0 {
		t.Errorf("a long run: %+v, %d bytes held", known, r.held)
	}
}

// TestAFeedThatIsReadAgainMissesNothing holds after which run the events are read again, so that the command brings the rest of all runs that
// are live, followed or about to be known.
func TestAFeedThatIsReadAgainMissesNothing(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	old := firstID(now.Add(-time.Hour))
	r := quiet(t)
	r.now = func() time.Time { return now }
	if got := r.again(); got != firstID(now) {
		t.Errorf("with nothing to follow: %s", got)
	}
	e := r.Expect()
	now = now.Add(time.Second)
	if got := r.again(); got != firstID(now.Add(-time.Second)) {
		t.Errorf("for a pending call: %s", got)
	}
	e.End()
	passAll(r, strings.ReplaceAll(begun, "r7", old))
	if got := r.again(); got >= old {
		t.Errorf("for a live run: %s", got)
	}
	f, _ := r.Attach(old)
	if got := r.again(); got >= old || len(r.runs) != 0 {
		t.Errorf("for a run that is followed: %s", got)
	}
	f.Leave()
}

// TestSlowFollowerHoldsUpNoOther holds that events wait for a follower that does not take them, up to a limit, and its end is not lost.
func TestSlowFollowerHoldsUpNoOther(t *testing.T) {
	f := &Follower{more: make(chan struct{}, 1)}
	long := make([]byte, maxWaiting/8)
	for i := range 20 {
		f.add(Line{Seq: int64(i + 1), Kind: "node_started", Run: "r1", JSON: long})
	}
	f.add(Line{Seq: 30, Kind: "run_finished", Run: "r1"})
	if lines, lost := f.Take(); len(lines) != 9 || !lines[8].Ends() || !lost {
		t.Errorf("%d lines, lost: %v", len(lines), lost)
	}
}
