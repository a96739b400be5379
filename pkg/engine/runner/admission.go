package runner

import (
	"context"
	"os"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// admission is the place of a run among those that are executed at the same time, see settings.Settings.MaxRuns.
type admission struct {
	launch  *Launch
	journal *journal.Writer
	// free lets go of the place, or is nil. The kernel does so too when the process ends.
	free func()
}

// take waits until the run has a place. While it waits, the last event of its journal is run_queued. A run without a limit needs
// no place, and neither does one that a node of a live run has started: it is a part of that.
func (a *admission) take(ctx context.Context) error {
	l := a.launch
	if l.settings.MaxRuns <= 0 || a.isInside() {
		return nil
	}
	most := maxRuns{home: l.host.Home, most: l.settings.MaxRuns}
	most.changed()
	waited := false
	free, err := journal.TakePlace(ctx, l.host.Home, most.now, func() error {
		waited = true
		return a.journal.Append(&event.Event{Event: event.RunQueued, MaxRuns: most.most})
	})
	if err != nil {
		return err
	}
	a.free = free
	if waited {
		return a.journal.Append(&event.Event{Event: event.RunAdmitted})
	}
	return nil
}

// release lets go of the place.
func (a *admission) release() {
	if a.free != nil {
		a.free()
	}
}

// isInside reports whether a node of a live run of the home has started this process.
func (a *admission) isInside() bool {
	l := a.launch
	id := process.Getenv(l.host.Env, engine.RunVariable)
	return journal.Exists(l.host.Home, id) && journal.At(l.host.Home, id).Held()
}

// maxRuns is the limit on concurrent runs, which may change while a run waits.
type maxRuns struct {
	home *home.Home
	most int
	// size and modified are those of the settings that most is from.
	size     int64
	modified time.Time
}

// now returns the limit in the settings. Settings that cannot be read keep the limit of before.
func (m *maxRuns) now() int {
	if m.changed() {
		if set, err := settings.Load(m.home); err == nil {
			m.most = set.MaxRuns
		}
	}
	return m.most
}

// changed reports whether the file of the settings is another one than at the last call.
func (m *maxRuns) changed() bool {
	var size int64
	var modified time.Time
	if info, err := os.Stat(m.home.Path(settings.File)); err == nil {
		size, modified = info.Size(), info.ModTime()
	}
	same := size == m.size && modified.Equal(m.modified)
	m.size, m.modified = size, modified
	return !same
}
