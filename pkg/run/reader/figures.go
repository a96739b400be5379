package reader

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/run/index"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// statsFolder has a NAME.json for a saved workflow of which the home has removed runs, and a drafts/NAME.json for such a draft.
const (
	statsFolder = "stats"
	ofDrafts    = "drafts"
	figuresType = ".json"
)

// figures are the content of such a file: the figures of the runs that the home does not have any more.
type figures struct {
	Stats
	// Durations are those of the last runs, in milliseconds, oldest first. The file of an old version has none.
	Durations []float64 `json:"durations_ms,omitempty"`
	// TotalUS is the time of all runs in microseconds, which add up exactly. The file of an old version has 0.
	TotalUS int64 `json:"total_duration_us,omitempty"`
	// Before is when the workflow was removed that had the name before, or zero: no run counts that started until then.
	Before time.Time `json:"before,omitzero"`
	// Included are the runs that the figures have counted last. The home still has those that were not removed after all.
	Included []string `json:"included,omitempty"`
}

// keptDurations is how many durations statistics use.
const keptDurations = 100

// place returns the place of the figures in the home.
func (of Source) place() []string {
	if of.Saved {
		return []string{statsFolder, of.Name + figuresType}
	}
	return []string{statsFolder, ofDrafts, of.Name + figuresType}
}

// readFigures reads the figures of a workflow, which are zero if there is no file. If the file is not valid, they are zero too, and
// broken says so.
func (r *Runs) readFigures(of Source) (f *figures, broken *fault.Fault, err error) {
	f = &figures{}
	b, err := r.home.Read(of.place()...)
	if err != nil || b == nil {
		return f, nil, err
	}
	if json.Unmarshal(b, f) == nil {
		return f, nil, nil
	}
	broken = fault.New(fault.Validation, "The figures of the removed runs of %q are corrupt, so its statistics do not count those", of.Name)
	broken.File = filepath.ToSlash(filepath.Join(of.place()...))
	return &figures{}, broken.Suggest("Delete the file"), nil
}

func (r *Runs) writeFigures(of Source, f *figures) error {
	b, err := rawjson.Marshal(f)
	if err != nil {
		return fault.New(fault.Internal, "Cannot write the statistics of %q as JSON: %v", of.Name, err)
	}
	return r.home.Write(append(b, '\n'), 0o600, of.place()...)
}

func (r *Runs) removeFigures(of Source) error {
	if err := os.Remove(r.home.Path(of.place()...)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Internal, "Cannot remove the statistics of %q: %v", of.Name, fault.Reason(err)).
			Suggest("Check the permissions of the home folder (PFLOW_HOME, by default ~/.pflow)")
	}
	return nil
}

// Keep counts runs that the caller is about to remove in the figures of removed runs, which remember them: a run that is still
// there counts once. It returns a function to call with the ids of the runs that the caller has removed. That counts those that
// could not be counted before, such as on a full disk.
func (r *Runs) Keep(ids []string) (removed func(ids []string) error) {
	s, err := r.survey()
	if s == nil || err != nil {
		return func([]string) error { return err }
	}
	defer s.settle()
	chosen, leaving := setOf(ids), make(map[string]*index.Facts, len(ids))
	for _, rec := range s.records {
		if !chosen[rec.ID] {
			continue
		}
		f := s.index.Get(rec.ID)
		if f == nil {
			f, _ = s.read(rec) // a damaged run has no figures
		}
		if f != nil && f.Ended() {
			leaving[rec.ID] = f
		}
	}
	err = r.keepFigures(slices.Collect(maps.Values(leaving)), func(run string) bool { return journal.Exists(r.home, run) })
	return func(ids []string) error {
		if err == nil {
			return nil
		}
		var gone []*index.Facts
		for _, id := range ids {
			if f := leaving[id]; f != nil {
				gone = append(gone, f)
			}
		}
		return r.keepFigures(gone, func(string) bool { return true })
	}
}

func setOf(ids []string) map[string]bool {
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// keepFigures counts runs in the figures, except those that the figures have counted before. A run that does not exist was counted
// by the program that has removed it.
func (r *Runs) keepFigures(leaving []*index.Facts, exists func(run string) bool) error {
	by := map[Source][]*index.Facts{}
	for _, f := range leaving {
		if of := (Source{f.Source == event.SourceLibrary, f.Workflow}); f.Source != "" && home.CheckName("workflow", f.Workflow) == nil {
			by[of] = append(by[of], f)
		}
	}
	if len(by) == 0 {
		return nil
	}
	return r.home.Lock(context.Background(), statsFolder, func() error {
		for of, runs := range by {
			f, _, err := r.readFigures(of)
			if err != nil {
				return err
			}
			included := setOf(f.Included)
			runs = slices.DeleteFunc(runs, func(run *index.Facts) bool { return included[run.Run] || !exists(run.Run) })
			if len(runs) == 0 {
				continue
			}
			f.add(runs)
			f.Included = slices.DeleteFunc(f.Included, func(run string) bool { return !journal.Exists(r.home, run) })
			for _, run := range runs {
				f.Included = append(f.Included, run.Run)
			}
			if err := r.writeFigures(of, f); err != nil {
				return err
			}
		}
		return nil
	})
}

// Settle brings the index up to date: it adds the runs that have ended, and takes out those that the home does not have any more.
// It removes the figures of removed workflows that have no run any more.
func (r *Runs) Settle() error {
	s, err := r.survey()
	if s == nil || err != nil {
		return err
	}
	defer func() { _ = s.folder.Close() }()
	for _, rec := range s.records {
		if !s.index.Has(rec.ID) {
			_, _ = s.read(rec) // list reports an error
		}
	}
	if err := s.index.Update(s.ended, s.exists, s.index.Gone(s.exists)); err != nil {
		return err
	}
	oldest := time.Now()
	if n := len(s.records); n > 0 {
		oldest = s.records[n-1].Began()
	}
	return r.forgetNames(oldest)
}

// forgetNames removes the files of removed workflows that have no run any more. oldest is when the oldest run began.
func (r *Runs) forgetNames(oldest time.Time) error {
	return r.home.Lock(context.Background(), statsFolder, func() error {
		for _, saved := range []bool{true, false} {
			entries, _ := os.ReadDir(filepath.Dir(r.home.Path(Source{saved, "x"}.place()...)))
			for _, e := range entries {
				name, ok := strings.CutSuffix(e.Name(), figuresType)
				of := Source{saved, name}
				if !ok || home.CheckName("workflow", name) != nil {
					continue
				}
				if f, broken, err := r.readFigures(of); err != nil || broken != nil || f.Runs > 0 || f.Before.IsZero() || !f.Before.Before(oldest) {
					continue
				}
				if err := r.removeFigures(of); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
