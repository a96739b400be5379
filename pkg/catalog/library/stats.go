package library

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

// statsFolder has a NAME.json for each saved workflow that has run, and a drafts/NAME.json for each draft, so that a run does not change
// the workflow's file, and the runs of a draft do not count as those of a saved workflow of the same name.
const (
	statsFolder = "stats"
	ofDrafts    = "drafts"
)

// Stats are the statistics of a workflow's runs.
type Stats struct {
	Runs      int `json:"runs"`
	Successes int `json:"successes"` // completed or degraded
	Failures  int `json:"failures"`  // failed or timed_out; other runs were stopped by a person
	// LastRun is the start of the last run, or zero if there was none.
	LastRun           time.Time `json:"last_run,omitzero"`
	LastStatus        string    `json:"last_status,omitempty"`
	LastDurationMS    int64     `json:"last_duration_ms"`
	AverageDurationMS int64     `json:"average_duration_ms"`
	// TotalDurationMS divided by Runs is the average.
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

// statsFile is the content of a file with statistics.
type statsFile struct {
	Stats
	// Durations are those of the last runs, in milliseconds, oldest first. A file of an older version has none.
	Durations []int64 `json:"durations_ms,omitempty"`
}

// keptDurations is how many durations a file has at most.
const keptDurations = 100

// statsPlace returns the place of the statistics of a saved workflow or a draft in the home.
func statsPlace(saved bool, name string) []string {
	if saved {
		return []string{statsFolder, name + jsonEnding}
	}
	return []string{statsFolder, ofDrafts, name + jsonEnding}
}

// Statistics returns the statistics of the workflow's runs, which are zero if it has not run. If their file is broken, they are zero
// too, and the error is a fault.
func (e *Entry) Statistics() (s Statistics, err error) {
	f, broken, err := readStats(e.lib.home, e.Saved, e.Name)
	if err != nil {
		return s, err
	}
	if broken != nil {
		return s, broken
	}
	s.Stats = f.Stats
	if decided := f.Successes + f.Failures; decided > 0 {
		rate := float64(f.Successes) / float64(decided)
		s.SuccessRate = &rate
	}
	if n := len(f.Durations); n > 0 {
		slices.Sort(f.Durations)
		s.P95DurationMS = &f.Durations[(95*n+99)/100-1]
	}
	return s, nil
}

// ReadStats returns a saved workflow's statistics. They are zero if there is no file or it is not valid.
func (l *Library) ReadStats(name string) (Stats, error) {
	f, _, err := readStats(l.home, true, name)
	return f.Stats, err
}

// readStats reads the statistics of a saved workflow or a draft, which are zero if there is no file. If the file is not valid, they are
// zero too, and broken says so.
func readStats(h *home.Home, saved bool, name string) (f statsFile, broken *fault.Fault, err error) {
	if err := home.CheckName("workflow", name); err != nil {
		return f, nil, err
	}
	place := statsPlace(saved, name)
	b, err := h.Read(place...)
	if err != nil || b == nil {
		return f, nil, err
	}
	if json.Unmarshal(b, &f) == nil {
		return f, nil, nil
	}
	broken = fault.New(fault.Validation, "The statistics of %q are corrupt; its next run begins new ones", name)
	broken.File = filepath.ToSlash(filepath.Join(place...))
	return statsFile{}, broken, nil
}

// RecordRun adds a run that has ended to a saved workflow's statistics. The status is that of its run_finished event.
func (l *Library) RecordRun(ctx context.Context, name, status string, start time.Time, duration time.Duration) error {
	return recordRun(ctx, l.home, true, name, status, start, duration)
}

// RecordDraftRun is RecordRun for a draft.
func (l *Library) RecordDraftRun(ctx context.Context, name, status string, start time.Time, duration time.Duration) error {
	return recordRun(ctx, l.home, false, name, status, start, duration)
}

func recordRun(ctx context.Context, h *home.Home, saved bool, name, status string, start time.Time, duration time.Duration) error {
	if err := home.CheckName("workflow", name); err != nil {
		return err
	}
	return h.Lock(ctx, statsFolder, func() error {
		s, _, err := readStats(h, saved, name)
		if err != nil {
			return err
		}
		s.Runs++
		switch status {
		case "completed", "degraded":
			s.Successes++
		case "failed", "timed_out":
			s.Failures++
		}
		s.LastRun, s.LastStatus, s.LastDurationMS = start.UTC(), status, duration.Milliseconds()
		s.TotalDurationMS += s.LastDurationMS
		s.AverageDurationMS = s.TotalDurationMS / int64(s.Runs)
		s.Durations = append(s.Durations, s.LastDurationMS)
		s.Durations = s.Durations[max(0, len(s.Durations)-keptDurations):]
		b, err := json.Marshal(s)
		if err != nil {
			return fault.New(fault.Internal, "Cannot write the statistics of %q as JSON: %v", name, err)
		}
		return h.Write(append(b, '\n'), 0o600, statsPlace(saved, name)...)
	})
}

// removeStats deletes the statistics of a saved workflow or a draft, if there are any.
func removeStats(h *home.Home, saved bool, name string) error {
	if err := home.CheckName("workflow", name); err != nil {
		return err
	}
	if err := os.Remove(h.Path(statsPlace(saved, name)...)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unusable("remove the statistics of", name, err)
	}
	return nil
}
