package suitetools

import (
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// settle is how long after a change the workflows are read, since files mostly change several at a time.
	settle = 200 * time.Millisecond
	// calm is the least time between two refreshes, so that a burst of changes is one notice in that time.
	calm = 2 * time.Second
	// sweep is how often the workflows are read if nothing reports changes, as on a network file system.
	sweep = time.Minute
	// poll is how often they are read if the system cannot report changes at all.
	poll = 5 * time.Second
)

// Watch refreshes the tools when a file changes on which they depend, and when asked receives a value, until ctx ends.
func (w *Workflows) Watch(ctx context.Context, asked <-chan struct{}) {
	every := sweep
	var events chan fsnotify.Event
	var failures chan error
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		every = poll
		w.Front.Suite.Log.Warn("changes of workflows are found by polling", "error", err)
	} else {
		defer func() { _ = watcher.Close() }()
		events, failures = watcher.Events, watcher.Errors
		w.watchFolders(watcher)
	}
	due := time.NewTimer(settle) // what changed before the folders were watched
	defer due.Stop()
	list := time.NewTimer(w.sources.next(every)) // the next source
	defer list.Stop()
	var last time.Time // of the last refresh
	pending := false   // whether a refresh is due because of a change, which further changes do not put off
	changed := func() {
		if !pending {
			pending = true
			due.Reset(max(settle, time.Until(last.Add(calm))))
		}
	}
	refresh := func() {
		pending = false // what changes from now on may be seen too late
		if watcher != nil {
			w.watchFolders(watcher)
		}
		if _, err := w.Refresh(ctx); err != nil && ctx.Err() == nil {
			w.Front.Suite.Log.Warn("the workflows cannot be read; the tools stay as they are", "error", err)
		}
		last = time.Now()
		due.Reset(every)
		list.Reset(w.sources.next(every)) // they may have changed
	}
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-events:
			if w.concerns(event) {
				changed()
			}
		case <-asked:
			w.sources.begin(ctx, true)
			refresh()
		case <-list.C:
			w.sources.begin(ctx, false)
			list.Reset(w.sources.next(every))
		case <-w.sources.listed:
			if w.sources.takeChanged() {
				changed()
			}
			list.Reset(w.sources.next(every))
		case <-failures: // such as an overflow: anything may have changed
			changed()
		case <-due.C:
			idle := !pending
			refresh()
			if idle { // lists of a thousand tools leave much behind
				debug.FreeOSMemory()
			}
		}
	}
}

// concerns reports whether an event may change a tool. Reading the workflows writes their index to the home, which does not.
func (w *Workflows) concerns(event fsnotify.Event) bool {
	if event.Has(fsnotify.Chmod) && event.Op == fsnotify.Chmod {
		return false
	}
	folder, name := filepath.Split(event.Name)
	if filepath.Clean(folder) != w.Front.Suite.Home.Path() {
		return !strings.HasPrefix(name, ".")
	}
	return slices.Contains([]string{configName, "library", "settings.json"}, name)
}

// watchFolders watches the home, the library, and the folders in it, which have workflows of several files.
func (w *Workflows) watchFolders(watcher *fsnotify.Watcher) {
	home := w.Front.Suite.Home
	folders := []string{home.Path(), home.Path("library")}
	entries, _ := os.ReadDir(home.Path("library"))
	for _, e := range entries {
		if e.IsDir() {
			folders = append(folders, home.Path("library", e.Name()))
		}
	}
	watched := watcher.WatchList()
	for _, folder := range folders {
		if !slices.Contains(watched, folder) {
			_ = watcher.Add(folder) // the sweep finds what is not watched
		}
	}
}
