package journal

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
)

// resuming is what a lock file begins with while another run goes on from this one.
const resuming = "resuming "

// fallen is what a lock file begins with when the record of the run could not be kept.
const fallen = "fell: "

// FailureReason says why a run that was interrupted was: because its record could not be kept; empty when nobody knows.
func (r *Reader) FailureReason() string {
	b, err := os.ReadFile(filepath.Join(r.dir, lockFile))
	why, ok := strings.CutPrefix(string(b), fallen)
	if err != nil || !ok {
		return ""
	}
	return strings.TrimSpace(why)
}

// Held says whether some process executes the run.
func (r *Reader) Held() bool {
	path := filepath.Join(r.dir, lockFile)
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
	ok, err := lock.TryRLock()
	defer func() { _ = lock.Close() }()
	if ok || err != nil {
		return false
	}
	pid, err := holder(path)
	return err == nil && process.Signal(pid, 0)
}

// holder is the process that a lock file names as the one that executes the run.
func holder(path string) (int, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, recordFault("read the run's lock", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || pid <= 1 {
		return 0, fault.New(fault.Internal, "The lock of the run names no process that executes it")
	}
	return pid, nil
}

// Hold takes the run's lock, so that no other process goes on from it meanwhile; a conflict when another has it.
func (r *Reader) Hold(ctx context.Context) (release func(), err error) {
	path := filepath.Join(r.dir, lockFile)
	lock := flock.New(path)
	soon, cancel := context.WithTimeout(ctx, 200*time.Millisecond) // longer than any reader's look at it
	defer cancel()
	if ok, _ := lock.TryLockContext(soon, 5*time.Millisecond); !ok {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, fault.New(fault.Conflict, "Another program goes on from run %s already", r.ID).
			Suggest("pflow-exec list shows the run that it made of it")
	}
	if err := os.WriteFile(path, []byte(resuming+strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		_ = lock.Close()
		return nil, recordFault("take hold of the run", err)
	}
	return func() { _ = lock.Close() }, nil
}

// RecordFailure notes in the lock file why the record could not be kept: there is room for that where nothing else can be written
// any more. See Record.Fallen.
func (r *Writer) RecordFailure(why error) {
	f, err := os.OpenFile(filepath.Join(r.dir, lockFile), os.O_WRONLY, 0)
	if err != nil {
		return
	}
	text := fallen + strings.ReplaceAll(fault.From(why).Message, "\n", " ") + "\n"
	if _, err := f.WriteString(text[:min(len(text), 512)]); err == nil {
		_ = f.Truncate(int64(min(len(text), 512)))
	}
	_ = f.Close()
}
