package journal

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
)

// resumingPrefix begins a lock file while a process resumes the run.
const resumingPrefix = "resuming "

// failurePrefix begins a lock file after the run could not be recorded.
const failurePrefix = "fell: "

// FailureReason returns why the run could not be recorded to its end, or "" if that is not known.
func (r *Reader) FailureReason() string {
	b, err := readShort(filepath.Join(r.dir, lockFile))
	why, ok := strings.CutPrefix(string(b), failurePrefix)
	if err != nil || !ok {
		return ""
	}
	return strings.TrimSpace(why)
}

// Held reports whether a process executes the run.
func (r *Reader) Held() bool {
	path := filepath.Join(r.dir, lockFile)
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY|unix.O_NONBLOCK))
	ok, err := lock.TryRLock()
	defer func() { _ = lock.Close() }()
	if ok || err != nil {
		return false
	}
	pid, err := holder(path)
	return err == nil && process.Signal(pid, 0)
}

// AwaitRelease waits until no process executes the run.
func (r *Reader) AwaitRelease(ctx context.Context) error {
	for r.Held() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// newLock returns the lock of the run, which may have to be created. Opening it does not wait, even if it is a pipe.
func (r *Reader) newLock() *flock.Flock {
	return flock.New(filepath.Join(r.dir, lockFile), flock.SetFlag(os.O_CREATE|os.O_RDONLY|unix.O_NONBLOCK))
}

// holder returns the process id that a lock file names.
func holder(path string) (int, error) {
	b, err := readShort(path)
	if err != nil {
		return 0, storageFault("read the run's lock", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || pid <= 1 {
		return 0, fault.New(fault.Internal, "The lock file of the run does not name a process")
	}
	return pid, nil
}

// Hold locks the run, so that no other process resumes it before release is called. It returns a conflict if another
// process has the lock.
func (r *Reader) Hold(ctx context.Context) (release func(), err error) {
	lock := r.newLock()
	soon, cancel := context.WithTimeout(ctx, time.Second) // Held takes the lock for a moment, in any process
	defer cancel()
	if ok, _ := lock.TryLockContext(soon, 5*time.Millisecond); !ok {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, fault.New(fault.Conflict, "Another program is already resuming run %s", r.ID).
			Suggest("Try again: then it goes on from the new run").Then(fault.Step{Do: fault.DoList})
	}
	if err := os.WriteFile(filepath.Join(r.dir, lockFile), []byte(resumingPrefix+strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		_ = lock.Close()
		return nil, storageFault("lock the run", err)
	}
	_ = os.RemoveAll(filepath.Join(r.dir, scratchDir)) // of a killed process, which had the key to it
	return func() { _ = lock.Close() }, nil
}

// RecordFailure writes to the lock file why the run could not be recorded, see Reader.FailureReason. It reuses the space of
// the file, so it works on a full disk.
func (r *Writer) RecordFailure(why error) {
	f, err := os.OpenFile(filepath.Join(r.dir, lockFile), os.O_WRONLY, 0)
	if err != nil {
		return
	}
	text := failurePrefix + strings.ReplaceAll(fault.From(why).Message, "\n", " ") + "\n"
	if _, err := f.WriteString(text[:min(len(text), 512)]); err == nil {
		_ = f.Truncate(int64(min(len(text), 512)))
	}
	_ = f.Close()
}
