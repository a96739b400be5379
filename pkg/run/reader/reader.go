// Package reader finds the runs of a home and returns what is known about them, as values and as documents for commands to
// print: lists, overviews, details, statistics. It changes no run and keeps no locks. What it derives from runs it keeps: the
// index of those that have ended, and the figures of those that were removed.
package reader

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// The statuses of a run that has no last event: it is executed, it waits because of the limit on concurrent runs, or it stopped
// without a last event.
const (
	Running     = journal.Running
	Queued      = journal.Queued
	Interrupted = journal.Interrupted
)

// IsLive reports whether a process has a run with the status: it executes it, or waits until it may.
func IsLive(s event.Status) bool { return journal.IsLive(s) }

// Runs are the runs of a home.
type Runs struct{ home *home.Home }

// Open returns the runs of a home. It reads nothing.
func Open(h *home.Home) *Runs { return &Runs{h} }

// Find returns a run by its id, a prefix of the id that no other run has, or "last".
func (r *Runs) Find(ref string) (*Run, error) {
	rec, err := journal.Find(r.home, ref)
	if err != nil {
		return nil, err
	}
	return &Run{rec}, nil
}

// Run is one run. It may be live, and it may be removed at any time.
type Run struct{ rec *journal.Reader }

// ID returns the run's id.
func (r *Run) ID() string { return r.rec.ID }

// Status returns whether the run is live or was interrupted, or else how it ended.
func (r *Run) Status() (event.Status, error) {
	status, _, err := r.rec.Status()
	return status, err
}

// Blob returns a long value of the run.
func (r *Run) Blob(ref string) ([]byte, error) { return r.rec.Blob(ref) }

// Events calls each with every event that there is now, and with its line.
func (r *Run) Events(each func(e *event.Event, line []byte) error) error {
	f, err := r.rec.Open()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for events := event.NewReader(f); ; {
		e, line, err := events.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := each(e, line); err != nil {
			return err
		}
	}
}

// Follow calls each with the line of every event, as they come, until the run's last event, the end of ctx, or each fails.
// It returns the last event, or nil if the run was interrupted. each may be nil.
func (r *Run) Follow(ctx context.Context, each func(line []byte) error) (last *event.Event, err error) {
	err = r.rec.Follow(ctx, func(line []byte) error {
		if bytes.Contains(line, []byte(`"event":"run_`)) { // few lines have it, and one is the last
			if e, _, err := event.NewReader(bytes.NewReader(line)).Next(); err == nil && e.IsTerminal() {
				last = e
			}
		}
		if each == nil {
			return nil
		}
		return each(line)
	})
	return last, err
}

// History returns what the run's events say about it and its nodes. Its status is that before they were read, so that the
// history of a run that had ended is whole.
func (r *Run) History() (*history.Run, event.Status, error) { return r.history(history.Read) }

// outline is History without values.
func (r *Run) outline() (*history.Run, event.Status, error) { return r.history(history.Outline) }

func (r *Run) history(read func(io.Reader) (*history.Run, error)) (*history.Run, event.Status, error) {
	status, err := r.Status()
	if err != nil {
		return nil, "", err
	}
	f, err := r.rec.Open()
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = f.Close() }()
	h, err := read(f)
	return h, status, err
}
