// Package home is the folder where the suite keeps what outlives a process: its paths, the names that may stand in
// them, files that are replaced in one step, and locks.
package home

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Home is the folder. Nothing in it is created before it is needed.
type Home struct{ dir string }

// Open gives the home: dir (PFLOW_HOME) when it is set, else .pflow in the user's own home.
func Open(dir, userHome string) (*Home, error) {
	if dir == "" {
		if userHome == "" {
			return nil, fault.New(fault.Usage, "Neither PFLOW_HOME nor HOME is set").Suggest("Set PFLOW_HOME to the folder to keep workflows and runs in")
		}
		dir = filepath.Join(userHome, ".pflow")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fault.New(fault.Internal, "the home's path: %v", err)
	}
	return &Home{dir: abs}, nil
}

// Dir is the folder's absolute path.
func (h *Home) Dir() string { return h.dir }

// Path is a path inside the home.
func (h *Home) Path(elem ...string) string { return filepath.Join(append([]string{h.dir}, elem...)...) }

// Make creates a folder inside the home, and the home itself, readable by the user alone.
func (h *Home) Make(elem ...string) (string, error) {
	dir := h.Path(elem...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", broken("create a folder in", err)
	}
	return dir, nil
}

// Read reads a file of the home. A missing file is nil without an error.
func (h *Home) Read(elem ...string) ([]byte, error) {
	b, err := os.ReadFile(h.Path(elem...))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, broken("read a file of", err)
	}
	return b, nil
}

// Write replaces a file of the home in one step: a temporary beside it, synced, renamed. Where the file is a symbolic link,
// that which it leads to is replaced, and the link stays.
func (h *Home) Write(data []byte, perm fs.FileMode, elem ...string) error {
	path := h.Path(elem...)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return broken("create a folder in", err)
	}
	path, err := target(path)
	if err == nil {
		err = renameio.WriteFile(path, data, perm, renameio.IgnoreUmask(), renameio.WithTempDir(filepath.Dir(path)))
	}
	if err != nil {
		return broken("write a file of", err)
	}
	return nil
}

// target is where the links of a path lead, whether or not there is a file.
func target(path string) (string, error) {
	const most = 40 // as many as Linux follows
	for range most {
		next, err := os.Readlink(path)
		if err != nil { // no link, or nothing at all
			return path, nil
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(path), next)
		}
		path = next
	}
	return "", syscall.ELOOP
}

// Lock holds a lock that all programs of the suite respect while f runs, for a change that reads before it writes.
// It waits up to ten seconds for another holder, and no longer than ctx: then the error is the context's cause.
func (h *Home) Lock(ctx context.Context, name string, f func() error) error {
	if _, err := h.Make("locks"); err != nil {
		return err
	}
	lock := flock.New(h.Path("locks", name))
	patience, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if ok, err := lock.TryLockContext(patience, 5*time.Millisecond); !ok {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case patience.Err() == nil:
			return broken("lock", err)
		}
		f := fault.New(fault.Conflict, "Another program has been changing %s for ten seconds", name)
		f.Retryable = true
		return f.Suggest("Try again when it is done")
	}
	defer func() { _ = lock.Unlock() }()
	return f()
}

// broken is the fault of a home that cannot be used. Its message repeats no path: it may reach an agent.
func broken(what string, err error) *fault.Fault {
	return fault.New(fault.Internal, "Cannot %s the home folder: %v", what, fault.Reason(err)).
		Suggest("Check the folder that PFLOW_HOME names (by default ~/.pflow): its permissions and the space on its disk")
}
