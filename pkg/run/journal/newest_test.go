package journal

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/home"
)

// beginAt records a run that begins at a time and returns its id.
func beginAt(t *testing.T, h *home.Home, now time.Time, events ...*event.Event) string {
	t.Helper()
	r, err := Create(h, Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	add(t, r, events...)
	return r.ID
}

// Ids sort in the order in which the runs began, whatever the clock does.
func TestIDsSortThoughTheClockGoesBack(t *testing.T) {
	h := tempHome(t)
	now := time.Now()
	var begun []string
	for _, offset := range []time.Duration{0, 0, -time.Hour, -400 * day, time.Millisecond, time.Hour, time.Minute, -now.Sub(time.Unix(0, 0)) - day} {
		begun = append(begun, beginAt(t, h, now.Add(offset), &event.Event{Event: event.RunStarted}))
	}
	if !slices.IsSorted(begun) || len(slices.Compact(slices.Clone(begun))) != len(begun) {
		t.Errorf("%q", begun)
	}
	last := begun[len(begun)-1]
	if got := find(t, h, "last").ID; got != last {
		t.Errorf("the last is %s, want %s", got, last)
	}
	if began := find(t, h, begun[5]).Began(); !began.Equal(now.Add(time.Hour).Truncate(time.Millisecond)) {
		t.Errorf("a clock that goes forward counts: %s", began)
	}
	if done := collect(t, h, Limits{OlderThan: -1, Keep: 1}, now); len(done.Removed) != len(begun)-1 || !slices.Equal(ids(t, h), []string{last}) {
		t.Errorf("%+v", done)
	}
}

// Without the file of the newest run, or with a damaged one, the runs themselves say which is the newest.
func TestTheNewestRunIsFoundAgain(t *testing.T) {
	h := tempHome(t)
	now := time.Now()
	path := h.Path("runs", newestFile)
	newest := beginAt(t, h, now.Add(day), &event.Event{Event: event.RunStarted})
	next := func(how string) {
		t.Helper()
		id := beginAt(t, h, now, &event.Event{Event: event.RunStarted})
		if id <= newest {
			t.Errorf("%s: %s is not after %s", how, id, newest)
		}
		newest = id
		if b, err := os.ReadFile(path); err != nil || string(b) != id+"\n" {
			t.Errorf("%s: %q %v", how, b, err)
		}
	}
	next("as it is")
	for how, content := range map[string]string{
		"empty": "", "torn": newest[:9], "without a newline": newest, "zeros": strings.Repeat("\x00", 28), "long": strings.Repeat("r01\n", 99), "no time": "r" + strings.Repeat("z", 26) + "\n",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		next(how)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	next("missing")
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	// With the file no directory is read: a newer one that somebody has put there does not count.
	if _, err := h.Make("runs", "r7zzzzzzzz"+strings.Repeat("0", 17)); err != nil {
		t.Fatal(err)
	}
	if id := beginAt(t, h, now, &event.Event{Event: event.RunStarted}); id[:2] == "r7" {
		t.Errorf("%s", id)
	}
	// After the last time that an id can have there is no later one, but there are runs.
	if err := os.WriteFile(path, []byte("r7zzzzzzzzz"+strings.Repeat("0", 16)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	beginAt(t, h, now, &event.Event{Event: event.RunStarted})
}

// Runs of several processes have different ids, each after all that were made before it.
func TestManyProcessesMakeIDs(t *testing.T) {
	h := tempHome(t)
	if _, err := h.Make("runs"); err != nil {
		t.Fatal(err)
	}
	var begun sync.WaitGroup
	for range 4 {
		begun.Go(func() {
			last := ""
			for range 50 {
				id, err := newID(h.Path("runs"), time.Unix(1000, 0))
				if err != nil || id <= last {
					t.Errorf("%s after %s: %v", id, last, err)
				}
				last = id
			}
		})
		begun.Go(func() { startElsewhere(t, h).tell(t, "die") })
	}
	begun.Wait()
	times := map[uint64]bool{}
	for _, id := range ids(t, h) {
		ms, ok := idTime(id)
		if !ok || times[ms] {
			t.Errorf("%s has the time of another", id)
		}
		times[ms] = true
	}
	if len(times) != 4 {
		t.Errorf("%d runs", len(times))
	}
}

// A run of a time to come is as old as its last event.
func TestCollectKnowsTheAgeThoughTheClockWentBack(t *testing.T) {
	h := tempHome(t)
	now := time.Now()
	ahead := beginAt(t, h, now.Add(1000*day), &event.Event{Event: event.RunStarted})
	old := beginAt(t, h, now.Add(-9*day), begun, finished)
	young := beginAt(t, h, now, begun, finished)
	done := collect(t, h, Limits{OlderThan: 3 * day, Keep: -1}, now)
	if !slices.Equal(done.Removed, []string{old}) || !slices.Equal(ids(t, h), []string{young, ahead}) {
		t.Errorf("%+v, left %q", done, ids(t, h))
	}
}

// Whatever kills a process, every run that others see has its first event.
func TestARunIsSeenFromItsFirstEvent(t *testing.T) {
	h := tempHome(t)
	begins := 0
	r, err := Create(h, Options{Begun: func(id string) error {
		begins++
		first, last, err := find(t, h, id).FirstAndLast()
		if err != nil || first == nil || first.Event != event.RunStarted || last.Seq != 1 {
			t.Errorf("%+v %v", first, err)
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.PutBlob([]byte("long")); err != nil { // the first event may refer to one
		t.Fatal(err)
	}
	if seen := ids(t, h); len(seen) > 0 {
		t.Errorf("seen: %q", seen)
	}
	add(t, r, begun, finished)
	if seen := ids(t, h); !slices.Equal(seen, []string{r.ID}) || begins != 1 {
		t.Errorf("seen: %q, begun %d times", seen, begins)
	}
	if b, err := find(t, h, r.ID).Blob(event.Digest([]byte("long"))); err != nil || string(b) != "long" {
		t.Errorf("%q %v", b, err)
	}
}

// Of a run that does not begin nothing is left.
func TestARunThatDoesNotBeginDisappears(t *testing.T) {
	h := tempHome(t)
	why := errors.New("nobody waits for it")
	r, err := Create(h, Options{Sync: true, Begun: func(string) error { return why }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Append(begun); !errors.Is(err, why) || len(ids(t, h)) > 0 {
		t.Errorf("%v", err)
	}
	if !r.Remove() {
		t.Error("it is not removed")
	}
	entries, err := os.ReadDir(h.Path("runs"))
	if err != nil || slices.ContainsFunc(entries, fs.DirEntry.IsDir) {
		t.Errorf("%v %v", entries, err)
	}
}

// The next run removes what a killed process left of the run before it, and nothing of a live one.
func TestANewRunRemovesADeadOneBeforeIt(t *testing.T) {
	h := tempHome(t)
	dead := exec.Command("true") // a process id that no process has
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		pid  int
		held bool
		left bool
	}{
		"killed":                       {pid: dead.Process.Pid},
		"killed, but a child holds it": {pid: dead.Process.Pid, held: true, left: true},
		"not locked yet":               {pid: os.Getpid(), left: true},
		"no process yet":               {left: true},
	} {
		runs, err := h.Make("runs")
		if err != nil {
			t.Fatal(err)
		}
		id, err := newID(runs, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(runs, newPrefix+id)
		if c.pid > 0 {
			if err := os.WriteFile(filepath.Join(dir, lockFile), []byte(strconv.Itoa(c.pid)+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		lock := flock.New(filepath.Join(dir, lockFile))
		if c.held {
			if ok, err := lock.TryLock(); !ok {
				t.Fatal(err)
			}
		}
		beginAt(t, h, time.Now(), &event.Event{Event: event.RunStarted})
		if left := exists(dir); left != c.left {
			t.Errorf("%s: left %t, want %t", name, left, c.left)
		}
		_ = lock.Close()
	}
}
