package veloflux

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// FileSink appends NDJSON to a file. Several processes may append to it at the same time. It rotates the file by size:
// PATH becomes PATH.1, PATH.1 becomes PATH.2, and so on. A lock on PATH.lock lets only one process rotate at a time. No
// process waits for the lock, so a file may grow somewhat beyond its maximum size.
type FileSink struct {
	path     string
	maxBytes int64
	keep     int

	mu     sync.Mutex
	file   *os.File // nil once closed
	lock   *flock.Flock
	device bool // a character device, which is not rotated
	torn   bool // the file ends with an incomplete line
}

// OpenFileSink opens a trace for appending. The file is created with mode 0600, its folder with 0700; wider permissions of
// an existing file are narrowed. A file of maxBytes or more is rotated before the next line; 0 means never. keep is the
// most rotated files. A symbolic link is followed if it leads to an existing regular file of the user; then that file is
// rotated, in its own folder. A character device such as /dev/null is accepted too. Errors are faults.
func OpenFileSink(path string, maxBytes int64, keep int) (*FileSink, error) {
	place, err := traceTarget(path)
	if err != nil {
		return nil, err
	}
	s := &FileSink{path: place, maxBytes: maxBytes, keep: max(0, keep)}
	if s.file, err = s.open(); err != nil {
		return nil, unusableTrace(path, err)
	}
	if info, err := s.file.Stat(); err == nil && info.Mode()&fs.ModeCharDevice != 0 {
		s.device = true
		return s, nil
	}
	s.lock = flock.New(place+".lock", flock.SetFlag(os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK), flock.SetPermissions(0o600))
	if _, err := s.lock.TryLock(); err != nil {
		_ = s.file.Close()
		return nil, unusableTrace(path, err)
	}
	_ = s.lock.Unlock()
	s.torn = endsTorn(s.file)
	return s, nil
}

// How often and at which intervals endsTorn looks at an incomplete line: the writer may live, and be held up by a busy machine.
const (
	tornLooks = 5
	tornDelay = 50 * time.Millisecond
)

// endsTorn reports whether a writer that was killed left an incomplete line. The next entry then begins a new line. After a live writer
// that was held up for longer than endsTorn looks, an empty line stands before the entry.
func endsTorn(file *os.File) bool {
	size := int64(-1)
	for look := range tornLooks {
		if look > 0 {
			time.Sleep(tornDelay)
		}
		info, err := file.Stat()
		if err != nil || info.Size() == 0 || size >= 0 && info.Size() != size {
			return false
		}
		size = info.Size()
		last := make([]byte, 1)
		if _, err = file.ReadAt(last, size-1); err != nil || last[0] == '\n' {
			return false
		}
	}
	return true
}

// traceTarget returns the absolute path of the file, following a symbolic link at its end.
func traceTarget(path string) (string, error) {
	absolute, err := filepath.Abs(path) // the working directory may change
	if err != nil {
		return "", unusableTrace(path, err)
	}
	info, err := os.Lstat(absolute)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return absolute, nil
	}
	target, err := filepath.EvalSymlinks(absolute)
	if err != nil {
		return "", unusableTrace(path, fault.Reason(err))
	}
	info, err = os.Stat(target)
	if err != nil {
		return "", unusableTrace(path, err)
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !info.Mode().IsRegular() || !ok || int(owner.Uid) != os.Geteuid() {
		return "", unusableTrace(path, errors.New("it is a symbolic link to something other than a regular file that you own"))
	}
	return target, nil
}

// unusableTrace returns the fault for a file that cannot be the trace.
func unusableTrace(path string, err error) error {
	return fault.New(fault.Usage, "The trace cannot be written to %s: %v", path, fault.Reason(err)).
		Suggest("Name another file, or none for no trace")
}

// open opens or creates the file without blocking.
func (s *FileSink) open() (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return nil, err
	}
	// The path may name another file by the time it is opened, so the open file is checked again.
	if info, err := os.Lstat(s.path); err == nil {
		if err := checkTraceFile(info); err != nil {
			return nil, err
		}
	}
	file, err := os.OpenFile(s.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = checkTraceFile(info)
	}
	if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		if file.Chmod(info.Mode().Perm()&0o700) != nil {
			err = errors.New("other users may read or write it, and you do not own it")
		}
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// checkTraceFile returns an error if a file cannot be a trace.
func checkTraceFile(info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular(), mode&fs.ModeCharDevice != 0:
		return nil
	case mode.IsDir():
		return errors.New("it is a directory")
	case mode&fs.ModeNamedPipe != 0:
		return errors.New("it is a named pipe, and a call must not wait for its reader")
	}
	return errors.New("it is not a regular file")
}

// Record appends an entry. It is safe for concurrent use.
func (s *FileSink) Record(e Entry) error {
	line, err := e.line()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return errors.New("the trace is closed")
	}
	if err := s.append(line); err != nil {
		return fault.New(fault.Execution, "The trace %s could not be written: %v", s.path, fault.Reason(err))
	}
	return nil
}

// append writes a line with one Write in append mode, so that writers need no lock.
func (s *FileSink) append(line []byte) error {
	if s.device {
		return write(s.file, line)
	}
	size, err := s.current()
	var unrotated error
	if err == nil && s.maxBytes > 0 && size >= s.maxBytes {
		if unrotated = s.rotate(); unrotated == nil {
			_, err = s.current()
		}
	}
	if err != nil {
		return err
	}
	if s.torn {
		line = slices.Concat([]byte("\n"), line)
	}
	n, err := s.file.Write(line) // a short write is an error
	s.torn = err != nil && (s.torn || n > 0)
	if err != nil {
		return err
	}
	return unrotated // the line is written nevertheless
}

// current reopens the file if another process has renamed or removed it, and returns its size.
func (s *FileSink) current() (int64, error) {
	open, err := s.file.Stat()
	if err != nil {
		return 0, err
	}
	there, err := os.Lstat(s.path)
	if err == nil && os.SameFile(open, there) {
		return open.Size(), nil
	}
	file, err := s.open()
	if err != nil {
		return 0, err
	}
	_ = s.file.Close()
	s.file, s.torn = file, false
	if open, err = file.Stat(); err != nil {
		return 0, err
	}
	return open.Size(), nil
}

// rotate renames the file and the older ones before it, up to the first free number. It does nothing if another process
// is rotating.
func (s *FileSink) rotate() error {
	if ok, err := s.lock.TryLock(); !ok {
		return err
	}
	defer func() { _ = s.lock.Unlock() }()
	size, err := s.current()
	if err != nil || size < s.maxBytes { // another process was faster
		return err
	}
	if s.keep == 0 {
		return os.Remove(s.path)
	}
	free := 1
	for free < s.keep && s.exists(free) {
		free++
	}
	for n := free; n > 1; n-- {
		if err := os.Rename(s.numbered(n-1), s.numbered(n)); err != nil {
			return err
		}
	}
	return os.Rename(s.path, s.numbered(1))
}

func (s *FileSink) numbered(n int) string { return s.path + "." + strconv.Itoa(n) }

func (s *FileSink) exists(n int) bool {
	_, err := os.Lstat(s.numbered(n))
	return err == nil
}

// Close closes the file. Later calls of Record return an error.
func (s *FileSink) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}
