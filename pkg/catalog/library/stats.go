package library

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

// statsFolder has a NAME.json for each saved workflow that has run, so that a run does not change the workflow's file.
const statsFolder = "stats"

// Stats are the statistics of a saved workflow's runs.
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

// ReadStats returns a workflow's statistics. They are zero if there is no file or it is not valid.
func (l *Library) ReadStats(name string) (Stats, error) {
	if err := home.CheckName("workflow", name); err != nil {
		return Stats{}, err
	}
	b, err := l.home.Read(statsFolder, name+jsonEnding)
	if err != nil {
		return Stats{}, err
	}
	var s Stats
	if b == nil || json.Unmarshal(b, &s) != nil {
		return Stats{}, nil
	}
	return s, nil
}

// RecordRun adds a run that has ended to a workflow's statistics. The status is that of its run_finished event.
func (l *Library) RecordRun(ctx context.Context, name, status string, start time.Time, duration time.Duration) error {
	if err := home.CheckName("workflow", name); err != nil {
		return err
	}
	return l.home.Lock(ctx, statsFolder, func() error {
		s, err := l.ReadStats(name)
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
		b, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			return fault.New(fault.Internal, "Cannot write the statistics of %q as JSON: %v", name, err)
		}
		return l.home.Write(append(b, '\n'), 0o600, statsFolder, name+jsonEnding)
	})
}

// RemoveStats deletes a workflow's statistics, if there are any.
func (l *Library) RemoveStats(name string) error {
	if err := home.CheckName("workflow", name); err != nil {
		return err
	}
	if err := os.Remove(l.home.Path(statsFolder, name+jsonEnding)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unusable("remove the statistics of", name, err)
	}
	return nil
}
