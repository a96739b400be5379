// Package home manages the folder in which the suite keeps its files: paths, the names that paths may contain, files that
// are replaced in one step, and locks.
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
	"github.com/pflow-suite/pflow/pkg/home/input"
)

// Live is the folder of the home in which live programs name the processes that they end.
const Live = "live"

// Home is the home folder. Nothing in it is created before it is needed.
type Home struct {
	dir string
	// ctx ends reads that wait, such as for a file that is a pipe.
	ctx context.Context
}

// Open returns the home: dir (PFLOW_HOME) if it is not empty, else .pflow in the user's home.
func Open(dir, userHome string) (*Home, error) {
	if dir == "" {
		if userHome == "" {
			return nil, fault.New(fault.Usage, "Neither PFLOW_HOME nor HOME is set").Suggest("Set PFLOW_HOME to a folder for workflows and runs")
		}
		dir = filepath.Join(userHome, ".pflow")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fault.New(fault.Internal, "Cannot find the home folder: %v", err)
	}
	return &Home{dir: abs, ctx: context.Background()}, nil
}

// WithContext returns the same home, whose reads end with the context's cause if they wait when ctx ends. Reads of regular files
// do not wait.
func (h *Home) WithContext(ctx context.Context) *Home { return &Home{dir: h.dir, ctx: ctx} }

// Dir returns the folder's absolute path.
func (h *Home) Dir() string { return h.dir }

// Path returns the absolute path of a file in the home.
func (h *Home) Path(elem ...string) string { return filepath.Join(append([]string{h.dir}, elem...)...) }

// Make creates a folder in the home, and the home itself, that only the user can read. It returns its path.
func (h *Home) Make(elem ...string) (string, error) {
	dir := h.Path(elem...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", broken("create a folder in", err)
	}
	return dir, nil
}

// Read returns the content of a file of the home, or nil if there is no such file. A file of more than input.MaxDocument bytes is
// a validation_error.
func (h *Home) Read(elem ...string) ([]byte, error) {
	b, err := h.ReadFile(input.MaxDocument, elem...)
	switch _, isFault := errors.AsType[*fault.Fault](err); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil && !isFault && !errors.Is(err, context.Canceled):
		return nil, broken("read "+filepath.Join(elem...)+" in", err)
	}
	return b, err
}

// ReadFile returns the content of a file of the home, or the error of os.ReadFile. A file of more than limit bytes is a
// validation_error that names the file by its place in the home.
func (h *Home) ReadFile(limit int64, elem ...string) ([]byte, error) {
	return input.File(h.ctx, h.Path(elem...), "The file "+filepath.Join(elem...)+" in the home folder", limit)
}

// ReadInput returns the content of any file, or the error of os.ReadFile. A file of more than limit bytes is a validation_error that
// names the file by name.
func (h *Home) ReadInput(path, name string, limit int64) ([]byte, error) {
	return input.File(h.ctx, path, name, limit)
}

// Write replaces a file of the home in one step: it writes a temporary file in the same folder, syncs it and renames it. If the
// file is a symbolic link, Write replaces the link's target.
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
		return broken("write "+filepath.Join(elem...)+" in", err)
	}
	return nil
}

// target follows the symbolic links of a path. The file at the end need not exist.
func target(path string) (string, error) {
	const most = 40 // the limit of Linux
	for range most {
		next, err := os.Readlink(path)
		if err != nil { // not a link
			return path, nil
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(path), next)
		}
		path = next
	}
	return "", syscall.ELOOP
}

// Lock calls f while it holds a lock of the given name, which all programs of the suite respect. Every change that reads before
// it writes needs one. Lock waits up to a minute for other holders, which may be many; if ctx ends first, the error is the context's
// cause.
func (h *Home) Lock(ctx context.Context, name string, f func() error) error {
	if _, err := h.Make("locks"); err != nil {
		return err
	}
	lock := flock.New(h.Path("locks", name))
	patience, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if ok, err := lock.TryLockContext(patience, 5*time.Millisecond); !ok {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case patience.Err() == nil:
			return broken("lock", err)
		}
		f := fault.New(fault.Conflict, "Other programs have been changing %s for a minute", name)
		f.Retryable = true
		return f.Suggest("Try again when they have finished")
	}
	defer func() { _ = lock.Unlock() }()
	return f()
}

// broken returns the fault of a home that cannot be used. It contains no path, because it may reach an agent.
func broken(what string, err error) *fault.Fault {
	return fault.New(fault.Internal, "Cannot %s the home folder: %v", what, fault.Reason(err)).
		Suggest("Check the folder that PFLOW_HOME names (by default ~/.pflow): its permissions and the space on its disk")
}
