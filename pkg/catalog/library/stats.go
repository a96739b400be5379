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

// statsFolder holds NAME.json for each saved workflow that has run, so that running changes no workflow.
const statsFolder = "stats"

// Stats is what is known of a saved workflow's runs.
type Stats struct {
	Runs      int `json:"runs"`
	Successes int `json:"successes"` // completed or degraded
	Failures  int `json:"failures"`  // failed or timed_out; other runs were stopped by a person
	// LastRun is when the last run began; zero when there was none.
	LastRun           time.Time `json:"last_run,omitzero"`
	LastStatus        string    `json:"last_status,omitempty"`
	LastDurationMS    int64     `json:"last_duration_ms"`
	AverageDurationMS int64     `json:"average_duration_ms"`
	// TotalDurationMS is what the average is made of.
	TotalDurationMS int64 `json:"total_duration_ms"`
}

// ReadStats reads a workflow's statistics. None, and those that cannot be understood, are zero.
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

// RecordRun adds a run that has ended, with the status of its run_finished event, to a workflow's statistics.
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
			return fault.New(fault.Internal, "the statistics of %q: %v", name, err)
		}
		return l.home.Write(append(b, '\n'), 0o600, statsFolder, name+jsonEnding)
	})
}

// RemoveStats deletes a workflow's statistics where there are any.
func (l *Library) RemoveStats(name string) error {
	if err := home.CheckName("workflow", name); err != nil {
		return err
	}
	if err := os.Remove(l.home.Path(statsFolder, name+jsonEnding)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unusable("remove the statistics of", name, err)
	}
	return nil
}
