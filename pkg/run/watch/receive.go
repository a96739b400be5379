package watch

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/fsnotify/fsnotify"

	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// maxHandled is how many changes are dealt with before runs are read again.
const maxHandled = 4096

// receive deals with changes. If there is nothing else to do it waits for one.
func (w *watcher) receive(ctx context.Context) error {
	var events chan fsnotify.Event
	var failures chan error
	if n := w.changes.notifier; n != nil {
		events, failures = n.Events, n.Errors
	}
	nothing := make(chan struct{})
	close(nothing)
	done := nothing
	if w.idle() {
		done = nil
	}
	for range maxHandled {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-w.changes.locks.C:
			return w.tryLocks() // afterwards there may be another notifier
		case <-w.changes.looks.C:
			return w.look()
		case e := <-events:
			w.notified(e)
		case err := <-failures:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				w.poll(err)
			}
			return w.scan()
		case <-done:
			return nil
		}
		if w.changes.notifier == nil { // there were too many journals to watch
			return nil
		}
		done = nothing
	}
	return nil
}

// notified deals with a notification of the system.
func (w *watcher) notified(e fsnotify.Event) {
	dir, name := filepath.Split(e.Name)
	switch dir = filepath.Clean(dir); {
	case dir != w.changes.dir:
		w.grown(filepath.Base(dir))
	case e.Has(fsnotify.Create), e.Has(fsnotify.Remove), e.Has(fsnotify.Rename):
		w.changed(name, e.Has(fsnotify.Create))
	}
}

// changed deals with a change of a name in the folder of the runs.
func (w *watcher) changed(name string, appeared bool) {
	id, creating, ok := journal.ParseName(name)
	switch {
	case !ok:
	case creating && appeared && !w.known[id]:
		w.creating[id] = true
	case creating: // it has its name now, or the next tryLocks notices that it has none
	case appeared && !w.known[id]:
		w.take(journal.At(w.home, id))
		delete(w.creating, id)
	case !appeared && w.live[id] == nil:
		delete(w.known, id)
	}
}

// grown deals with a change of a journal.
func (w *watcher) grown(id string) {
	if f := w.live[id]; f != nil && w.withheld[id] == nil {
		w.ready[id] = f
	}
}
