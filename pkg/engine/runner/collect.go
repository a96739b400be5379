package runner

import (
	"context"
	"path/filepath"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine/cache"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/run/reader"
)

// Limits say which runs to keep. A run that is live or being resumed is always kept.
type Limits = journal.Limits

// DefaultLimits returns the limits that Execute applies once a day.
func DefaultLimits() Limits {
	return Limits{OlderThan: journal.DefaultAge, Keep: journal.DefaultKeep}
}

// Collected is the result of Collect.
type Collected = journal.Collected

// Collect removes the runs that exceed the limits, and the entries of the cache that exceed their age. It ends the
// processes of runs whose runner was killed.
func Collect(h *home.Home, limits Limits) (*Collected, error) {
	if !limits.DryRun {
		endAllStrays(h)
	}
	got, err := removeRuns(h, limits)
	if err == nil && !limits.DryRun && limits.OlderThan >= 0 {
		cache.Open(h).Collect(limits.OlderThan)
	}
	return got, err
}

// Verified is what Verify has looked at, and what is damaged.
type Verified struct {
	reader.Verified
	Cache int `json:"cache_entries"`
}

// Verify checks what runs have stored, as reader.Runs.Verify does, and without refs the cache.
func Verify(ctx context.Context, h *home.Home, refs []string) (*Verified, error) {
	got, err := reader.Open(h).Verify(ctx, refs)
	if err != nil {
		return nil, err
	}
	v := &Verified{Verified: *got}
	if len(refs) == 0 {
		entries, unusable := cache.Open(h).Verify()
		v.Cache = entries
		for _, name := range unusable {
			v.Defects = append(v.Defects, journal.Defect{File: filepath.Join("cache", name), Problem: "The entry cannot be used; the node that it is of runs again"})
		}
	}
	return v, nil
}

// removeRuns removes runs. Their figures stay in the statistics.
func removeRuns(h *home.Home, limits Limits) (*Collected, error) {
	runs := reader.Open(h)
	removed := func([]string) error { return nil }
	limits.Before = func(ids []string) { removed = runs.Keep(ids) }
	got, err := journal.Collect(h, limits, time.Now())
	if err != nil || limits.DryRun {
		return got, err
	}
	if err := removed(got.Removed); err != nil && got.Failed == nil {
		got.Failed = err
	}
	_ = runs.Settle() // the index can be brought up to date later
	return got, nil
}

// tidy removes what exceeds the default limits, once a day.
func tidy(host *Host) {
	if !journal.CollectionDue(host.Home, time.Now()) {
		return
	}
	got, err := removeRuns(host.Home, DefaultLimits())
	if err == nil {
		err = got.Failed
	}
	if err != nil {
		host.Log.Warn("old runs were not removed", "error", err)
	}
	cache.Open(host.Home).Collect(journal.DefaultAge)
}
