package reader

import (
	"cmp"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/run/index"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// Statuses are those that a run can have.
func Statuses() []event.Status {
	return []event.Status{
		journal.Running, journal.Queued, journal.Interrupted, event.Completed, event.Degraded, event.Failed, event.Cancelled, event.TimedOut, event.Paused, event.Denied,
	}
}

// Summary is a run in a list.
type Summary struct {
	RunID     string       `json:"run_id"`
	Workflow  string       `json:"workflow"`
	Status    event.Status `json:"status"`
	StartedAt *time.Time   `json:"started_at,omitempty"`
	// DurationMS is how long the run took, or nil if it has not ended.
	DurationMS *float64 `json:"duration_ms,omitempty"`
}

// List returns the runs that a query selects, the newest first. An error together with a run's id is about that run alone.
//
// It takes what it needs to know about runs that have ended from the index of the home, and opens only the directories of the
// others. Those that have ended it adds to the index.
func (r *Runs) List(q Query) iter.Seq2[Summary, error] {
	return func(yield func(Summary, error) bool) {
		if err := q.Check(); err != nil {
			yield(Summary{}, err)
			return
		}
		s, err := r.survey()
		if err != nil {
			yield(Summary{}, err)
		}
		if s == nil {
			return
		}
		defer s.settle()
		for _, rec := range s.records {
			if q.Before != "" && rec.ID >= q.Before {
				continue
			}
			f, err := s.find(rec, &q)
			if err == nil && f == nil {
				continue
			}
			if err != nil {
				if rec.Exists() && !yield(Summary{RunID: rec.ID}, err) { // else it was removed meanwhile
					return
				}
				continue
			}
			if !yield(Summary{f.Run, f.Workflow, f.Status, f.StartedAt, f.DurationMS}, nil) {
				return
			}
		}
	}
}

// survey is what a list knows of the runs of a home.
type survey struct {
	runs    *Runs
	folder  *os.File          // of the runs
	records []*journal.Reader // newest first
	index   *index.Index
	// ended are the runs that the index does not have.
	ended []*index.Facts
	// selected is how many runs of the index a query has selected.
	selected int
}

// mostChecked is how many runs of a list are checked for a journal that was replaced, such as by one of a backup. A look at each of
// 10,000 takes as long as all the rest of a list.
const mostChecked = 1000

// survey returns what the home has of runs, or nil if it never had one.
func (r *Runs) survey() (*survey, error) {
	records, err := journal.List(r.home)
	if err != nil {
		return nil, err
	}
	folder, err := journal.Folder(r.home)
	if folder == nil || err != nil {
		return nil, err
	}
	return &survey{runs: r, folder: folder, records: records, index: index.Read(r.home, len(records))}, nil
}

// settle adds to the index what it did not have, and ends the survey.
func (s *survey) settle() {
	_ = s.index.Update(s.ended, s.exists, false)
	_ = s.folder.Close()
}

// exists reports whether the home has a run, which may be newer than the survey.
func (s *survey) exists(run string) bool { return s.lists(run) || journal.Exists(s.runs.home, run) }

// lists reports whether the home had a run when it was surveyed.
func (s *survey) lists(run string) bool {
	_, ok := slices.BinarySearchFunc(s.records, run, func(rec *journal.Reader, run string) int { return strings.Compare(run, rec.ID) })
	return ok
}

// find returns the facts of a run if the query selects it, else nil.
func (s *survey) find(rec *journal.Reader, q *Query) (*index.Facts, error) {
	if f := s.index.Get(rec.ID); f != nil {
		switch q.match(f, rec.Blob) {
		case no:
			return nil, nil
		case yes:
			if s.selected++; s.selected > mostChecked || f.Size == rec.Size(s.folder) {
				return f, nil
			}
		}
	}
	f, err := s.read(rec)
	if err != nil || q.match(f, rec.Blob) == no {
		return nil, err
	}
	return f, nil
}

// read reads the facts of a run from its journal.
func (s *survey) read(rec *journal.Reader) (*index.Facts, error) {
	f, err := facts(rec)
	if err == nil && f.Ended() {
		s.ended = append(s.ended, f)
	}
	return f, err
}

func facts(rec *journal.Reader) (*index.Facts, error) {
	held := rec.Held()
	first, last, size, err := rec.Ends()
	if err != nil {
		return nil, err
	}
	status := journal.StatusOf(last, held)
	if last != nil && !last.IsTerminal() {
		last = nil
	}
	f := index.Of(rec.ID, first, last, rec.Blob)
	f.Status, f.Size = status, size
	if f.Status == journal.Interrupted {
		f.Error = (&Run{rec}).interruption().Message
	}
	return f, nil
}

// Newest returns the id of the newest run of a workflow, or "". A workflow with a path is known by it, as given or with links resolved,
// another one by its name. If there is none and the workflow has a path, likely is the newest run of another file of that name, or of one that
// is gone: the workflow may have been moved.
func (r *Runs) Newest(name, path string) (id, likely string, err error) {
	s, err := r.survey()
	if s == nil || err != nil {
		return "", "", err
	}
	defer s.settle()
	file := resolved(path)
	links, gone := map[string]string{"": ""}, ""
	for _, rec := range s.records {
		f := s.index.Get(rec.ID)
		if f == nil {
			if f, err = s.read(rec); err != nil {
				continue // removed meanwhile, or damaged
			}
		}
		if f.StartedAt == nil {
			continue
		}
		target, known := links[f.Path]
		if !known {
			target = resolved(f.Path)
			links[f.Path] = target
		}
		switch {
		case path == "" && f.Workflow == name && f.Path == "" && rec.Exists(), path != "" && (f.Path == path || file != "" && target == file) && rec.Exists():
			return rec.ID, "", nil
		case path == "" || f.Path == "":
		case likely == "" && filepath.Base(f.Path) == filepath.Base(path):
			likely = rec.ID
		case gone == "" && target == "":
			gone = rec.ID
		}
	}
	return "", cmp.Or(likely, gone), nil
}

// resolved returns a path with its links resolved, or "" if nothing is there.
func resolved(path string) string {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return target
}

// Record adds a run that has just ended to the index.
func (r *Runs) Record(id string) {
	rec, err := journal.Find(r.home, id)
	if err != nil {
		return
	}
	if f, err := facts(rec); err == nil && f.Ended() {
		_ = index.Append(r.home, f) // or the next list adds it
	}
}
