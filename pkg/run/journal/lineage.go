package journal

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
)

// originFile names the run that this one goes on from, as long as not all that can be taken over stands in its journal;
// from then on successorFile names it in the earlier run's folder.
const (
	originFile    = "taking_over"
	successorFile = "resumed_by"
)

// maxResumes is more than anybody makes one after the other.
const maxResumes = 10_000

// ResumePoint is the run to go on from: this one, or the last in the line of those that went on from it. One that was stopped
// while it still took over what an earlier run had is none of that line: going on from it would do again what it had not
// come to.
func (r *Reader) ResumePoint() *Reader {
	last := r.LastSuccessor()
	for range maxResumes {
		origin := last.named(originFile)
		if origin == nil {
			break
		}
		if next := origin.named(successorFile); next != nil && next.ID == last.ID {
			break // it has taken over all, and was stopped before it said so itself
		}
		last = origin.LastSuccessor()
	}
	return last
}

// LastSuccessor is the last in the line of those that went on from this run; itself when there is none.
func (r *Reader) LastSuccessor() *Reader {
	for range maxResumes {
		next := r.named(successorFile)
		if next == nil {
			break
		}
		r = next
	}
	return r
}

// ResumeCommand returns the command line that goes on from a run.
func ResumeCommand(id string) string { return "pflow-exec resume " + id }

// named is the run that a file of this one's directory names, or nil when there is none.
func (r *Reader) named(file string) *Reader {
	b, err := os.ReadFile(filepath.Join(r.dir, file))
	id := strings.TrimSpace(string(b))
	if err != nil || !isID(id) {
		return nil
	}
	other := &Reader{ID: id, dir: filepath.Join(filepath.Dir(r.dir), id)}
	if !exists(other.dir) {
		return nil
	}
	return other
}

// MarkSuperseded notes that all that can be taken over from the run that this one goes on from stands in the journal: from now
// on whoever goes on from that one goes on from this one.
func (r *Writer) MarkSuperseded(from *Reader) error {
	err := renameio.WriteFile(filepath.Join(from.dir, successorFile), []byte(r.ID+"\n"), 0o600) // from here on it is so
	if err == nil {
		err = os.Remove(filepath.Join(r.dir, originFile))
	}
	if err != nil {
		return recordFault("note what goes on from the run", err)
	}
	return nil
}
