package reader

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/run/index"
)

// Stats are the statistics of a workflow's runs.
type Stats struct {
	Runs      int `json:"runs"`
	Successes int `json:"successes"` // completed or degraded
	Failures  int `json:"failures"`  // failed or timed_out; other runs were stopped by a person
	// LastRun is the start of the run that ended last, or zero if there was none.
	LastRun           time.Time `json:"last_run,omitzero"`
	LastStatus        string    `json:"last_status,omitempty"`
	LastDurationMS    int64     `json:"last_duration_ms"`
	AverageDurationMS int64     `json:"average_duration_ms"`
	// TotalDurationMS divided by Runs is the average, except for what rounding changes.
	TotalDurationMS int64 `json:"total_duration_ms"`
}

// Statistics are Stats and what is derived from them.
type Statistics struct {
	Stats
	// SuccessRate is Successes divided by the runs that succeeded or failed, or nil if there was no such run.
	SuccessRate *float64 `json:"success_rate"`
	// P95DurationMS is the time that 95 % of the last 100 runs did not exceed, or nil if there was no such run.
	P95DurationMS *int64 `json:"p95_duration_ms"`
}

// Source names a workflow of the home: a saved one or a draft.
type Source struct {
	// Saved is set for a saved workflow.
	Saved bool
	Name  string
}

// Statistics returns the statistics of a workflow's runs, which are zero if it has not run. They count the runs that the home has,
// and those that it has removed. If the figures of the latter cannot be read, the error is a fault, and the statistics are those of the
// others.
func (r *Runs) Statistics(of Source) (Statistics, error) {
	if err := home.CheckName("workflow", of.Name); err != nil {
		return Statistics{}, err
	}
	ended, _, err := r.runsOf(of) // before the figures: a run is in them before it is removed
	if err != nil {
		return Statistics{}, err
	}
	f, broken, err := r.readFigures(of)
	if err != nil {
		return Statistics{}, err
	}
	f.add(ended)
	s := Statistics{Stats: f.Stats}
	if decided := f.Successes + f.Failures; decided > 0 {
		rate := float64(f.Successes) / float64(decided)
		s.SuccessRate = &rate
	}
	if n := len(f.Durations); n > 0 {
		slices.Sort(f.Durations)
		p95 := int64(math.Ceil(f.Durations[(95*n+99)/100-1]))
		s.P95DurationMS = &p95
	}
	if broken != nil {
		return s, broken
	}
	return s, nil
}

// runsOf returns the runs of a workflow that have ended, and whether there are others.
func (r *Runs) runsOf(of Source) (ended []*index.Facts, live bool, err error) {
	s, err := r.survey()
	if s == nil || err != nil {
		return nil, false, err
	}
	defer s.settle()
	ended = s.index.Of(of.Name, of.source())
	ended = slices.DeleteFunc(ended, func(f *index.Facts) bool { return !s.lists(f.Run) }) // the index may have runs that were removed
	for _, rec := range s.records {
		if s.index.Has(rec.ID) {
			continue
		}
		switch f, err := s.read(rec); {
		case err != nil: // list reports it
		case f.Workflow != of.Name || f.Source != of.source():
		case f.Ended():
			ended = append(ended, f)
		default:
			live = true
		}
	}
	return ended, live, nil
}

func (of Source) source() string {
	if of.Saved {
		return event.SourceLibrary
	}
	return event.SourceDraft
}

// add adds runs that have ended to the figures, except those that the figures have or that do not count.
func (f *figures) add(runs []*index.Facts) {
	included := setOf(f.Included)
	if f.TotalUS == 0 {
		f.TotalUS = f.TotalDurationMS * 1000
	}
	last := f.LastRun.Add(time.Duration(f.LastDurationMS) * time.Millisecond)
	slices.SortFunc(runs, func(a, b *index.Facts) int { return cmp.Or(a.EndedAt.Compare(b.EndedAt), cmp.Compare(a.Run, b.Run)) })
	for _, run := range runs {
		if run.StartedAt == nil || !run.StartedAt.After(f.Before) || included[run.Run] {
			continue
		}
		f.Runs++
		switch run.Status {
		case event.Completed, event.Degraded:
			f.Successes++
		case event.Failed, event.TimedOut:
			f.Failures++
		}
		took := float64(run.EndedAt.Sub(*run.StartedAt).Microseconds()) / 1000
		if run.DurationMS != nil {
			took = *run.DurationMS
		}
		if !run.EndedAt.Before(last) {
			last = run.EndedAt
			f.LastRun, f.LastStatus, f.LastDurationMS = *run.StartedAt, string(run.Status), rounded(took)
		}
		f.TotalUS += rounded(took * 1000)
		f.TotalDurationMS, f.AverageDurationMS = rounded(float64(f.TotalUS)/1000), rounded(float64(f.TotalUS)/1000/float64(f.Runs))
		f.Durations = append(f.Durations, took)
	}
	f.Durations = f.Durations[max(0, len(f.Durations)-keptDurations):]
}

// rounded returns the nearest whole number.
func rounded(x float64) int64 { return int64(math.Round(x)) }

// Forget makes the statistics of a workflow begin anew: it was removed, and its runs are not those of another one with its name.
func (r *Runs) Forget(of Source) error {
	if err := home.CheckName("workflow", of.Name); err != nil {
		return err
	}
	ended, live, err := r.runsOf(of)
	if err != nil {
		return err
	}
	return r.home.Lock(context.Background(), statsFolder, func() error { return r.beginAnew(of, len(ended) > 0 || live) })
}

// beginAnew replaces the figures of a name by those of a workflow that has not run. ran is set if there are runs of the name, which do
// not count. The caller has the lock.
func (r *Runs) beginAnew(of Source, ran bool) error {
	if !ran {
		return r.removeFigures(of)
	}
	return r.writeFigures(of, &figures{Before: time.Now().UTC()})
}

// Rename lets the statistics of a workflow go on under its new name: the runs until now count under that one, and those of the old name
// begin anew. Runs of a workflow that had the new name before do not count. Figures that cannot be read are left behind.
func (r *Runs) Rename(of Source, name string) error {
	for _, name := range []string{of.Name, name} {
		if err := home.CheckName("workflow", name); err != nil {
			return err
		}
	}
	ended, live, err := r.runsOf(of)
	if err != nil {
		return err
	}
	return r.home.Lock(context.Background(), statsFolder, func() error {
		f, _, err := r.readFigures(of)
		if err != nil {
			return err
		}
		f.add(ended)
		f.Before, f.Included = time.Now().UTC(), nil
		if err := r.writeFigures(Source{of.Saved, name}, f); err != nil {
			return err
		}
		return r.beginAnew(of, len(ended) > 0 || live)
	})
}
