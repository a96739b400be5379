package journal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/input"
	"github.com/pflow-suite/pflow/pkg/process"
)

// Reader reads a run that any process executes or has executed.
type Reader struct {
	ID  string
	dir string
}

// The statuses of a run without a last event: a process executes it, a process waits until it may execute it, or it stopped
// without a last event.
const (
	Running     event.Status = "running"
	Queued      event.Status = "queued"
	Interrupted event.Status = "interrupted"
)

// IsLive reports whether a process has a run with the status: it executes it, or waits until it may.
func IsLive(s event.Status) bool { return s == Running || s == Queued }

// List returns the runs of a home, newest first.
func List(h *home.Home) ([]*Reader, error) {
	entries, err := os.ReadDir(h.Path("runs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, storageFault("list the runs", err)
	}
	var records []*Reader
	runs := h.Path("runs") + string(filepath.Separator)
	for _, e := range slices.Backward(entries) {
		if e.IsDir() && IsID(e.Name()) {
			records = append(records, &Reader{ID: e.Name(), dir: runs + e.Name()})
		}
	}
	return records, nil
}

// Folder opens the folder of a home's runs. It returns nil if the home has none.
func Folder(h *home.Home) (*os.File, error) {
	f, err := os.Open(h.Path("runs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, storageFault("list the runs", err)
	}
	return f, nil
}

// Find returns a run by its id, a prefix of the id that no other run has, or "last" for the newest.
func Find(h *home.Home, ref string) (*Reader, error) {
	if err := home.CheckPathless("run", ref); err != nil {
		return nil, err
	}
	if IsID(ref) {
		if r := At(h, ref); exists(r.dir) {
			return r, nil
		}
	}
	all, err := List(h)
	if err != nil {
		return nil, err
	}
	var found []*Reader
	for _, r := range all {
		if ref == "last" || ref != "" && strings.HasPrefix(r.ID, strings.ToLower(ref)) {
			found = append(found, r)
		}
		if ref == "last" && len(found) == 1 {
			break
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, notFound(ref)
	}
	f := fault.New(fault.Usage, "%d runs begin with %s", len(found), ref).Suggest("Give more characters of the id")
	for _, r := range found[:min(len(found), 10)] {
		f.Available = append(f.Available, r.ID)
	}
	return nil, f
}

// notFound returns the fault of a run that does not exist.
func notFound(ref string) *fault.Fault {
	if ref == "last" {
		return fault.New(fault.NotFound, "There is no run yet").Then(fault.Step{Do: fault.DoRun, Name: "WORKFLOW"})
	}
	return fault.New(fault.NotFound, "There is no run %s", ref).Suggest("Take the run_id of an answer, or last").Then(fault.Step{Do: fault.DoList})
}

// IsID reports whether a name has the form of a run's id.
func IsID(name string) bool {
	return len(name) == 27 && name[0] == 'r' && strings.Trim(name[1:], "0123456789abcdefghjkmnpqrstvwxyz") == ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Exists reports whether the home has a run with the id.
func Exists(h *home.Home, id string) bool { return IsID(id) && exists(h.Path("runs", id)) }

// Exists reports whether the run has not been removed.
func (r *Reader) Exists() bool { return exists(r.dir) }

// Definition returns the workflow's file as the run has stored it, without secrets.
func (r *Reader) Definition() ([]byte, error) {
	b, err := readFile(filepath.Join(r.dir, workflowFile), "The workflow of run "+r.ID, input.MaxDocument)
	if errors.Is(err, fs.ErrNotExist) && !r.Exists() {
		return nil, notFound(r.ID)
	}
	if err != nil {
		return nil, storageFault("read the run's workflow", err)
	}
	return b, nil
}

// Blob returns a long value of the run.
func (r *Reader) Blob(ref string) ([]byte, error) { return readBlob(r.dir, ref) }

// BlobBeside returns a long value from the folder beside a file of events that a run's directory has beside its journal.
func BlobBeside(events, ref string) ([]byte, error) { return readBlob(filepath.Dir(events), ref) }

// Open opens the journal for reading. If the run was removed since it was found, the error is that of a run that does not
// exist.
func (r *Reader) Open() (*os.File, error) {
	f, err := input.OpenRegular(filepath.Join(r.dir, journalFile), "The journal of run "+r.ID)
	if errors.Is(err, fs.ErrNotExist) && !r.Exists() {
		return nil, notFound(r.ID)
	}
	if err != nil {
		return nil, storageFault("read the run's journal", err)
	}
	return f, nil
}

// Size returns the number of bytes of the journal, or -1 if the run has no journal. runs is the open folder of the home's runs.
func (r *Reader) Size(runs *os.File) int64 {
	stamp, err := home.StampIn(runs, r.ID+"/"+journalFile)
	if err != nil {
		return -1
	}
	return stamp.Size
}

// FirstAndLast returns the first and the last event of the journal without reading those between. Both are nil if the
// journal is empty.
func (r *Reader) FirstAndLast() (first, last *event.Event, err error) {
	first, last, _, err = r.Ends()
	return first, last, err
}

// Ends is FirstAndLast with the number of bytes of the journal.
func (r *Reader) Ends() (first, last *event.Event, size int64, err error) {
	f, err := r.Open()
	if err != nil {
		return nil, nil, 0, err
	}
	defer func() { _ = f.Close() }()
	first, _, err = event.NewReader(f).Next()
	if errors.Is(err, io.EOF) {
		return nil, nil, 0, nil
	}
	if err != nil {
		return nil, nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, nil, 0, storageFault("read the run's journal", err)
	}
	last, err = lastEvent(f, info.Size())
	return first, last, info.Size(), err
}

// maxTail is how far from the end lastEvent looks. A line that a program of the suite writes is far shorter.
const maxTail = 64 << 20

// lastEvent returns the last whole line that is an event, or nil. It reads backwards from the end.
func lastEvent(f io.ReaderAt, size int64) (*event.Event, error) {
	for window := int64(16 << 10); ; window *= 8 {
		from := max(0, size-window)
		buf := make([]byte, size-from)
		if _, err := f.ReadAt(buf, from); err != nil && !errors.Is(err, io.EOF) {
			return nil, storageFault("read the run's journal", err)
		}
		end := bytes.LastIndexByte(buf, '\n') + 1
		for end > 0 {
			start := bytes.LastIndexByte(buf[:end-1], '\n') + 1
			if start == 0 && from > 0 {
				break
			}
			if e, _, err := event.NewReader(bytes.NewReader(buf[start:end])).Next(); err == nil {
				return e, nil
			}
			end = start
		}
		if from == 0 || window >= maxTail {
			return nil, nil
		}
	}
}

// Status returns Running, Queued, Interrupted, or how the run ended, with the last event that there is.
func (r *Reader) Status() (event.Status, *event.Event, error) {
	held := r.Held() // before the journal is read: a run that ends in between is not interrupted
	_, last, err := r.FirstAndLast()
	if err != nil {
		return "", nil, err
	}
	return StatusOf(last, held), last, nil
}

// StatusOf returns the status of a run from its last event, which may be nil, and from whether a process held the run
// before that was read.
func StatusOf(last *event.Event, held bool) event.Status {
	switch {
	case last != nil && last.IsTerminal():
		return last.Status
	case held && last != nil && last.Event == event.RunQueued:
		return Queued
	case held:
		return Running
	}
	return Interrupted
}

// CancelSignal asks the process that executes a run to cancel it. Unlike a second SIGTERM, a second one has no effect.
const CancelSignal = syscall.SIGUSR1

// Cancel asks the process that executes the run to cancel it. It reports whether there is one.
func (r *Reader) Cancel() (bool, error) {
	if !r.Held() {
		return false, nil
	}
	pid, err := holder(filepath.Join(r.dir, lockFile))
	if err != nil {
		return false, err
	}
	found := process.Signal(pid, CancelSignal)
	process.Signal(pid, syscall.SIGCONT) // a stopped process receives the other signal only when it continues
	return found, nil
}

// Follow calls each with every line of the journal, as they come, until the run's last event, the end of ctx, or each
// fails. For a run that was interrupted it returns after the last whole line.
func (r *Reader) Follow(ctx context.Context, each func(line []byte) error) error {
	f, err := r.Open()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	pause := 2 * time.Millisecond
	ended := false
	more := func() bool {
		if ended || ctx.Err() != nil {
			return false
		}
		if !r.Held() { // read once more: lines may have been written since the last read
			ended = true
			return true
		}
		timer := time.NewTimer(pause)
		defer timer.Stop()
		pause = min(pause*3/2, 100*time.Millisecond)
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return true
		}
	}
	err = follow(f, more, func(line []byte) error {
		pause = 2 * time.Millisecond
		ended = ended || bytes.Contains(line, []byte(`"event":"`+event.RunFinished+`"`)) // if that is wrong, the run ends when its lock is released
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return each(line)
	})
	if err == nil {
		err = context.Cause(ctx)
	}
	return err
}

// follow calls each with the whole lines of f. At the end of f it calls more, and if that returns false, it reads f once
// more and returns.
func follow(f io.Reader, more func() bool, each func(line []byte) error) error {
	var rest []byte
	buf := make([]byte, 64<<10)
	for last := false; ; {
		n, err := f.Read(buf)
		rest = append(rest, buf[:n]...)
		for {
			i := bytes.IndexByte(rest, '\n')
			if i < 0 {
				break
			}
			if err := each(rest[:i+1]); err != nil {
				return err
			}
			rest = rest[i+1:]
		}
		switch {
		case len(rest) > event.MaxLine: // no writer of a journal writes more
			return fault.New(fault.Validation, "A line of the run's journal has more than %d MiB, the limit of an event", event.MaxLine>>20)
		case n > 0:
		case err != nil && !errors.Is(err, io.EOF):
			return storageFault("read the run's journal", err)
		case last:
			return nil
		default:
			last = !more()
		}
	}
}
