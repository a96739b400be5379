package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/oklog/ulid/v2"

	"github.com/pflow-suite/pflow/pkg/home"
)

// What is kept of runs that have ended, unless something else is asked for.
const (
	DefaultAge  = 30 * 24 * time.Hour
	DefaultKeep = 10_000
)

// Collection says which runs are to be removed.
type Collection struct {
	// OlderThan removes what ended longer ago, Keep all but so many of the newest; negative is no limit.
	OlderThan time.Duration
	Keep      int
	// DryRun removes nothing, and tells what would go.
	DryRun bool
}

// Collected is what a collection came to.
type Collected struct {
	// Removed are the runs that went, Kept how many are left, those that are live among them.
	Removed []string
	Kept    int
	// Bytes is how much the files of those that went held.
	Bytes int64
	// Failed is why some could not be removed, nil when all could.
	Failed error
}

// Collect removes runs that have ended. One that a process executes, or goes on from, is never touched: its lock is
// taken first. What a process left that was killed while it made a run goes too.
func Collect(h *home.Home, c Collection, now time.Time) (*Collected, error) {
	all, err := List(h)
	if err != nil {
		return nil, err
	}
	done := &Collected{Removed: []string{}}
	needed := map[string]bool{} // by one that was stopped while it took over what they have
	for _, r := range all {
		over := c.Keep >= 0 && done.Kept >= c.Keep
		old := c.OlderThan >= 0 && now.Sub(r.Began()) >= c.OlderThan // it cannot have ended longer ago
		if !needed[r.ID] && (over || old) && r.collect(c, over, now, done) {
			continue
		}
		done.Kept++
		if origin := r.named(originFile); origin != nil {
			needed[origin.ID] = true
		}
	}
	if c.DryRun {
		return done, nil
	}
	collectKeys(h)
	return done, removeUnfinished(h, now)
}

// Began is when the run was made, as its id says.
func (r *Reader) Began() time.Time {
	id, err := ulid.Parse(strings.ToUpper(strings.TrimPrefix(r.ID, "r")))
	if err != nil {
		return time.Time{}
	}
	return ulid.Time(id.Time())
}

// collect removes a run, if it may go: over the number of those that are kept, or old enough.
func (r *Reader) collect(c Collection, over bool, now time.Time, done *Collected) bool {
	lock := flock.New(filepath.Join(r.dir, lockFile))
	if ok, err := lock.TryLock(); !ok || err != nil {
		if err != nil && exists(r.dir) {
			done.Failed = recordFault("remove the run "+r.ID, err)
		}
		return false
	}
	defer func() { _ = lock.Close() }()
	if _, last, err := r.FirstAndLast(); !over && err == nil && last != nil && now.Sub(last.Time) < c.OlderThan {
		return false
	}
	size := sizeOf(r.dir)
	if !c.DryRun {
		gone := filepath.Join(filepath.Dir(r.dir), removedPrefix+r.ID)
		if err := os.Rename(r.dir, gone); err != nil { // so that nobody sees half of it
			done.Failed = recordFault("remove the run "+r.ID, err)
			return false
		}
		_ = os.RemoveAll(gone) // what is left goes the next time
	}
	done.Removed, done.Bytes = append(done.Removed, r.ID), done.Bytes+size
	return true
}

// The names of folders that are no runs yet, or no longer.
const (
	newPrefix     = ".new-"
	removedPrefix = ".gone-"
)

// removeUnfinished removes what was left half made, or half removed, by processes that are no more.
func removeUnfinished(h *home.Home, now time.Time) error {
	entries, err := os.ReadDir(h.Path("runs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return recordFault("list the runs", err)
	}
	for _, e := range entries {
		path := h.Path("runs", e.Name())
		switch {
		case strings.HasPrefix(e.Name(), removedPrefix):
			_ = os.RemoveAll(path)
		case strings.HasPrefix(e.Name(), newPrefix):
			if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > time.Hour { // nobody takes that long
				_ = os.RemoveAll(path)
			}
		}
	}
	return nil
}

func sizeOf(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be looked at does not count
		}
		if info, err := e.Info(); err == nil && e.Type().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size
}

// Due says whether it is time to collect: once a day of a home that is used. It notes that it was asked.
func Due(h *home.Home, now time.Time) bool {
	path := h.Path("runs", ".collected")
	info, err := os.Stat(path)
	if err == nil && now.Sub(info.ModTime()) < 24*time.Hour {
		return false
	}
	if os.WriteFile(path, nil, 0o600) != nil || os.Chtimes(path, now, now) != nil {
		return false
	}
	return err == nil // of a new home there is nothing to collect
}
