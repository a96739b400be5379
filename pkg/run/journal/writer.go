// Package journal keeps runs in directories of their own: the journal of events, long values, logs, and a lock file.
//
// The process that executes a run holds an exclusive lock on its lock file. A run without a last event that no process
// holds was interrupted.
package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

// The files and folders in a run's directory.
const (
	journalFile  = "journal.ndjson"
	workflowFile = "workflow.json"
	lockFile     = "lock"
	blobsDir     = "blobs"
	logsDir      = "logs"
)

// Writer records a run that this process executes. Its methods may be called by several goroutines.
type Writer struct {
	ID string
	// dir is the run's directory. It has a temporary name until the first event is in the journal.
	dir       string
	published bool
	begun     func(id string) error
	copyTo    io.Writer
	now       func() time.Time

	mu      sync.Mutex
	lock    *flock.Flock
	journal *os.File
	size    int64
	seq     int64
	sync    bool
	// scratches are removed by Close.
	scratches scratches
	grown     chan struct{}
	ended     chan struct{}
}

// Options say how a run is recorded.
type Options struct {
	// Definition is the workflow's file.
	Definition []byte
	// ResumedFrom is the id of the run that this one goes on from, or empty.
	ResumedFrom string
	// Sync writes every event through to the disk before Append returns.
	Sync bool
	// Begun is called with the id of the run when its first event is in the journal and other processes can find it. If it
	// fails, the first Append fails and the run disappears again. It may be nil.
	Begun func(id string) error
	// Copy receives each line of the journal, in order and in one write, once the journal has it. Its errors are ignored. It may
	// be nil.
	Copy io.Writer
	// Now returns the time for the run's id and its events; nil means time.Now.
	Now func() time.Time
}

// Create makes and locks the directory of a new run. Other processes do not see the run before Append has written its first
// event, so every run that they see has one, whenever this process is killed.
func Create(h *home.Home, o Options) (*Writer, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	runs, err := h.Make("runs")
	if err != nil {
		return nil, err
	}
	id, err := newID(runs, o.Now())
	if err != nil {
		return nil, err
	}
	r := &Writer{
		ID: id, dir: filepath.Join(runs, newPrefix+id), begun: o.Begun, copyTo: o.Copy, now: o.Now, sync: o.Sync,
		grown: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	if err := r.make(o); err != nil {
		r.Close()
		_ = os.RemoveAll(r.dir)
		return nil, storageFault("create the run's directory", err)
	}
	return r, nil
}

// make creates the files in the directory.
func (r *Writer) make(o Options) error {
	lock := filepath.Join(r.dir, lockFile)
	if err := os.WriteFile(lock, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		return err
	}
	r.lock = flock.New(lock)
	if ok, err := r.lock.TryLock(); !ok {
		return errors.Join(errors.New("the lock is held"), err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, workflowFile), o.Definition, 0o600); err != nil {
		return err
	}
	if o.ResumedFrom != "" {
		if err := os.WriteFile(filepath.Join(r.dir, originFile), []byte(o.ResumedFrom+"\n"), 0o600); err != nil {
			return err
		}
	}
	var err error
	r.journal, err = os.OpenFile(filepath.Join(r.dir, journalFile), os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, 0o600)
	return err
}

// publish gives the run's directory its name. After an error other processes do not see the run.
func (r *Writer) publish() error {
	runs := filepath.Dir(r.dir)
	if err := r.rename(filepath.Join(runs, r.ID)); err != nil {
		return storageFault("create the run's directory", err)
	}
	if r.sync {
		if err := errors.Join(syncDir(r.dir), syncDir(runs)); err != nil {
			return errors.Join(storageFault("sync the run's directory", err), r.rename(filepath.Join(runs, removedPrefix+r.ID)))
		}
	}
	if r.begun != nil {
		if err := r.begun(r.ID); err != nil {
			return errors.Join(err, r.rename(filepath.Join(runs, removedPrefix+r.ID)))
		}
	}
	r.published = true
	return nil
}

func (r *Writer) rename(dir string) error {
	err := os.Rename(r.dir, dir)
	if err == nil {
		r.dir = dir
	}
	return err
}

// Remove removes the directory of a run without events. It reports whether the run had none and was removed.
func (r *Writer) Remove() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.size == 0 && os.RemoveAll(r.dir) == nil
}

// Dir returns the run's directory.
func (r *Writer) Dir() string { return r.dir }

