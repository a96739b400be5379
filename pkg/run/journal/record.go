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
	"github.com/pflow-suite/pflow/pkg/process"
)

// Reader is a run as anyone may read it, whoever executes or executed it.
type Reader struct {
	ID  string
	dir string
}

// The states besides those that an event gives: being executed, and stopped without a last word.
const (
	Running     event.Status = "running"
	Interrupted event.Status = "interrupted"
)

// List gives the runs of a home, the newest first.
func List(h *home.Home) ([]*Reader, error) {
	entries, err := os.ReadDir(h.Path("runs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, recordFault("list the runs", err)
	}
	var records []*Reader
	for _, e := range slices.Backward(entries) {
		if e.IsDir() && isID(e.Name()) {
			records = append(records, &Reader{ID: e.Name(), dir: h.Path("runs", e.Name())})
		}
	}
	return records, nil
}

// Find gives a run by its id, a prefix of it that no other has, or "last".
func Find(h *home.Home, ref string) (*Reader, error) {
	if err := home.CheckPathless("run", ref); err != nil {
		return nil, err
	}
	if isID(ref) {
		if r := (&Reader{ID: ref, dir: h.Path("runs", ref)}); exists(r.dir) {
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
		return nil, fault.New(fault.NotFound, "There is no run %s", ref).Suggest("pflow-exec list shows the runs there are")
	}
	f := fault.New(fault.Usage, "%d runs begin with %s", len(found), ref).Suggest("Give more of the id")
	for _, r := range found[:min(len(found), 10)] {
		f.Available = append(f.Available, r.ID)
	}
	return nil, f
}

// isID says whether a name has the form of a run's id.
func isID(name string) bool {
	return len(name) == 27 && name[0] == 'r' && strings.Trim(name[1:], "0123456789abcdefghjkmnpqrstvwxyz") == ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Exists says whether the run has not been removed meanwhile.
func (r *Reader) Exists() bool { return exists(r.dir) }

// Definition is the workflow file that ran.
func (r *Reader) Definition() ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(r.dir, workflowFile))
	if err != nil {
		return nil, recordFault("read the run's workflow", err)
	}
	return b, nil
}

// Blob fetches a long value of the run.
func (r *Reader) Blob(ref string) ([]byte, error) { return readBlob(r.dir, ref) }

// Open opens the journal for reading.
func (r *Reader) Open() (*os.File, error) {
	f, err := os.Open(filepath.Join(r.dir, journalFile))
	if err != nil {
		return nil, recordFault("read the run's journal", err)
	}
	return f, nil
}

// FirstAndLast gives the first and the last event of the journal without reading what is between. Either is nil where the
// journal has none.
func (r *Reader) FirstAndLast() (first, last *event.Event, err error) {
	f, err := os.Open(filepath.Join(r.dir, journalFile))
	if err != nil {
		return nil, nil, recordFault("read the run's journal", err)
	}
	defer func() { _ = f.Close() }()
	first, _, err = event.NewReader(f).Next()
	if errors.Is(err, io.EOF) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, nil, recordFault("read the run's journal", err)
	}
	last, err = lastEvent(f, info.Size())
	return first, last, err
}

// lastEvent reads the last whole line that is an event, looking back from the end as far as it has to.
func lastEvent(f io.ReaderAt, size int64) (*event.Event, error) {
	for window := int64(16 << 10); ; window *= 8 {
		from := max(0, size-window)
		buf := make([]byte, size-from)
		if _, err := f.ReadAt(buf, from); err != nil && !errors.Is(err, io.EOF) {
			return nil, recordFault("read the run's journal", err)
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
		if from == 0 {
			return nil, nil
		}
	}
}

// Status is running, interrupted, or how the run ended.
func (r *Reader) Status() (event.Status, *event.Event, error) {
	held := r.Held() // asked first: a run that ends between the two questions has ended, not been interrupted
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
	case held:
		return Running
	}
	return Interrupted
}

// CancelSignal asks a process that executes a run to stop it. It may come more than once, and is no sign of impatience as
// a second SIGTERM is.
const CancelSignal = syscall.SIGUSR1

// Cancel asks the process that executes the run to stop it in order. It is false when no process does.
func (r *Reader) Cancel() (bool, error) {
	if !r.Held() {
		return false, nil
	}
	pid, err := holder(filepath.Join(r.dir, lockFile))
	if err != nil {
		return false, err
	}
	found := process.Signal(pid, CancelSignal)
	process.Signal(pid, syscall.SIGCONT) // one that was stopped hears of it only when it goes on
	return found, nil
}

// Follow passes every line of the journal to each, as they come, until the run's last event, or the end of ctx, or each
// fails. A run that was interrupted ends with its last whole line.
func (r *Reader) Follow(ctx context.Context, each func(line []byte) error) error {
	f, err := os.Open(filepath.Join(r.dir, journalFile))
	if err != nil {
		return recordFault("read the run's journal", err)
	}
	defer func() { _ = f.Close() }()
	pause := 2 * time.Millisecond
	ended := false
	more := func() bool {
		if ended || ctx.Err() != nil {
			return false
		}
		if !r.Held() { // one more look: what was written between the last look and now
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
		ended = ended || bytes.Contains(line, []byte(`"event":"`+event.RunFinished+`"`)) // a guess is enough: the holder's end decides otherwise
		return each(line)
	})
	if err == nil {
		err = context.Cause(ctx)
	}
	return err
}

// follow passes on the whole lines of f and asks more at its end; false is the end of it all, after one last look.
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
		case n > 0:
		case err != nil && !errors.Is(err, io.EOF):
			return recordFault("read the run's journal", err)
		case last:
			return nil
		default:
			last = !more()
		}
	}
}
