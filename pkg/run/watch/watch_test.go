package watch

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

func TestRunsAreFollowed(t *testing.T) {
	t.Parallel()
	each(t, func(f *fixture, way func(w *watcher)) {
		s := f.follow(nil, way) // there is no home yet
		a, b := f.begin(), f.begin()
		f.add(a, event.NodeStarted)
		s.wants(a.ID+" run_started", a.ID+" node_started", b.ID+" run_started")
		f.end(b)
		f.end(a)
		s.wants(a.ID+" run_finished", b.ID+" run_finished")
		c := f.begin()
		f.end(c)
		s.wants(c.ID+" run_started", c.ID+" run_finished")
		for _, id := range []string{a.ID, b.ID, c.ID} {
			s.is(id)
		}
	})
}

func TestWhereAStreamBegins(t *testing.T) {
	t.Parallel()
	each(t, func(f *fixture, way func(w *watcher)) {
		old, live, killed, last := f.begin(), f.begin(), f.begin(), f.begin()
		f.end(old)
		killed.Close()
		f.end(last)
		text := func(s string) *string { return &s }
		liveLines := []string{live.ID + " run_started"}
		killedLines := []string{killed.ID + " run_started", killed.ID + " run_interrupted"}
		lastLines := []string{last.ID + " run_started", last.ID + " run_finished"}
		oldLines := []string{old.ID + " run_started", old.ID + " run_finished"}
		for name, c := range map[string]struct {
			since *string
			want  []string
		}{
			"only live runs":             {nil, liveLines},
			"newer than all":             {text("s"), liveLines},
			"newer than the last":        {text("last"), liveLines},
			"newer than one":             {text(old.ID), slices.Concat(liveLines, killedLines, lastLines)},
			"newer than what is missing": {text(old.ID + "x"), slices.Concat(liveLines, killedLines, lastLines)},
			"newer than a live one":      {text(live.ID), slices.Concat(liveLines, killedLines, lastLines)},
			"in upper case":              {text(strings.ToUpper(killed.ID)), slices.Concat(liveLines, lastLines)},
			"all":                        {text(""), slices.Concat(oldLines, liveLines, killedLines, lastLines)},
		} {
			f.Run(name, func(t *testing.T) {
				inner := &fixture{t, f.home}
				s := inner.follow(c.since, way)
				s.wants(c.want...)
				marker := inner.begin() // nothing else comes
				s.wants(marker.ID + " run_started")
				inner.end(marker)
				s.wants(marker.ID + " run_finished")
				for _, path := range []string{marker.ID} {
					if err := os.RemoveAll(filepath.Join(journal.Dir(f.home), path)); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	})
}

func TestAKilledRunIsReported(t *testing.T) {
	t.Parallel()
	each(t, func(f *fixture, way func(w *watcher)) {
		s := f.follow(nil, way)
		killed, torn := f.begin(), f.begin()
		s.wants(killed.ID+" run_started", torn.ID+" run_started")
		file, err := os.OpenFile(journal.At(f.home, torn.ID).Path(), os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = file.WriteString(`{"v":1,"seq":2,"event":"run_finished","ru`)
		}
		if err = errors.Join(err, file.Close()); err != nil {
			f.Fatal(err)
		}
		killed.Close()
		torn.Close()
		s.wants(killed.ID+" run_interrupted", torn.ID+" run_interrupted")
		s.is(killed.ID)
		for _, line := range s.got[2:] {
			if gjson.Get(line, "v").Int() != 1 || gjson.Get(line, "seq").Exists() || !gjson.Get(line, "time").Exists() {
				f.Errorf("got %s", line)
			}
		}
	})
}

// A consumer that has seen the end of a run goes on after it. So that end must not come before the beginning of an older run.
func TestOlderRunsBeginFirst(t *testing.T) {
	t.Parallel()
	each(t, func(f *fixture, way func(w *watcher)) {
		s := f.follow(nil, way)
		slow := f.create()
		fast := f.begin()
		f.end(fast)
		s.wants(fast.ID + " run_started")
		select {
		case line := <-s.lines:
			f.Fatalf("the end of the newer run comes first: %s", line)
		case <-time.After(2 * lockPeriod): // it must not come, however often the runs are looked at
		}
		f.add(slow, event.RunStarted)
		f.end(slow)
		if first := s.next(); first != slow.ID+" run_started" {
			f.Errorf("got %s", first)
		}
		s.wants(slow.ID+" run_finished", fast.ID+" run_finished")
		given := f.create()
		next := f.begin()
		f.end(next)
		given.Close()
		if !given.Remove() { // it never begins
			f.Fatal("it was not removed")
		}
		s.wants(next.ID+" run_started", next.ID+" run_finished")
	})
}

// A line of the backlog does not come before older runs have begun either.
func TestTheBacklogComesFirst(t *testing.T) {
	t.Parallel()
	each(t, func(f *fixture, way func(w *watcher)) {
		var ids []string
		for range 5 {
			w := f.begin()
			f.add(w, event.NodeStarted)
			f.end(w)
			ids = append(ids, w.ID)
		}
		none := ""
		s := f.follow(&none, way)
		var begun []string
		for range 3 * len(ids) {
			id, kind, _ := strings.Cut(s.next(), " ")
			switch kind {
			case "run_started":
				begun = append(begun, id)
			case "run_finished":
				if !slices.Equal(begun[:slices.Index(begun, id)+1], ids[:slices.Index(ids, id)+1]) {
					f.Errorf("run %s ends after %q have begun", id, begun)
				}
			}
		}
		if !slices.Equal(begun, ids) {
			f.Errorf("the runs begin in the order %q", begun)
		}
	})
}

// While nothing is read, more changes come than the system remembers. Runs are written as fast as always.
func TestASlowReaderLosesNothing(t *testing.T) {
	t.Parallel()
	limit := 16384
	if b, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events"); err == nil {
		_, _ = fmt.Sscan(string(b), &limit)
	}
	if limit > 100_000 {
		t.Skipf("the system remembers %d changes", limit)
	}
	f := newFixture(t)
	s := f.follow(nil, nil)
	a, b := f.begin(), f.begin()
	s.wants(a.ID+" run_started", b.ID+" run_started")
	for range limit*3/4 + 1 {
		f.add(a, event.NodeStarted)
		f.add(b, event.NodeStarted)
	}
	late := f.begin()
	f.end(late)
	removed := f.begin()
	f.end(removed)
	f.end(a)
	b.Close()
	count := map[string]int{}
	for range bytes.Count([]byte(f.journal(a.ID)+f.journal(b.ID)), []byte("\n")) + 1 - 2 + 2 + 2 {
		count[s.next()]++
	}
	for _, want := range []string{a.ID + " run_finished", b.ID + " run_interrupted", late.ID + " run_started", late.ID + " run_finished", removed.ID + " run_finished"} {
		if count[want] != 1 {
			f.Errorf("%q came %d times", want, count[want])
		}
	}
	for _, id := range []string{a.ID, b.ID, late.ID, removed.ID} {
		s.is(id)
	}
}

// Without notifications the runs are looked at repeatedly, and a person learns why.
func TestNotificationsRunOut(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]int{"for the folder": 0, "for a journal": 1, "for a later journal": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			a := f.begin()
			s := f.follow(nil, func(w *watcher) {
				w.changes.register = func(n *fsnotify.Watcher, path string) error {
					if limit--; limit < 0 {
						return syscall.ENOSPC
					}
					return n.Add(path)
				}
			})
			s.wants(a.ID + " run_started")
			b := f.begin()
			f.end(a)
			s.wants(a.ID+" run_finished", b.ID+" run_started")
			f.end(b)
			s.wants(b.ID + " run_finished")
			if len(s.warnings) != 1 {
				t.Errorf("there are %d warnings", len(s.warnings))
			}
		})
	}
}

// More runs are live than journals are kept open.
func TestManyLiveRuns(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var ids []string
	var all []*journal.Writer
	for range maxOpen + 50 {
		w := f.begin()
		all, ids = append(all, w), append(ids, w.ID+" run_started")
	}
	s := f.follow(nil, nil)
	s.wants(ids...)
	ids = nil
	for _, w := range all {
		f.end(w)
		ids = append(ids, w.ID+" run_finished")
	}
	s.wants(ids...)
}
