// Package watch follows all runs of a home as one stream of events.
//
// A run is followed while a process executes it, by notifications of its journal. Journals are read as fast as the stream is,
// from a position in each: nothing is collected in memory, and no run waits for a reader of the stream.
package watch

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// lockPeriod is the time between two tries of the locks of live runs: a killed process leaves no other trace.
const lockPeriod = time.Second

// Options say what the stream contains and where it goes.
type Options struct {
	// Since selects the runs with a greater id, finished or not, besides the live ones. Nil selects the live ones only. "last"
	// stands for the newest run.
	Since *string
	// Line is called with each line. The stream ends when it fails.
	Line func(line []byte) error
	// Warn is called with what a person should know.
	Warn func(format string, args ...any)
}

// Follow passes on the events of the runs that the options select, and of those that begin later, until ctx ends or a line
// cannot be passed on. The lines of a run come in order, as they are in its journal. A run that stops without a last event is
// followed by a line run_interrupted. The last line of a run comes after the first lines of all older runs.
func Follow(ctx context.Context, h *home.Home, o Options) error {
	w := newWatcher(h, o)
	defer w.close()
	if err := w.attach(); err != nil {
		return err
	}
	return w.run(ctx)
}

// run passes on lines until ctx ends.
func (w *watcher) run(ctx context.Context) error {
	for {
		if err := w.receive(ctx); err != nil {
			return err
		}
		if err := w.turn(); err != nil {
			return err
		}
	}
}

// watcher is the state of a stream.
type watcher struct {
	home *home.Home
	Options
	changes changes
	// scanned is set when every run that is not known is new: after the first look at the runs.
	scanned bool
	// known are the ids of the runs in the home that have been looked at. live are those that a process executes, until their last
	// line is passed on.
	known map[string]bool
	live  map[string]*follower
	// ready are live runs that may have new lines. withheld are those whose last line must wait.
	ready, withheld map[string]*follower
	// backlog are runs that had ended before they were looked at, oldest first. past is the one that is being read.
	backlog []*journal.Reader
	past    *follower
	// creating are the ids of runs that are being created.
	creating map[string]bool
	// opened is the number of journals that are kept open.
	opened int
	buf    []byte
}

func newWatcher(h *home.Home, o Options) *watcher {
	return &watcher{
		home: h, Options: o, changes: newChanges(journal.Dir(h)), known: map[string]bool{}, live: map[string]*follower{},
		ready: map[string]*follower{}, withheld: map[string]*follower{}, creating: map[string]bool{}, buf: make([]byte, event.MaxLine),
	}
}

func (w *watcher) close() {
	w.changes.close()
	for _, f := range w.live {
		f.close(w)
	}
	if w.past != nil {
		w.past.close(w)
	}
}

// idle reports whether there is nothing to do before the next change.
func (w *watcher) idle() bool {
	return len(w.ready) == 0 && w.past == nil && len(w.backlog) == 0
}

// turn reads once from each run that may have new lines, and once from the backlog.
func (w *watcher) turn() error {
	for id, f := range w.withheld {
		if !w.mustWait(id) {
			delete(w.withheld, id)
			w.ready[id] = f
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.ready)) {
		f := w.ready[id]
		state, err := f.advance(w)
		if err != nil {
			return err
		}
		if state != unread {
			delete(w.ready, id)
		}
		switch state {
		case ended:
			f.close(w)
			delete(w.live, id)
			w.changes.forget(f.run.Path())
		case waiting:
			w.withheld[id] = f
		}
	}
	return w.readBacklog()
}

// readBacklog reads once from the oldest run of the backlog.
func (w *watcher) readBacklog() error {
	if w.past == nil && len(w.backlog) > 0 {
		w.past, w.backlog = &follower{run: w.backlog[0]}, w.backlog[1:]
	}
	if w.past == nil {
		return nil
	}
	state, err := w.past.advance(w)
	if err != nil {
		return err
	}
	switch state {
	case ended:
		w.past.close(w)
		w.past = nil
	case waiting: // perhaps for a run of the backlog
		id := w.past.run.ID
		w.live[id], w.withheld[id] = w.past, w.past
		w.past = nil
	}
	return nil
}

// mustWait reports whether the last line of a run must wait because an older run has not begun in the stream. A reader of the
// stream that has seen the last lines of all runs up to one can then go on from that one.
func (w *watcher) mustWait(id string) bool {
	if len(w.backlog) > 0 && w.backlog[0].ID < id || w.past != nil && w.past.at == 0 && w.past.run.ID < id {
		return true
	}
	for other := range w.creating {
		if other < id {
			return true
		}
	}
	for other, f := range w.live {
		if other < id && f.at == 0 && !f.broken {
			return true
		}
	}
	return false
}

// interruption is the line about a run that stopped without a last event.
type interruption struct {
	V     int        `json:"v"`
	Event event.Kind `json:"event"`
	Run   string     `json:"run"`
	Time  time.Time  `json:"time"`
}

// interrupted passes on that a run stopped without a last event.
func (w *watcher) interrupted(id string) error {
	line, err := rawjson.Marshal(interruption{event.Version, event.RunInterrupted, id, time.Now().UTC()})
	if err != nil {
		return err
	}
	return w.Line(append(line, '\n'))
}

// since returns the id that the selected runs are newer than, and whether runs are selected by their ids at all.
func (w *watcher) since(runs []*journal.Reader) (id string, selects bool) {
	switch {
	case w.Since == nil:
		return "", false
	case *w.Since == "last" && len(runs) > 0:
		return runs[len(runs)-1].ID, true
	case *w.Since == "last":
		return "", true
	}
	return strings.ToLower(*w.Since), true
}
