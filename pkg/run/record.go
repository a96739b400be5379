package run

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/proc"
)

// Record is a run as anyone may read it, whoever executes or executed it.
type Record struct {
	ID  string
	dir string
}

// The states besides those that an event gives: being executed, and stopped without a last word.
const (
	Running     event.Status = "running"
	Interrupted event.Status = "interrupted"
)

// List gives the runs of a home, the newest first.
func List(h *home.Home) ([]*Record, error) {
	entries, err := os.ReadDir(h.Path("runs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, recordFault("list the runs", err)
	}
	var records []*Record
	for _, e := range slices.Backward(entries) {
		if e.IsDir() && isID(e.Name()) {
			records = append(records, &Record{ID: e.Name(), dir: h.Path("runs", e.Name())})
		}
	}
	return records, nil
}

// Find gives a run by its id, a prefix of it that no other has, or "last".
func Find(h *home.Home, ref string) (*Record, error) {
	if err := home.CheckPathless("run", ref); err != nil {
		return nil, err
	}
	if isID(ref) {
		if r := (&Record{ID: ref, dir: h.Path("runs", ref)}); exists(r.dir) {
			return r, nil
		}
	}
	all, err := List(h)
	if err != nil {
		return nil, err
	}
	var found []*Record
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

// originFile names the run that this one goes on from, as long as not all that can be taken over stands in its journal;
// from then on successorFile names it in the earlier run's folder.
const (
	originFile    = "taking_over"
	successorFile = "resumed_by"
)

// maxResumes is more than anybody makes one after the other.
const maxResumes = 10_000

// Newest is the run to go on from: this one, or the last in the line of those that went on from it. One that was stopped
// while it still took over what an earlier run had is none of that line: going on from it would do again what it had not
// come to.
func (r *Record) Newest() *Record {
	last := r.Latest()
	for range maxResumes {
		origin := last.named(originFile)
		if origin == nil {
			break
		}
		last = origin.Latest()
	}
	return last
}

// Latest is the last in the line of those that went on from this run; itself when there is none.
func (r *Record) Latest() *Record {
	for range maxResumes {
		next := r.named(successorFile)
		if next == nil {
			break
		}
		r = next
	}
	return r
}

// named is the run that a file of this one's directory names, or nil when there is none.
func (r *Record) named(file string) *Record {
	b, err := os.ReadFile(filepath.Join(r.dir, file))
	id := strings.TrimSpace(string(b))
	if err != nil || !isID(id) {
		return nil
	}
	other := &Record{ID: id, dir: filepath.Join(filepath.Dir(r.dir), id)}
	if !exists(other.dir) {
		return nil
	}
	return other
}

// There says whether the run has not been removed meanwhile.
func (r *Record) There() bool { return exists(r.dir) }

// Definition is the workflow file that ran.
func (r *Record) Definition() ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(r.dir, workflowFile))
	if err != nil {
		return nil, recordFault("read the run's workflow", err)
	}
	return b, nil
}

// Blob fetches a long value of the run.
func (r *Record) Blob(ref string) ([]byte, error) { return readBlob(r.dir, ref) }

// Open opens the journal for reading.
func (r *Record) Open() (*os.File, error) {
	f, err := os.Open(filepath.Join(r.dir, journalFile))
	if err != nil {
		return nil, recordFault("read the run's journal", err)
	}
	return f, nil
}

// Ends gives the first and the last event of the journal without reading what is between. Either is nil where the
// journal has none.
func (r *Record) Ends() (first, last *event.Event, err error) {
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
func (r *Record) Status() (event.Status, *event.Event, error) {
	held := r.Held() // asked first: a run that ends between the two questions has ended, not been interrupted
	_, last, err := r.Ends()
	switch {
	case err != nil:
		return "", nil, err
	case last != nil && last.Ends():
		return last.Status, last, nil
	case held:
		return Running, last, nil
	}
	return Interrupted, last, nil
}

// resuming is what a lock file begins with while another run goes on from this one.
const resuming = "resuming "

// fallen is what a lock file begins with when the record of the run could not be kept.
const fallen = "fell: "

// Fallen says why a run that was interrupted was: because its record could not be kept; empty when nobody knows.
func (r *Record) Fallen() string {
	b, err := os.ReadFile(filepath.Join(r.dir, lockFile))
	why, ok := strings.CutPrefix(string(b), fallen)
	if err != nil || !ok {
		return ""
	}
	return strings.TrimSpace(why)
}

// Held says whether some process executes the run.
func (r *Record) Held() bool {
	path := filepath.Join(r.dir, lockFile)
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
	ok, err := lock.TryRLock()
	defer func() { _ = lock.Close() }()
	if ok || err != nil {
		return false
	}
	pid, err := holder(path)
	return err == nil && proc.Signal(pid, 0)
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
func (r *Record) Hold(ctx context.Context) (release func(), err error) {
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

// Cancel asks the process that executes the run to stop it in order. It is false when no process does.
func (r *Record) Cancel() (bool, error) {
	if !r.Held() {
		return false, nil
	}
	pid, err := holder(filepath.Join(r.dir, lockFile))
	if err != nil {
		return false, err
	}
	found := proc.Signal(pid, syscall.SIGTERM)
	proc.Signal(pid, syscall.SIGCONT) // one that was stopped hears of it only when it goes on
	return found, nil
}

// Follow passes every line of the journal to each, as they come, until the run's last event, or the end of ctx, or each
// fails. A run that was interrupted ends with its last whole line.
func (r *Record) Follow(ctx context.Context, each func(line []byte) error) error {
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
