package journal

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"

	"github.com/pflow-suite/pflow/pkg/home"
)

// originFile names the run that this one goes on from, until everything that is reused of it is in the journal. Then
// successorFile, in the directory of the earlier run, names this one.
const (
	originFile    = "taking_over"
	successorFile = "resumed_by"
)

// maxResumes bounds a chain of runs, in case the files form a cycle.
const maxResumes = 10_000

// ResumePoint returns the run to go on from: the last of the runs that went on from this one, or itself. It skips a run
// that was stopped before it had taken over everything from its origin: going on from that would run nodes again.
func (r *Reader) ResumePoint() *Reader {
	last := r.LastSuccessor()
	for range maxResumes {
		origin := last.linked(originFile)
		if origin == nil {
			break
		}
		if next := origin.linked(successorFile); next != nil && next.ID == last.ID {
			break // it has taken over everything, and was stopped before it removed its file
		}
		last = origin.LastSuccessor()
	}
	return last
}

// LastSuccessor returns the last of the runs that went on from this one, or itself.
func (r *Reader) LastSuccessor() *Reader {
	for range maxResumes {
		next := r.linked(successorFile)
		if next == nil {
			break
		}
		r = next
	}
	return r
}

// QueuedSuccessor returns the run that is to go on from this one, and waits because of the limit on concurrent runs, or nil.
func (r *Reader) QueuedSuccessor(h *home.Home) *Reader {
	all, err := List(h)
	if err != nil {
		return nil
	}
	for _, next := range all {
		if next.ID <= r.ID {
			break
		}
		if origin := next.linked(originFile); origin == nil || origin.ID != r.ID {
			continue
		}
		if status, _, err := next.Status(); err == nil && status == Queued {
			return next
		}
	}
	return nil
}

// linked returns the run that a file in this one's directory names, or nil.
func (r *Reader) linked(file string) *Reader {
	b, err := readShort(filepath.Join(r.dir, file))
	id := strings.TrimSpace(string(b))
	if err != nil || !IsID(id) {
		return nil
	}
	other := &Reader{ID: id, dir: filepath.Join(filepath.Dir(r.dir), id)}
	if !exists(other.dir) {
		return nil
	}
	return other
}

// MarkSuperseded records that the journal has everything that is reused of the run that this one goes on from. From then on
// a request to resume that run resumes this one.
func (r *Writer) MarkSuperseded(from *Reader) error {
	err := renameio.WriteFile(filepath.Join(from.dir, successorFile), []byte(r.ID+"\n"), 0o600)
	if err == nil {
		err = os.Remove(filepath.Join(r.dir, originFile))
	}
	if err != nil {
		return storageFault("record which run goes on from the resumed one", err)
	}
	return nil
}
