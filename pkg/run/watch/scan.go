package watch

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// attach begins to watch the folder of the runs, if it exists, and looks at the runs.
func (w *watcher) attach() error {
	err := w.changes.attach()
	if missing, ok := errors.AsType[*missingError](err); ok {
		if errors.Is(missing.err, fs.ErrNotExist) {
			w.scanned = true // all runs are new
			return nil
		}
		return unusable(missing.err)
	}
	if err != nil {
		w.poll(err)
	}
	for _, f := range w.live {
		w.watch(f.run)
	}
	return w.scan()
}

// unusable returns the fault of a folder of runs that cannot be read.
func unusable(err error) error {
	return fault.New(fault.Internal, "Cannot list the runs: %v", fault.Reason(err)).
		Suggest("Check the permissions of the home folder (PFLOW_HOME, by default ~/.pflow)")
}

// poll makes the watcher look at the runs repeatedly, because the system does not notify it.
func (w *watcher) poll(why error) {
	w.changes.detach()
	w.changes.never = true
	_ = w.changes.attach() // without notifications it only fails if the folder does not exist
	w.Warn("The system reports no changes of files (%v): looking for new events every %s. On Linux, fs.inotify.max_user_watches and fs.inotify.max_user_instances limit how many files are watched",
		fault.Reason(why), pollPeriod)
}

// scan looks at all runs. It follows those that are new and reads the others again.
func (w *watcher) scan() error {
	all, err := journal.ListAll(w.home)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return unusable(err)
	}
	since, selects := w.since(all.Runs)
	present := make(map[string]bool, len(all.Runs))
	for _, run := range all.Runs {
		present[run.ID] = true
		switch {
		case w.known[run.ID]:
		case w.scanned || selects && run.ID > since:
			w.take(run)
		case run.Held():
			w.follow(run)
		}
	}
	w.scanned = true
	w.known = present
	clear(w.creating)
	for _, id := range all.Creating {
		w.creating[id] = true
	}
	for id := range w.live {
		w.grown(id)
	}
	return nil
}

// take adds a run that is new.
func (w *watcher) take(run *journal.Reader) {
	w.known[run.ID] = true
	if run.Held() {
		w.follow(run)
		return
	}
	at, _ := slices.BinarySearchFunc(w.backlog, run.ID, func(r *journal.Reader, id string) int { return strings.Compare(r.ID, id) })
	w.backlog = slices.Insert(w.backlog, at, run)
}

// follow follows a run that a process executes.
func (w *watcher) follow(run *journal.Reader) {
	w.known[run.ID] = true
	w.watch(run)
	f := &follower{run: run, held: true}
	w.live[run.ID], w.ready[run.ID] = f, f
}

// watch begins to watch the journal of a run.
func (w *watcher) watch(run *journal.Reader) {
	if err := w.changes.add(run.Path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.poll(err)
	}
}

// tryLocks looks for processes that were killed, and for a folder of runs that was replaced.
func (w *watcher) tryLocks() error {
	if w.changes.replaced() {
		w.changes.detach()
		if err := w.attach(); err != nil {
			return err
		}
	}
	for id, f := range w.live {
		if f.held && !f.run.Held() {
			f.held = false
			w.grown(id)
		}
	}
	for id := range w.creating {
		if !journal.IsCreating(w.home, id) {
			delete(w.creating, id)
			if run := journal.At(w.home, id); !w.known[id] && run.Exists() {
				w.take(run)
			}
		}
	}
	return nil
}

// look finds what is new without notifications.
func (w *watcher) look() error {
	if w.changes.folder == nil {
		return w.attach()
	}
	if w.changes.renewed() {
		if err := w.scan(); err != nil {
			return err
		}
	}
	for id, f := range w.live {
		info, err := os.Stat(f.run.Path())
		if err == nil && info.Size() > f.at {
			w.grown(id)
		}
	}
	return nil
}
