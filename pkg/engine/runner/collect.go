package runner

import (
	"time"

	"github.com/pflow-suite/pflow/pkg/engine/cache"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/run/journal"
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
	got, err := journal.Collect(h, limits, time.Now())
	if err == nil && !limits.DryRun && limits.OlderThan >= 0 {
		cache.Open(h).Collect(limits.OlderThan)
	}
	return got, err
}

// tidy removes what exceeds the default limits, once a day.
func tidy(host *Host) {
	if !journal.CollectionDue(host.Home, time.Now()) {
		return
	}
	got, err := journal.Collect(host.Home, DefaultLimits(), time.Now())
	if err == nil {
		err = got.Failed
	}
	if err != nil {
		host.Log.Warn("old runs were not removed", "error", err)
	}
	cache.Open(host.Home).Collect(journal.DefaultAge)
}
