package runner

import (
	"context"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/catalog/library"
	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// Observer is called while a run is executed. Both functions may be nil.
type Observer struct {
	// Started is called with the id of the run when its first event is recorded, before anything runs. If it fails, nothing
	// runs and the run is removed.
	Started func(id string) error
	// Event is called with each line of the journal, in order, until it fails.
	Event func(line []byte) error
}

// NotStartedError is the error of a run that has left no record.
type NotStartedError struct{ Err error }

func (e *NotStartedError) Error() string { return e.Err.Error() }

// Unwrap returns why the run did not start.
func (e *NotStartedError) Unwrap() error { return e.Err }

// Execute runs the launch to its end and returns the last event of the run. It returns an error if the run could not be
// recorded, in the home or in the checkpoint file: a NotStartedError if nothing was, else a fault that suggests how to go on.
// When a run is stopped, all descendants of this process are ended, so a process must execute one run at a time.
func (l *Launch) Execute(ctx context.Context, o Observer) (*event.Event, error) {
	defer l.Release()
	process.AdoptOrphans()
	w, err := l.begin(o)
	if err != nil {
		return nil, &NotStartedError{err}
	}
	defer w.Close()
	var followers sync.WaitGroup
	if o.Event != nil {
		followers.Go(func() { _ = w.Follow(o.Event) })
	}
	began := time.Now()
	last, err := l.run(ctx, w)
	w.EndFollowers()
	followers.Wait()
	if err != nil {
		if w.Remove() {
			return nil, &NotStartedError{err}
		}
		w.RecordFailure(err)
		f := *fault.From(err)
		return nil, f.Suggest("resume with: %s", journal.ResumeCommand(w.ID))
	}
	if l.request.Saved {
		statistics := library.Open(l.host.Home)
		if err := statistics.RecordRun(context.WithoutCancel(ctx), l.request.Name, string(last.Status), began, time.Since(began)); err != nil {
			l.host.Log.Warn("the workflow's statistics are not up to date", "error", err)
		}
	}
	tidy(l.host)
	if err := l.checkCopied(last); err != nil {
		return nil, err
	}
	return last, nil
}

// begin creates the directory of the run, which other processes see from its first event on. After an error it does not
// exist.
func (l *Launch) begin(o Observer) (*journal.Writer, error) {
	options := journal.Options{Definition: l.definition, Sync: l.request.Sync, Begun: func(id string) error {
		if l.key != nil { // from now on it leads to this run
			l.key.Release()
		}
		if o.Started == nil {
			return nil
		}
		return o.Started(id)
	}}
	if l.origin != nil && !l.fork {
		options.ResumedFrom = l.origin.ID
	}
	if l.file != nil {
		if err := l.file.Mend(); err != nil {
			return nil, err
		}
		options.Copy = l.file
	}
	w, err := journal.Create(l.host.Home, options)
	if err != nil {
		return nil, err
	}
	if l.key != nil {
		if err := l.key.Set(w.ID); err != nil {
			w.Remove()
			w.Close()
			return nil, err
		}
	}
	return w, nil
}

// run has the engine execute the workflow, and ends the processes that the nodes leave running if the run is stopped.
func (l *Launch) run(ctx context.Context, w *journal.Writer) (*event.Event, error) {
	c := l.config()
	c.RunID, c.Journal, c.ResumeCommand = w.ID, w, journal.ResumeCommand(w.ID)
	if l.origin != nil {
		c.Adopt = func(ref event.Reference) (bool, error) { return w.Adopt(ref, l.origin) }
		if !l.fork {
			c.Reused = func() error { return w.MarkSuperseded(l.origin) }
		}
	}
	strays := process.Strays{Mark: mark(w.ID), Grace: process.DefaultGrace}
	c.Stopped = func() {
		c.Host.Servers.Close()
		strays.End()
	}
	stopping, cancel := ctx, context.CancelFunc(func() {})
	if c.Timeout > 0 {
		stopping, cancel = context.WithTimeout(ctx, c.Timeout)
	}
	defer cancel()
	ended := context.AfterFunc(stopping, strays.Terminate)
	last, err := engine.Run(ctx, c)
	ended() // a stop after the end does not concern what a node has left running on purpose
	c.Host.Servers.Close()
	return last, err
}
