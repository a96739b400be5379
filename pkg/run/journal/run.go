// Package journal is a run's directory: its journal, its lock, its status, and cancelling it from elsewhere.
//
// Whoever executes a run holds an exclusive lock on its lock file. So a run without run_finished and without a holder was
// interrupted, which any reader can tell at once.
package journal

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/oklog/ulid/v2"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

// The files of a run's directory.
const (
	journalFile  = "journal.ndjson"
	workflowFile = "workflow.json"
	lockFile     = "lock"
	blobsDir     = "blobs"
	logsDir      = "logs"
)

// Writer is a run that this process executes. Its methods may be called by several goroutines.
type Writer struct {
	ID  string
	dir string

	mu      sync.Mutex
	lock    *flock.Flock
	journal *os.File
	size    int64
	seq     int64
	sync    bool
	grown   chan struct{}
	ended   chan struct{}
}

// Options are how a run is recorded.
type Options struct {
	// Definition is the workflow file that runs.
	Definition []byte
	// ResumedFrom is the run that this one goes on from; empty for none.
	ResumedFrom string
	// Sync makes every event reach the disk before the run goes on.
	Sync bool
}

// NewID is a new run's id: r and a ULID in lower case, so that ids sort by time.
func NewID() (string, error) {
	id, err := ulid.New(ulid.Now(), rand.Reader)
	if err != nil {
		return "", fault.New(fault.Internal, "no run id could be made: %v", err)
	}
	return "r" + strings.ToLower(id.String()), nil
}

// Create makes a run's directory and locks it. It is made under a temporary name, so that no reader sees half of it.
func Create(h *home.Home, o Options) (*Writer, error) {
	id, err := NewID()
	if err != nil {
		return nil, err
	}
	runs, err := h.Make("runs")
	if err != nil {
		return nil, err
	}
	making := filepath.Join(runs, newPrefix+id)
	r := &Writer{ID: id, dir: filepath.Join(runs, id), sync: o.Sync, grown: make(chan struct{}, 1), ended: make(chan struct{})}
	if err := r.make(making, o); err != nil {
		r.Close()
		_ = os.RemoveAll(making)
		return nil, recordFault("create the run's directory", err)
	}
	return r, nil
}

func (r *Writer) make(dir string, o Options) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	lock := filepath.Join(dir, lockFile)
	if err := os.WriteFile(lock, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		return err
	}
	r.lock = flock.New(lock)
	if ok, err := r.lock.TryLock(); !ok {
		return errors.Join(errors.New("the lock is held"), err)
	}
	if err := os.WriteFile(filepath.Join(dir, workflowFile), o.Definition, 0o600); err != nil {
		return err
	}
	if o.ResumedFrom != "" {
		if err := os.WriteFile(filepath.Join(dir, originFile), []byte(o.ResumedFrom+"\n"), 0o600); err != nil {
			return err
		}
	}
	var err error
	if r.journal, err = os.OpenFile(filepath.Join(dir, journalFile), os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, 0o600); err != nil {
		return err
	}
	return os.Rename(dir, r.dir)
}

// Remove takes away the record of a run of which nothing could be recorded, and says whether it was one.
func (r *Writer) Remove() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.size == 0 && os.RemoveAll(r.dir) == nil
}

// Dir is the run's directory.
func (r *Writer) Dir() string { return r.dir }

// Append numbers and dates an event and writes it to the journal in one write. After an error the journal ends with the
// last whole line.
func (r *Writer) Append(e *event.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.V, e.Run, e.Seq, e.Time, e.At = event.Version, r.ID, r.seq+1, time.Now().UTC(), r.size
	line, err := e.Line()
	if err != nil {
		return err
	}
	if _, err := r.journal.Write(line); err != nil {
		_ = r.journal.Truncate(r.size)
		return recordFault("write the run's journal", err)
	}
	if r.sync {
		if err := r.journal.Sync(); err != nil {
			return recordFault("sync the run's journal", err)
		}
	}
	r.seq++
	r.size += int64(len(line))
	select {
	case r.grown <- struct{}{}:
	default:
	}
	return nil
}

// Line reads the line of an event that was appended, by its At.
func (r *Writer) Line(at int64) ([]byte, error) {
	line, err := bufio.NewReader(io.NewSectionReader(r.journal, at, event.MaxLine)).ReadBytes('\n')
	if err != nil {
		return nil, recordFault("read the run's journal", err)
	}
	return line, nil
}

// Log is a writer for what a node says on one of its streams, "stdout" or "stderr". The file is made by the first write.
func (r *Writer) Log(node, stream string) io.WriteCloser {
	return &logFile{dir: filepath.Join(r.dir, logsDir), node: node, stream: stream}
}

// Follow passes every line of the journal to each, as they come, until Close or until each fails.
func (r *Writer) Follow(each func(line []byte) error) error {
	f, err := os.Open(filepath.Join(r.dir, journalFile))
	if err != nil {
		return recordFault("read the run's journal", err)
	}
	defer func() { _ = f.Close() }()
	return follow(f, r.more, each)
}

// together is how long a follower waits for more events to pass on with one that has come: to be woken for each of many
// short nodes would slow them down.
const together = 2 * time.Millisecond

// more waits for the journal to grow; false is its end.
func (r *Writer) more() bool {
	select {
	case <-r.ended:
		return false
	case <-r.grown:
	}
	timer := time.NewTimer(together)
	defer timer.Stop()
	select {
	case <-r.ended:
		return false
	case <-timer.C:
		return true
	}
}

// EndFollowers lets those who follow the journal read it to its end and return. Nothing may be appended afterwards.
func (r *Writer) EndFollowers() { close(r.ended) }

// Close lets go of the lock.
func (r *Writer) Close() {
	if r.journal != nil {
		_ = r.journal.Close()
	}
	if r.lock != nil {
		_ = r.lock.Close()
	}
}

// safeFile makes a file name of a node's id; ids may hold anything.
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

// logName is the name of a log's file.
func logName(node, stream string) string { return safeFile(node) + "." + stream }

// logFile is created when there is something to say.
type logFile struct {
	dir, node, stream string
	f                 *os.File
}

func (l *logFile) Write(p []byte) (int, error) {
	if l.f == nil {
		if err := os.MkdirAll(l.dir, 0o700); err != nil {
			return 0, recordFault(logging, err)
		}
		f, err := os.OpenFile(filepath.Join(l.dir, logName(l.node, l.stream)), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return 0, recordFault(logging, err)
		}
		l.f = f
	}
	n, err := l.f.Write(p)
	if err != nil {
		err = recordFault(logging, err)
	}
	return n, err
}

// logging is what was to be done when a log could not be written.
const logging = "keep what a node says"

func (l *logFile) Close() error {
	if l.f == nil {
		return nil
	}
	return l.f.Close()
}

// recordFault is the fault of a record that cannot be kept. It names no path.
func recordFault(what string, err error) *fault.Fault {
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f
	}
	return fault.New(fault.Internal, "Cannot %s: %v", what, fault.Reason(err)).
		Suggest("Check the space and the permissions of the home folder (PFLOW_HOME, by default ~/.pflow), and try again")
}
