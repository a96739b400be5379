package watch

import (
	"os"
	"runtime"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// pollPeriod is the time between two looks at the runs without notifications.
	pollPeriod = 100 * time.Millisecond
	// timeStep is more than the step in which the system tells the times of changes.
	timeStep = 2 * time.Second
	// maxBuffered is how many notifications wait in this process; more wait in the system.
	maxBuffered = 256
)

// changes reports changes of the folder of the runs and of journals: by notifications of the system, or as moments at which to
// look.
type changes struct {
	dir string
	// folder is the folder that was there at the last look, or nil. seen is when it was last changed, looked when that was found out.
	folder       os.FileInfo
	seen, looked time.Time
	// notifier is nil while there are no notifications. never is set if there will be none.
	notifier *fsnotify.Watcher
	never    bool
	// register makes a notifier report changes of a file or folder.
	register func(n *fsnotify.Watcher, path string) error
	// looks are the moments to look at the runs without notifications, locks those to try the locks.
	looks, locks *time.Ticker
}

func newChanges(dir string) changes {
	// On other systems fsnotify opens each file of a folder, and a home has thousands of runs.
	return changes{
		dir: dir, never: runtime.GOOS != "linux", register: (*fsnotify.Watcher).Add,
		looks: time.NewTicker(pollPeriod), locks: time.NewTicker(lockPeriod),
	}
}

// attach begins to watch the folder.
func (c *changes) attach() error {
	now := time.Now()
	info, err := os.Stat(c.dir)
	if err != nil {
		return &missingError{err}
	}
	if !c.never {
		if c.notifier, err = fsnotify.NewBufferedWatcher(maxBuffered); err != nil {
			return err
		}
		if err := c.register(c.notifier, c.dir); err != nil {
			c.detach()
			return err
		}
		c.looks.Stop()
	}
	c.folder, c.seen, c.looked = info, info.ModTime(), now
	return nil
}

// missingError is the error of a folder that cannot be found.
type missingError struct{ err error }

func (e *missingError) Error() string { return e.err.Error() }

// detach stops the notifications.
func (c *changes) detach() {
	if c.notifier != nil {
		_ = c.notifier.Close()
		c.notifier = nil
	}
	c.folder = nil
	c.looks.Reset(pollPeriod)
}

// replaced reports whether the folder is no longer the one that is watched.
func (c *changes) replaced() bool {
	info, err := os.Stat(c.dir)
	return c.folder == nil || err != nil || !os.SameFile(info, c.folder)
}

// renewed reports whether the folder may have changed since the last look. If that came soon after a change, there may have been a further
// one with the same time, however long ago it was.
func (c *changes) renewed() bool {
	now := time.Now()
	info, err := os.Stat(c.dir)
	if err != nil {
		return false
	}
	at := info.ModTime()
	changed := !at.Equal(c.seen) || c.looked.Sub(at) < timeStep
	c.seen, c.looked = at, now
	return changed
}

// add begins to watch a journal.
func (c *changes) add(path string) error {
	if c.notifier == nil {
		return nil
	}
	return c.register(c.notifier, path)
}

// forget ends watching a journal.
func (c *changes) forget(path string) {
	if c.notifier != nil {
		_ = c.notifier.Remove(path) // the watch of a removed file has ended already
	}
}

func (c *changes) close() {
	c.detach()
	c.looks.Stop()
	c.locks.Stop()
}
