package journal

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// EventFile is a file, outside the home, with the events of runs that went on from each other, one run after another. It is
// locked until Close.
type EventFile struct {
	path string
	file *os.File
	lock *flock.Flock
	// created is set if the file did not exist. It disappears again if nothing is written to it.
	created bool
	sync    bool
	// size is the length of the whole events. torn is set if an incomplete line follows them.
	size int64
	torn bool
	// run is the part of the file with the events to go on from, or nil.
	run *io.SectionReader
	err error
}

// OpenEventFile opens, locks and reads the file, and creates it if it does not exist. It returns a conflict if another
// process has the file open, and a usage_error if the file holds anything else than events.
func OpenEventFile(ctx context.Context, path string, sync bool) (*EventFile, error) {
	if err := checkRegular(path); err != nil {
		return nil, err
	}
	for {
		_, err := os.Stat(path)
		e := &EventFile{path: path, created: errors.Is(err, fs.ErrNotExist), sync: sync}
		if e.file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600); err != nil {
			return nil, e.unusable(err)
		}
		e.lock = flock.New(path, flock.SetPermissions(0o600))
		if ok, err := e.tryLock(ctx); !ok {
			_ = e.file.Close()
			if err != nil {
				return nil, err
			}
			return nil, fault.New(fault.Conflict, "Another program is using the checkpoint file %s", path).
				Suggest("Wait until the run that writes to the file has ended").Then(fault.Step{Do: fault.DoList})
		}
		if e.current() {
			if err := e.read(); err != nil {
				e.Close()
				return nil, err
			}
			return e, nil
		}
		e.created = false // the file was replaced or removed after it was opened
		e.Close()
	}
}

// tryLock locks the file unless another process has it. It waits for a while: a process that was just being started, which takes long on
// a busy machine, holds the files of a runner that is killed at that moment.
func (e *EventFile) tryLock(ctx context.Context) (bool, error) {
	soon, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	ok, err := e.lock.TryLockContext(soon, 5*time.Millisecond)
	switch {
	case ok:
		return true, nil
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case soon.Err() != nil:
		return false, nil
	}
	return false, e.unusable(err)
}

// ReadEventFile is like OpenEventFile, but neither locks nor creates the file.
func ReadEventFile(path string) (*EventFile, error) {
	if err := checkRegular(path); err != nil {
		return nil, err
	}
	e := &EventFile{path: path}
	var err error
	if e.file, err = os.Open(path); errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err != nil {
		return nil, e.unusable(err)
	}
	if err := e.read(); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// checkRegular returns a fault if there is something at the path that is not a regular file.
func checkRegular(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fault.New(fault.Usage, "The checkpoint file %s is not a regular file", path).Suggest("Name a file that exists only for the checkpoint")
	}
	return nil
}

func (e *EventFile) unusable(err error) error {
	return fault.New(fault.Usage, "Cannot open the checkpoint file %s: %v", e.path, fault.Reason(err))
}

// current reports whether the open and locked file is still the one at its path.
func (e *EventFile) current() bool {
	opened, err := e.file.Stat()
	locked, err2 := e.lock.Stat()
	there, err3 := os.Stat(e.path)
	return errors.Join(err, err2, err3) == nil && os.SameFile(opened, locked) && os.SameFile(opened, there)
}

// read finds the last run in the file that did more than take over what an earlier one had finished.
func (e *EventFile) read() error {
	info, err := e.file.Stat()
	if err != nil {
		return e.unusable(err)
	}
	var last, previous int64 = -1, -1 // where the last run begins, and the one before it
	end := int64(0)                   // the end of that one
	advanced := false                 // whether the last run has begun anything of its own
	for events := event.NewReader(io.NewSectionReader(e.file, 0, info.Size())); ; {
		h, err := events.Skim()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return e.foreign(fault.From(err).Message)
		}
		switch {
		case h.Event == event.RunStarted:
			if last >= 0 && (advanced || previous < 0) {
				previous, end = last, h.At
			}
			last, advanced = h.At, false
		case h.Event == event.RunRefused:
		case last < 0:
			return e.foreign("its first event is " + string(h.Event))
		default:
			advanced = advanced || h.Event != event.NodeReused
		}
		e.size = h.At + int64(h.Size)
	}
	if err := e.checkTail(info.Size() - e.size); err != nil {
		return err
	}
	switch {
	case last < 0:
	case advanced || previous < 0:
		e.run = io.NewSectionReader(e.file, last, e.size-last)
	default:
		e.run = io.NewSectionReader(e.file, previous, end-previous)
	}
	return nil
}

// lineStart begins every line that a run writes.
const lineStart = `{"v":1,"seq":`

// checkTail returns a fault if the n bytes after the whole events cannot be what a killed process or a loss of power leaves:
// the beginning of an event, or zeros.
func (e *EventFile) checkTail(n int64) error {
	e.torn = n > 0
	head := make([]byte, min(n, 64))
	if _, err := e.file.ReadAt(head, e.size); err != nil && !errors.Is(err, io.EOF) {
		return e.unusable(err)
	}
	text := strings.Trim(string(head), "\x00 \r\n")
	if k := min(len(text), len(lineStart)); text[:k] != lineStart[:k] {
		return e.foreign("its last line is not an event")
	}
	return nil
}

func (e *EventFile) foreign(why string) error {
	return fault.New(fault.Usage, "The checkpoint file %s holds something else than events: %s", e.path, why).
		Suggest("Name a file that does not exist yet, or one that an earlier run has written")
}

// Run returns the events to go on from, or nil if the file has none: those of the last run. If that was killed before it had
// taken over what an earlier run had finished, they are those of the earlier one.
func (e *EventFile) Run() *io.SectionReader { return e.run }

// Mend removes the incomplete line at the end of the file. It is called before the first Write.
func (e *EventFile) Mend() error {
	if !e.torn {
		return nil
	}
	if err := e.file.Truncate(e.size); err != nil {
		return fault.New(fault.Internal, "Cannot mend the last line of the checkpoint file %s: %v", e.path, fault.Reason(err))
	}
	e.torn = false
	return nil
}

// Write appends a line in one write. After an error the file ends with its last whole line, and nothing more is written.
func (e *EventFile) Write(line []byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	n, err := e.file.Write(line)
	if err == nil && e.sync {
		err = e.file.Sync()
	}
	if err != nil {
		e.err = err
		_ = e.file.Truncate(e.size)
		return n, err
	}
	e.size += int64(n)
	return n, nil
}

// Err returns why a line could not be written, or nil.
func (e *EventFile) Err() error { return e.err }

// Path returns the file's path.
func (e *EventFile) Path() string { return e.path }

// Close closes and unlocks the file.
func (e *EventFile) Close() {
	if e.created && e.size == 0 && e.current() {
		_ = os.Remove(e.path)
	}
	if e.file != nil {
		_ = e.file.Close()
	}
	if e.lock != nil {
		_ = e.lock.Close()
	}
}