// Append sets the number and the time of an event and writes it to the journal in one write. With the first event the run
// begins: see Options.Begun. After an error the journal ends with its last whole line.
func (r *Writer) Append(e *event.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.V, e.Run, e.Seq, e.Time, e.At = event.Version, r.ID, r.seq+1, r.now().UTC(), r.size
	line, err := e.Line()
	if err != nil {
		return err
	}
	if _, err := r.journal.Write(line); err != nil {
		_ = r.journal.Truncate(r.size)
		return storageFault("write the run's journal", err)
	}
	if r.sync {
		if err := r.journal.Sync(); err != nil {
			return storageFault("sync the run's journal", err)
		}
	}
	if !r.published {
		if err := r.publish(); err != nil {
			_ = r.journal.Truncate(0)
			return err
		}
	}
	if r.copyTo != nil {
		_, _ = r.copyTo.Write(line)
	}
	r.seq++
	r.size += int64(len(line))
	select {
	case r.grown <- struct{}{}:
	default:
	}
	return nil
}

// Line returns the line of an event that was appended, by the event's At.
func (r *Writer) Line(at int64) ([]byte, error) {
	line, err := bufio.NewReader(io.NewSectionReader(r.journal, at, event.MaxLine)).ReadBytes('\n')
	if err != nil {
		return nil, storageFault("read the run's journal", err)
	}
	return line, nil
}

// Log returns a writer for the output of a node on a stream, "stdout" or "stderr". The first write creates the file.
func (r *Writer) Log(node, stream string) io.WriteCloser {
	return &logFile{dir: filepath.Join(r.dir, logsDir), node: node, stream: stream}
}

// Follow calls each with every line of the journal, as they come, until EndFollowers or until each fails.
func (r *Writer) Follow(each func(line []byte) error) error {
	return follow(io.NewSectionReader(r.journal, 0, math.MaxInt64), r.more, each)
}

// followDelay is how long a follower waits for more events after the first: waking it for each would slow down short nodes.
const followDelay = 2 * time.Millisecond

// more waits for the journal to grow. It returns false at its end.
func (r *Writer) more() bool {
	select {
	case <-r.ended:
		return false
	case <-r.grown:
	}
	timer := time.NewTimer(followDelay)
	defer timer.Stop()
	select {
	case <-r.ended:
		return false
	case <-timer.C:
		return true
	}
}

// EndFollowers makes Follow return once it has read the journal to its end. Nothing may be appended afterwards.
func (r *Writer) EndFollowers() { close(r.ended) }

// Close removes the scratch files, closes the journal, and releases the lock.
func (r *Writer) Close() {
	r.scratches.remove()
	if r.journal != nil {
		_ = r.journal.Close()
	}
	if r.lock != nil {
		_ = r.lock.Close()
	}
}

// safeFile returns a file name for a node's path, which may contain any character.
func safeFile(node string) string {
	var b strings.Builder
	for i := range len(node) {
		c := node[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	name := b.String()
	if len(name) > 100 {
		name = name[:60] + strings.TrimPrefix(event.Digest([]byte(node)), "sha256:")[:32]
	}
	return name
}

// logName returns the name of the file of a log.
func logName(node, stream string) string { return safeFile(node) + "." + stream }

// logFile creates its file at the first write.
type logFile struct {
	dir, node, stream string
	f                 *os.File
}

func (l *logFile) Write(p []byte) (int, error) {
	if l.f == nil {
		if err := os.MkdirAll(l.dir, 0o700); err != nil {
			return 0, storageFault(storeLog, err)
		}
		f, err := os.OpenFile(filepath.Join(l.dir, logName(l.node, l.stream)), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return 0, storageFault(storeLog, err)
		}
		l.f = f
	}
	n, err := l.f.Write(p)
	if err != nil {
		err = storageFault(storeLog, err)
	}
	return n, err
}

// storeLog is the operation that a fault of a log names.
const storeLog = "store the output of a node"

func (l *logFile) Close() error {
	if l.f == nil {
		return nil
	}
	return l.f.Close()
}

// storageFault returns the fault of an operation on a run's directory. It does not repeat paths.
func storageFault(operation string, err error) *fault.Fault {
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f
	}
	return fault.New(fault.Internal, "Cannot %s: %v", operation, fault.Reason(err)).
		Suggest("Check the space and the permissions of the home folder (PFLOW_HOME, by default ~/.pflow), and try again")
}
