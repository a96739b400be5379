package watch

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// What is followed is read to its end although gc removes it.
func TestARunIsRemoved(t *testing.T) {
	t.Parallel()
	each(t, func(f *fixture, way func(w *watcher)) {
		s := f.follow(nil, way)
		a, b := f.begin(), f.begin()
		s.wants(a.ID+" run_started", b.ID+" run_started")
		whole := f.journal(b.ID)
		f.end(a)
		b.Close()
		if _, err := journal.Collect(f.home, journal.Limits{OlderThan: 0, Keep: -1}, time.Now().Add(time.Hour)); err != nil {
			f.Fatal(err)
		}
		s.wants(a.ID+" run_finished", b.ID+" run_interrupted")
		if got := strings.Join(slices.DeleteFunc(slices.Clone(s.got), func(line string) bool {
			return gjson.Get(line, "run").Str != b.ID || !gjson.Get(line, "seq").Exists()
		}), ""); got != whole {
			f.Errorf("got %s", got)
		}
		c := f.begin()
		s.wants(c.ID + " run_started")
	})
}

func TestTheFolderIsReplaced(t *testing.T) {
	t.Parallel()
	each(t, func(f *fixture, way func(w *watcher)) {
		s := f.follow(nil, way)
		a := f.begin()
		s.wants(a.ID + " run_started")
		if err := os.RemoveAll(f.home.Dir()); err != nil {
			f.Fatal(err)
		}
		a.Close()
		s.wants(a.ID + " run_interrupted")
		b := f.begin()
		s.wants(b.ID + " run_started")
		f.end(b)
		s.wants(b.ID + " run_finished")
	})
}

// A folder that was away for a while, as when a disk is mounted again, has the same live runs.
func TestTheFolderComesBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	run := f.begin()
	lines := 0
	w := newWatcher(f.home, Options{Line: func([]byte) error { lines++; return nil }, Warn: t.Errorf})
	defer w.close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	until := func(n int) {
		t.Helper()
		for lines < n {
			if err := errors.Join(w.receive(ctx), w.turn()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.attach(); err != nil {
		t.Fatal(err)
	}
	until(1)
	dir, away := journal.Dir(f.home), f.home.Path("away")
	if err := errors.Join(os.Rename(dir, away), w.tryLocks(), os.Rename(away, dir), w.look()); err != nil {
		t.Fatal(err)
	}
	if err := w.turn(); err != nil { // it reads what is there
		t.Fatal(err)
	}
	f.add(run, event.NodeStarted)
	until(2)
}

// One damaged journal does not end the stream.
func TestADamagedJournal(t *testing.T) {
	t.Parallel()
	for name, garbage := range map[string]string{
		"no JSON": "what\n", "no object": "[]\n", "zeros": "\x00\x00\x00\n", "a long line": strings.Repeat("x", 2*event.MaxLine), "an empty line": "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			s := f.follow(nil, nil)
			a := f.begin()
			s.wants(a.ID + " run_started")
			file, err := os.OpenFile(journal.At(f.home, a.ID).Path(), os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = file.WriteString(garbage)
			}
			if err = errors.Join(err, file.Close()); err != nil {
				t.Fatal(err)
			}
			f.add(a, event.NodeStarted)
			if warning := <-s.warnings; !strings.Contains(warning, a.ID) {
				t.Errorf("the warning %q does not name the run", warning)
			}
			b := f.begin()
			f.end(b)
			s.wants(b.ID+" run_started", b.ID+" run_finished")
			a.Close()
			s.wants(a.ID + " run_interrupted")
		})
	}
}

// A change with the time of the one before it is found, however late one looks.
func TestChangesOfOneTimeAreFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		at := func(when time.Time) {
			t.Helper()
			if err := os.Chtimes(dir, when, when); err != nil {
				t.Fatal(err)
			}
		}
		c := newChanges(dir)
		defer c.close()
		c.never = true
		began := time.Now()
		at(began)
		if err := c.attach(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if !c.renewed() {
			t.Error("nothing may have changed since a look in the moment of a change")
		}
		if c.renewed() {
			t.Error("something may have changed although the last look came long after the last change")
		}
		at(time.Now())
		for range 2 {
			if !c.renewed() {
				t.Error("nothing may have changed in the moment of a change")
			}
			time.Sleep(time.Minute)
		}
	})
}
