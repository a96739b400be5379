package runner

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/run/journal"
	"github.com/pflow-suite/pflow/pkg/run/reader"
)

// Observer is called while a run is executed. Each field may be nil.
type Observer struct {
	// Started is called with the id of the run when its first event is recorded, before anything runs. If it fails, nothing
	// runs and the run is removed.
	Started func(id string) error
	// Event is called with each line of the journal, in order, until it fails.
	Event func(line []byte) error
	// Failed is called with the error of Event, or why the journal could not be read to its end. It is set if Event is.
	Failed func(err error)
	// Recorded receives each line of the journal in one write, before the run goes on.
	Recorded io.Writer
}

// NotStartedError is the error of a run that has left no record.
type NotStartedError struct{ Err error }

func (e *NotStartedError) Error() string { return e.Err.Error() }

// Unwrap returns why the run did not start.
func (e *NotStartedError) Unwrap() error { return e.Err }

// Execute runs the launch to its end and returns the last event of the run. It returns an error if the run could not be
// recorded, in the home or in the checkpoint file: a NotStartedError if nothing was, else a fault that suggests how to go on.
// All descendants of this process are ended with the run, so a process must execute one run at a time. Execute returns
// when the processes of runs whose runner was killed have ended too.
func (l *Launch) Execute(ctx context.Context, o Observer) (*event.Event, error) {
	defer l.Release()
	process.AdoptOrphans()
	delayCollection()
	defer l.awaitAbandoned(ctx)
	w, claim, err := l.begin(o)
	if err != nil {
		return nil, &NotStartedError{err}
	}
	defer w.Close()
	defer claim.Release()
	var followers sync.WaitGroup
	if o.Event != nil {
		followers.Go(func() {
			if err := w.Follow(o.Event); err != nil {
				o.Failed(err)
			}
		})
	}
	last, err := l.run(ctx, w)
	w.EndFollowers()
	followers.Wait()
	if err != nil {
		if w.Remove() {
			return nil, &NotStartedError{err}
		}
		w.RecordFailure(err)
		f := *fault.From(err)
		return nil, f.Then(l.resumption(w.ID))
	}
	reader.Open(l.host.Home).Record(w.ID)
	tidy(l.host)
	if err := l.checkCopied(last); err != nil {
		return nil, err
	}
	return last, nil
}

// begin creates the directory of the run, which other processes see from its first event on. After an error it does not
// exist. The claim is held for the processes of the run.
func (l *Launch) begin(o Observer) (*journal.Writer, *process.Claim, error) {
	options := journal.Options{Definition: l.definition, Sync: l.request.Sync, Begun: func(id string) error {
		if o.Started != nil {
			if err := o.Started(id); err != nil {
				return err // the key is held until the run is removed, so that no other process attaches to it
			}
		}
		if l.key != nil { // from now on it leads to this run
			l.key.Release()
		}
		return nil
	}}
	if l.origin != nil && !l.fork {
		options.ResumedFrom = l.origin.ID
	}
	if o.Recorded != nil {
		options.Copy = o.Recorded
	}
	if l.file != nil {
		if err := l.file.Mend(); err != nil {
			return nil, nil, err
		}
		options.Copy = l.file
		if o.Recorded != nil {
			options.Copy = io.MultiWriter(o.Recorded, l.file)
		}
	}
	w, err := journal.Create(l.host.Home, options)
	if err != nil {
		return nil, nil, err
	}
	claim, err := process.NewClaim(claims(l.host.Home), mark(w.ID))
	if err != nil {
		w.Remove()
		w.Close()
		return nil, nil, fault.New(fault.Internal, "Cannot record the run as live: %v", fault.Reason(err)).
			Suggest("Check the space and the permissions of the home folder (PFLOW_HOME, by default ~/.pflow), and try again")
	}
	if l.key != nil {
		if err := l.key.Set(w.ID); err != nil {
			w.Remove()
			w.Close()
			claim.Release()
			return nil, nil, err
		}
	}
	return w, claim, nil
}

// run has the engine execute the workflow. Then it ends the processes that nodes and servers have left running.
func (l *Launch) run(ctx context.Context, w *journal.Writer) (*event.Event, error) {
	c := l.config(w.ID)
	c.Journal, c.Resume = w, l.resumption(w.ID)
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
	stopping, timedOut := context.WithCancel(ctx)
	defer timedOut()
	ended := context.AfterFunc(stopping, strays.Terminate)
	place := &admission{launch: l, journal: w}
	defer place.release()
	c.Admit = func(ctx context.Context) error {
		if err := place.take(ctx); err != nil {
			return err
		}
		if c.Timeout > 0 {
			timer := time.AfterFunc(c.Timeout, timedOut)
			context.AfterFunc(stopping, func() { timer.Stop() })
		}
		return nil
	}
	last, err := engine.Run(ctx, c)
	c.Host.Servers.Close()
	ended()
	strays.EndRemaining()
	return last, err
}
