package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// patience is the longest time for which a test waits.
const patience = 20 * time.Second

// fixture is a home with runs that the test itself executes.
type fixture struct {
	*testing.T
	home *home.Home
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	h, err := home.Open(filepath.Join(t.TempDir(), "home"), "")
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{t, h}
}

// create creates a run without events.
func (f *fixture) create() *journal.Writer {
	f.Helper()
	w, err := journal.Create(f.home, journal.Options{Definition: []byte("{}")})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(w.Close)
	return w
}

// begin begins a run.
func (f *fixture) begin() *journal.Writer {
	f.Helper()
	w := f.create()
	f.add(w, event.RunStarted)
	return w
}

// end ends a run.
func (f *fixture) end(w *journal.Writer) {
	f.Helper()
	f.add(w, event.RunFinished)
	w.Close()
}

func (f *fixture) add(w *journal.Writer, kinds ...event.Kind) {
	f.Helper()
	for _, kind := range kinds {
		if err := w.Append(&event.Event{Event: kind}); err != nil {
			f.Fatal(err)
		}
	}
}

// journal returns the journal of a run.
func (f *fixture) journal(id string) string {
	f.Helper()
	b, err := os.ReadFile(journal.At(f.home, id).Path())
	if err != nil {
		f.Fatal(err)
	}
	return string(b)
}

// stream is a stream that a test reads.
type stream struct {
	*fixture
	lines    chan string
	warnings chan string
	ended    chan error
	got      []string
	// stop ends the stream. It may be called again.
	stop func()
}

// follow starts a stream. change changes the watcher before it begins.
func (f *fixture) follow(since *string, change func(w *watcher)) *stream {
	f.Helper()
	s := &stream{fixture: f, lines: make(chan string), warnings: make(chan string, 10), ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	w := newWatcher(f.home, Options{
		Since: since,
		Line: func(line []byte) error {
			select {
			case s.lines <- string(line):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		Warn: func(format string, args ...any) { s.warnings <- fmt.Sprintf(format, args...) },
	})
	if change != nil {
		change(w)
	}
	if err := w.attach(); err != nil {
		f.Fatal(err)
	}
	go func() {
		err := w.run(ctx)
		w.close()
		s.ended <- err
	}()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-s.ended; !errors.Is(err, context.Canceled) {
			f.Errorf("the stream ended with %v", err)
		}
	})
	f.Cleanup(s.stop)
	return s
}

// next returns the run and the kind of the next line.
func (s *stream) next() string {
	s.Helper()
	select {
	case line := <-s.lines:
		s.got = append(s.got, line)
		return gjson.Get(line, "run").Str + " " + gjson.Get(line, "event").Str
	case err := <-s.ended:
		s.ended <- err
		s.Fatalf("the stream ended: %v", err)
	case <-time.After(patience):
		s.Fatalf("no line comes after %d", len(s.got))
	}
	return ""
}

// wants reads lines and compares them, in any order of the runs and in the order of each run.
func (s *stream) wants(want ...string) {
	s.Helper()
	var got []string
	for range want {
		got = append(got, s.next())
	}
	byRun := func(a, b string) int { return strings.Compare(a[:27], b[:27]) }
	slices.SortStableFunc(got, byRun)
	slices.SortStableFunc(want, byRun)
	if !slices.Equal(got, want) {
		s.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// is fails unless the lines of a run are its journal.
func (s *stream) is(id string) {
	s.Helper()
	var lines []string
	for _, line := range s.got {
		if gjson.Get(line, "run").Str == id && gjson.Get(line, "event").Str != string(event.RunInterrupted) {
			lines = append(lines, line)
		}
	}
	if got, want := strings.Join(lines, ""), s.journal(id); got != want {
		s.Errorf("the stream has\n%s\nthe journal has\n%s", got, want)
	}
}

// ways are the ways in which a watcher learns of changes.
var ways = map[string]func(w *watcher){
	"notified": nil,
	"polling":  func(w *watcher) { w.changes.never = true },
}

// each runs a test in each way.
func each(t *testing.T, test func(f *fixture, way func(w *watcher))) {
	t.Helper()
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newFixture(t), way)
		})
	}
}

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
