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

// FileSink appends NDJSON to a file that several processes may append to at the same time, and rotates it by size: PATH
// becomes PATH.1, PATH.1 becomes PATH.2, and so on. A lock on PATH.lock sees to it that one process at a time does that;
// nobody waits for it, so a file may grow somewhat beyond its size.
type FileSink struct {
	path     string
	maxBytes int64
	keep     int

	mu     sync.Mutex
	file   *os.File // nil once closed
	lock   *flock.Flock
	device bool // a character device, which is not rotated
	torn   bool // the file ends with a part of a line
}

// OpenFileSink opens a trace for appending. The file is made with mode 0600, its folder with 0700; wider permissions of a file
// that is there are narrowed. A file of maxBytes and more is rotated before the next line, 0 for never; keep is how many
// rotated files there are at most. A symbolic link is followed to a regular file that belongs to the user and is there;
// then that is rotated, beside its own place. A character device such as /dev/null will do too. Errors are faults.
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

// endsTorn says whether a writer that was killed left a part of a line. What comes next stands on a line of its own then.
func endsTorn(file *os.File) bool {
	size := int64(-1)
	for range 2 {
		info, err := file.Stat()
		if err != nil || info.Size() == 0 || size >= 0 && info.Size() != size {
			return false
		}
		size = info.Size()
		last := make([]byte, 1)
		if _, err = file.ReadAt(last, size-1); err != nil || last[0] == '\n' {
			return false
		}
		time.Sleep(10 * time.Millisecond) // one that is not killed goes on
	}
	return true
}

// traceTarget is the file that a path means, the symbolic link at its end followed.
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
		return "", unusableTrace(path, errors.New("it is a symbolic link to something else than a regular file of yours"))
	}
	return target, nil
}

// unusableTrace is the fault of a file that cannot be the trace.
func unusableTrace(path string, err error) error {
	return fault.New(fault.Usage, "The trace cannot be written to %s: %v", path, fault.Reason(err)).
		Suggest("Name another file for the trace, or none")
}

// open opens the file, or makes it, without waiting for anybody.
func (s *FileSink) open() (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return nil, err
	}
	// What the path names now may be another thing by the time it is open: only what is open counts.
	if info, err := os.Lstat(s.path); err == nil {
		if err := fitForTrace(info); err != nil {
			return nil, err
		}
	}
	file, err := os.OpenFile(s.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = fitForTrace(info)
	}
	if err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		if file.Chmod(info.Mode().Perm()&0o700) != nil {
			err = errors.New("others may read it or write to it, and it belongs to somebody else")
		}
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// fitForTrace says why a file cannot hold a trace.
func fitForTrace(info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular(), mode&fs.ModeCharDevice != 0:
		return nil
	case mode.IsDir():
		return errors.New("it is a directory")
	case mode&fs.ModeNamedPipe != 0:
		return errors.New("it is a named pipe, and a call must not wait for its reader")
	}
	return errors.New("it is no regular file")
}

// Record appends an entry. It may be called by several goroutines at a time.
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

// append writes a line at once, at the end of the file wherever that is by now, so that no lock is needed.
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
	n, err := s.file.Write(line) // an error where that is not all
	s.torn = err != nil && (s.torn || n > 0)
	if err != nil {
		return err
	}
	return unrotated // the line is kept even so
}

// current sees to it that the open file is the one at the path, which may have been renamed or removed by others, and gives
// its size.
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

// rotate moves the file out of the way, and those before it, up to the first number that is free; or leaves that to the
// process that is about it.
func (s *FileSink) rotate() error {
	if ok, err := s.lock.TryLock(); !ok {
		return err
	}
	defer func() { _ = s.lock.Unlock() }()
	size, err := s.current()
	if err != nil || size < s.maxBytes { // another was faster
		return err
	}
	if s.keep == 0 {
		return os.Remove(s.path)
	}
	free := 1
	for free < s.keep && s.isThere(free) {
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

func (s *FileSink) isThere(n int) bool {
	_, err := os.Lstat(s.numbered(n))
	return err == nil
}

// Close closes the file. Entries after that are refused.
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
