package journal

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

const day = 24 * time.Hour

// past records a run that no process executes, with an id as if it had begun that long ago.
func past(t *testing.T, h *home.Home, ago time.Duration, events ...*event.Event) string {
	t.Helper()
	r := create(t, h)
	add(t, r, events...)
	r.Close()
	id := "r" + strings.ToLower(ulid.MustNew(ulid.Timestamp(time.Now().Add(-ago)), rand.Reader).String())
	if err := os.Rename(r.Dir(), h.Path("runs", id)); err != nil {
		t.Fatal(err)
	}
	return id
}

func collect(t *testing.T, h *home.Home, c Limits, now time.Time) *Collected {
	t.Helper()
	done, err := Collect(h, c, now)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// ids returns the ids of all runs.
func ids(t *testing.T, h *home.Home) []string {
	t.Helper()
	all, err := List(h)
	if err != nil {
		t.Fatal(err)
	}
	list := []string{}
	for _, r := range all {
		list = append(list, r.ID)
	}
	return list
}

var (
	begun    = &event.Event{Event: event.RunStarted}
	finished = &event.Event{Event: event.RunFinished, Status: event.Completed}
)

func TestCollectRemovesWhatIsOldOrTooMuch(t *testing.T) {
	const none = time.Duration(-1)
	for name, c := range map[string]struct {
		age  time.Duration
		keep int
		in   time.Duration // after now
		want string        // those that are left
	}{
		"nothing is asked":             {none, -1, 400 * day, "long short cut bare"},
		"all are young":                {3 * day, -1, 0, "long short cut"}, // bare began 9 days ago and has no event that tells of a later time
		"the end counts":               {30 * time.Minute, -1, 0, "long short cut"},
		"all are old":                  {3 * day, -1, 4 * day, ""},
		"whatever has ended":           {0, -1, 0, ""},
		"the newest":                   {none, 2, 0, "short cut"},
		"none":                         {none, 0, 0, ""},
		"more than there are":          {none, 9, 0, "long short cut bare"},
		"old ones beyond the newest":   {3 * day, 3, 0, "long short cut"},
		"the newest, if not too old":   {3 * day, 3, 4 * day, ""},
		"the newest, and young enough": {8 * day, 1, 0, "short"},
	} {
		t.Run(name, func(t *testing.T) {
			h := tempHome(t)
			runs := map[string]string{
				"bare":  past(t, h, 9*day),
				"long":  past(t, h, 8*day, begun, finished), // it took a week and ended just now
				"cut":   past(t, h, 2*time.Hour, begun),
				"short": past(t, h, time.Hour, begun, finished),
			}
			left, gone := []string{}, []string{}
			for name, id := range runs {
				if slices.Contains(strings.Fields(c.want), name) {
					left = append(left, id)
				} else {
					gone = append(gone, id)
				}
			}
			slices.Sort(left)
			slices.Sort(gone)
			slices.Reverse(left)
			slices.Reverse(gone)
			before := ids(t, h)
			now := time.Now().Add(c.in)
			planned := collect(t, h, Limits{OlderThan: c.age, Keep: c.keep, DryRun: true}, now)
			if !slices.Equal(ids(t, h), before) {
				t.Error("a dry run removed something")
			}
			done := collect(t, h, Limits{OlderThan: c.age, Keep: c.keep}, now)
			for what, got := range map[string]*Collected{"planned": planned, "done": done} {
				if !slices.Equal(got.Removed, gone) || got.Kept != len(left) || got.Bytes != planned.Bytes || (got.Bytes > 0) != (len(gone) > 0) {
					t.Errorf("%s: %+v, want %q to go and %d to stay", what, got, gone, len(left))
				}
			}
			if got := ids(t, h); !slices.Equal(got, left) {
				t.Errorf("left are %q, want %q", got, left)
			}
			if left, err := filepath.Glob(h.Path("runs", ".*")); err != nil || !slices.Equal(left, []string{h.Path("runs", newestFile)}) {
				t.Errorf("%v %v", left, err)
			}
		})
	}
}

// A run that a process executes or resumes stays, whatever the limits are.
func TestCollectLeavesWhatIsHeld(t *testing.T) {
	h := tempHome(t)
	resumed := past(t, h, 40*day, begun)
	release, err := find(t, h, resumed).Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	live := startElsewhere(t, h)
	all := Limits{OlderThan: 0, Keep: 0}
	if done := collect(t, h, all, time.Now().Add(400*day)); len(done.Removed) != 0 || done.Kept != 2 {
		t.Errorf("%+v", done)
	}
	live.tell(t, "die")
	_ = live.Wait()
	release()
	if done := collect(t, h, all, time.Now()); !slices.Equal(done.Removed, []string{live.rec.ID, resumed}) || done.Kept != 0 {
		t.Errorf("%+v", done)
	}
}

// A long value that a later run has taken over stays when the run that it comes from is removed.
func TestCollectLeavesALaterRunItsValues(t *testing.T) {
	h := tempHome(t)
	first := create(t, h)
	second, err := Create(h, Options{ResumedFrom: first.ID})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	name, err := first.PutBlob([]byte("long"))
	if err != nil {
		t.Fatal(err)
	}
	if found, err := second.Adopt(event.Reference{Blob: name, Bytes: 4}, find(t, h, first.ID)); !found || err != nil {
		t.Fatal(found, err)
	}
	add(t, second, begun)
	if err := second.MarkSuperseded(find(t, h, first.ID)); err != nil {
		t.Fatal(err)
	}
	first.Close()
	if done := collect(t, h, Limits{Keep: 0, OlderThan: -1}, time.Now()); !slices.Equal(done.Removed, []string{first.ID}) {
		t.Errorf("%+v", done)
	}
	rec := find(t, h, second.ID)
	if content, err := rec.Blob(name); err != nil || string(content) != "long" {
		t.Errorf("%q %v", content, err)
	}
	if rec.ResumePoint().ID != second.ID {
		t.Errorf("the newest is %s", rec.ResumePoint().ID)
	}
}

func TestCollectRemovesWhatWasLeftHalfMade(t *testing.T) {
	h := tempHome(t)
	now := time.Now()
	id, young := "r"+strings.Repeat("0", 26), "r"+strings.Repeat("1", 26)
	for name, age := range map[string]time.Duration{".new-" + young: 59 * time.Minute, ".new-" + id: 61 * time.Minute, ".gone-" + id: 0, "other": 400 * day} {
		dir, err := h.Make("runs", name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "f"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	for _, dry := range []bool{true, false} {
		done := collect(t, h, Limits{OlderThan: 0, Keep: 0, DryRun: dry}, now)
		want := []string{".new-" + young, "other"}
		if dry {
			want = []string{".gone-" + id, ".new-" + id, ".new-" + young, "other"}
		}
		entries, err := os.ReadDir(h.Path("runs"))
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, e := range entries {
			got = append(got, e.Name())
		}
		if !slices.Equal(got, want) || len(done.Removed) != 0 || done.Kept != 0 {
			t.Errorf("left are %q, want %q; %+v", got, want, done)
		}
	}
}

// A run that is removed after it was found does not exist: its files are not what a reader misses.
func TestReadARunThatIsRemovedMeanwhile(t *testing.T) {
	h := tempHome(t)
	r, err := Find(h, past(t, h, 40*day, begun, finished))
	if err != nil {
		t.Fatal(err)
	}
	collect(t, h, Limits{OlderThan: DefaultAge}, time.Now())
	for what, read := range map[string]func() error{
		"open":       func() error { _, err := r.Open(); return err },
		"status":     func() error { _, _, err := r.Status(); return err },
		"follow":     func() error { return r.Follow(t.Context(), func([]byte) error { return nil }) },
		"definition": func() error { _, err := r.Definition(); return err },
	} {
		if f, ok := errors.AsType[*fault.Fault](read()); !ok || f.Type != fault.NotFound {
			t.Errorf("%s: %v", what, f)
		}
	}
}

func TestCollectInAHomeWithoutRuns(t *testing.T) {
	h := tempHome(t)
	if done := collect(t, h, Limits{OlderThan: DefaultAge, Keep: DefaultKeep}, time.Now()); len(done.Removed) != 0 || done.Kept != 0 || exists(h.Dir()) {
		t.Errorf("%+v", done)
	}
}

func TestCollectionIsDueOnceADay(t *testing.T) {
	h := tempHome(t)
	create(t, h)
	now := time.Now()
	for i, c := range []struct {
		after time.Duration
		want  bool
	}{{0, false}, {23 * time.Hour, false}, {25 * time.Hour, true}, {26 * time.Hour, false}, {50 * time.Hour, true}} {
		if got := CollectionDue(h, now.Add(c.after)); got != c.want {
			t.Errorf("%d: after %s it is due: %v", i, c.after, got)
		}
	}
	if err := os.RemoveAll(h.Path("runs")); err != nil {
		t.Fatal(err)
	}
	if CollectionDue(h, now.Add(400*day)) {
		t.Error("it is due where nothing can be noted")
	}
}
