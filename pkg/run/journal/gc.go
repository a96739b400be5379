package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pflow-suite/pflow/pkg/home"
)

// The default limits of runs that have ended.
const (
	DefaultAge  = 30 * 24 * time.Hour
	DefaultKeep = 10_000
)

// Limits say which runs to keep.
type Limits struct {
	// OlderThan is the age since its end from which a run is removed; negative is no limit.
	OlderThan time.Duration
	// Keep is how many of the newest runs are kept; negative is no limit.
	Keep int
	// DryRun removes nothing, and returns what would be removed.
	DryRun bool
	// Before is called with the ids of the runs that are to be removed, before the first one is. Other programs may remove some of
	// them meanwhile, or resume them, which keeps them. It may be nil.
	Before func(ids []string)
}

// Collected is the result of Collect.
type Collected struct {
	// Removed are the ids of the runs that were removed. Kept is the number of those that are left, live ones included.
	Removed []string
	Kept    int
	// Bytes is the size of the removed runs' files.
	Bytes int64
	// Failed is why a run could not be removed, or nil.
	Failed error
}

// Collect removes runs that have ended. It locks each run before it removes it, so it leaves alone those that a process
// executes or resumes. It also removes what killed processes left of runs that they were creating or removing. If the runs lie
// outside the home, through a link, it removes nothing and returns a security_error.
func Collect(h *home.Home, limits Limits, now time.Time) (*Collected, error) {
	if err := h.CheckInside("runs"); err != nil {
		return nil, err
	}
	all, err := List(h)
	if err != nil {
		return nil, err
	}
	done := &Collected{Removed: []string{}}
	needed := map[string]bool{} // by runs that were stopped before they had taken over everything
	keep := func(r *Reader) {
		done.Kept++
		if origin := r.linked(originFile); origin != nil {
			needed[origin.ID] = true
		}
	}
	var chosen []*Reader
	var ids []string
	for _, r := range all {
		over := limits.Keep >= 0 && done.Kept >= limits.Keep
		age := now.Sub(r.Began()) // at least the age of its end, unless the clock went back
		old := limits.OlderThan >= 0 && (age >= limits.OlderThan || age < 0)
		if !needed[r.ID] && (over || old) && r.removable(limits, over, now, done) {
			chosen, ids = append(chosen, r), append(ids, r.ID)
		} else {
			keep(r)
		}
	}
	if limits.DryRun {
		for _, r := range chosen {
			done.Removed, done.Bytes = append(done.Removed, r.ID), done.Bytes+sizeOf(r.dir)
		}
		return done, nil
	}
	if limits.Before != nil && len(ids) > 0 {
		limits.Before(ids)
	}
	for _, r := range chosen {
		if needed[r.ID] || !r.remove(done) {
			keep(r)
		}
	}
	collectKeys(h, now)
	return done, removeUnfinished(h, now)
}

// Began returns when the run was created, from its id. It may be later than that if the clock went back before: see newID.
func (r *Reader) Began() time.Time {
	ms, ok := idTime(r.ID)
	if !ok {
		return time.Time{}
	}
	return ulid.Time(ms)
}

// free calls f while no process holds the run, and returns its result. It returns false if a process holds the run.
func (r *Reader) free(done *Collected, f func() bool) bool {
	lock := r.newLock()
	if ok, err := lock.TryLock(); !ok || err != nil {
		if err != nil && exists(r.dir) {
			done.Failed = storageFault("remove the run "+r.ID, err)
		}
		return false
	}
	defer func() { _ = lock.Close() }()
	return f()
}

// removable reports whether no process holds the run, and it is over the number of runs to keep or ended long enough ago.
func (r *Reader) removable(limits Limits, over bool, now time.Time, done *Collected) bool {
	return r.free(done, func() bool {
		if over {
			return true
		}
		ended := r.Began()
		if _, last, err := r.FirstAndLast(); err == nil && last != nil {
			ended = last.Time
		}
		return now.Sub(ended) >= limits.OlderThan
	})
}

// remove removes the run if no process holds it. It reports whether the run is gone, also if another process has removed it.
func (r *Reader) remove(done *Collected) bool {
	removed := r.free(done, func() bool {
		size := sizeOf(r.dir)
		gone := filepath.Join(filepath.Dir(r.dir), removedPrefix+r.ID)
		if err := os.Rename(r.dir, gone); err != nil { // readers do not see a run that is partly removed
			if !errors.Is(err, fs.ErrNotExist) {
				done.Failed = storageFault("remove the run "+r.ID, err)
			}
			return false
		}
		_ = os.RemoveAll(gone) // the next Collect removes the rest
		done.Removed, done.Bytes = append(done.Removed, r.ID), done.Bytes+size
		return true
	})
	return removed || !exists(r.dir)
}

// The prefixes of directories of runs that are being created or removed.
const (
	newPrefix     = ".new-"
	removedPrefix = ".gone-"
)

// removeUnfinished removes the directories that killed processes left while they created or removed runs.
func removeUnfinished(h *home.Home, now time.Time) error {
	entries, err := os.ReadDir(h.Path("runs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return storageFault("list the runs", err)
	}
	for _, e := range entries {
		path := h.Path("runs", e.Name())
		removed, isRemoved := strings.CutPrefix(e.Name(), removedPrefix)
		_, creating, ok := ParseName(e.Name())
		switch {
		case isRemoved && IsID(removed):
			_ = os.RemoveAll(path)
		case creating && ok:
			if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > time.Hour { // no process takes that long
				_ = os.RemoveAll(path)
			}
		}
	}
	return nil
}

func sizeOf(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // skip what cannot be read
		}
		if info, err := e.Info(); err == nil && e.Type().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size
}

// CollectionDue reports whether Collect has not run for a day, and records that it runs now.
func CollectionDue(h *home.Home, now time.Time) bool {
	path := h.Path("runs", ".collected")
	info, err := os.Stat(path)
	if err == nil && now.Sub(info.ModTime()) < 24*time.Hour {
		return false
	}
	if os.WriteFile(path, nil, 0o600) != nil || os.Chtimes(path, now, now) != nil {
		return false
	}
	return err == nil // a new home has nothing to collect
}
