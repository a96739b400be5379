package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// patience is the longest time for which a test waits. It bounds tests that hang, not what is slow.
const patience = 5 * time.Minute

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
