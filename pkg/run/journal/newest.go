package journal

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/oklog/ulid/v2"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
)

// newestFile, among the runs, holds the id of the newest run and a newline. A process locks it while it makes an id.
const newestFile = ".newest"

// newestPatience is how long newID waits for other processes that make ids. Each of them takes less than a millisecond.
const newestPatience = 10 * time.Second

// newID returns the id of a new run, r and a ULID in lower case, and creates the run's directory under its temporary name.
// The time in the id is the later of now and one millisecond after the newest run's, so ids sort in the order in which they
// were made even if the clock goes back, and directories appear in the order of their ids.
func newID(runs string, now time.Time) (string, error) {
	path := filepath.Join(runs, newestFile)
	lock := flock.New(path, flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), newestPatience)
	defer cancel()
	if ok, err := lock.TryLockContext(ctx, time.Millisecond); !ok {
		if ctx.Err() == nil {
			return "", storageFault("lock the list of runs", err)
		}
		f := fault.New(fault.Conflict, "Another program has been creating a run for %s", newestPatience)
		f.Retryable = true
		return "", f.Suggest("Look for a stopped process of pflow-exec, and try again")
	}
	defer func() { _ = lock.Close() }()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return "", storageFault("read the newest run's id", err)
	}
	defer func() { _ = f.Close() }()
	before, newest, ok := readNewest(f)
	if ok {
		removeDead(filepath.Join(runs, newPrefix+before))
	} else {
		if newest, err = findNewest(runs); err != nil {
			return "", err
		}
	}
	ms := uint64(max(0, now.UnixMilli()))
	if ms <= newest && newest < ulid.MaxTime() {
		ms = newest + 1
	}
	id, err := ulid.New(ms, rand.Reader)
	if err != nil {
		return "", fault.New(fault.Internal, "Cannot make a run id: %v", err)
	}
	name := "r" + strings.ToLower(id.String())
	if _, err = f.WriteAt([]byte(name+"\n"), 0); err == nil && !ok {
		err = f.Truncate(int64(len(name) + 1))
	}
	if err != nil {
		return "", storageFault("record the newest run's id", err)
	}
	if err := os.Mkdir(filepath.Join(runs, newPrefix+name), 0o700); err != nil {
		return "", storageFault("create the run's directory", err)
	}
	return name, nil
}

// removeDead removes the directory of a run that was being created when its process was killed. It leaves that of a live
// process, and what it is not sure about: Collect removes that later.
func removeDead(dir string) {
	path := filepath.Join(dir, lockFile)
	pid, err := holder(path)
	if err != nil || process.Signal(pid, 0) { // which may not have locked the file yet
		return
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
	if ok, err := lock.TryLock(); ok && err == nil {
		_ = os.RemoveAll(dir)
	}
	_ = lock.Close()
}

// readNewest returns the id that the file holds, and the time in it in milliseconds. ok is false if the file is empty or damaged.
func readNewest(f *os.File) (id string, ms uint64, ok bool) {
	content := make([]byte, 64)
	n, _ := f.ReadAt(content, 0)
	name, ended := strings.CutSuffix(string(content[:n]), "\n")
	if !ended {
		return "", 0, false
	}
	ms, ok = idTime(name)
	return name, ms, ok
}

// findNewest returns the latest time in the ids of the runs, in milliseconds, from their directories. It is 0 if there is no
// run.
func findNewest(runs string) (newest uint64, err error) {
	entries, err := os.ReadDir(runs)
	if err != nil {
		return 0, storageFault("list the runs", err)
	}
	for _, e := range entries {
		ms, _ := idTime(strings.TrimPrefix(e.Name(), newPrefix)) // a run that is being created counts
		newest = max(newest, ms)
	}
	return newest, nil
}

// idTime returns the time in a run's id in milliseconds. ok is false if name is not an id.
func idTime(name string) (ms uint64, ok bool) {
	if !IsID(name) {
		return 0, false
	}
	id, err := ulid.Parse(strings.ToUpper(name[1:]))
	return id.Time(), err == nil
}
