package runner

import (
	"context"
	"errors"

	"github.com/pflow-suite/pflow/pkg/engine"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// mark returns the variable, NAME=VALUE, that the processes of a run have in their environment.
func mark(run string) string { return engine.RunVariable + "=" + run }

// claims returns the folder with the claims of live runs and of live pflow-sync commands.
func claims(h *home.Home) string { return h.Path(home.Live) }

// endAbandoned ends the processes of killed programs that have left a claim, beside the caller. wait returns when they have
// ended, or when ctx is done: then the next run goes on with it.
func endAbandoned(h *home.Home) (wait func(ctx context.Context)) {
	return process.EndAbandoned(claims(h), process.DefaultGrace)
}

// endStrays ends the processes of a run whose runner was killed.
func endStrays(run string) { process.EndMarked(process.DefaultGrace, mark(run)) }

// endAllStrays ends the processes of all runs whose runner was killed, and of killed pflow-sync commands.
func endAllStrays(h *home.Home) {
	endAbandoned(h)(context.Background())
	for _, id := range process.EnvironmentValues(engine.RunVariable) {
		rec, err := journal.Find(h, id)
		if err != nil || rec.ID != id {
			continue
		}
		if status, _, err := rec.Status(); err == nil && status == journal.Interrupted {
			endStrays(id)
		}
	}
}

// patience is how long Cancel waits: longer than it takes to end processes by SIGTERM and then SIGKILL.
const patience = 3 * process.DefaultGrace

var errPatience = errors.New("the run took too long to stop")

// Cancel cancels a live run, waits until it has stopped, and returns its id and status. For a run that is not live it
// returns them at once, and it ends the processes that a killed run has left.
func Cancel(ctx context.Context, h *home.Home, run string) (id string, status event.Status, err error) {
	rec, err := journal.Find(h, run)
	if err != nil {
		return "", "", err
	}
	if _, err := rec.Cancel(); err != nil {
		return "", "", err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	if err := rec.Follow(ctx, func([]byte) error { return nil }); err != nil && !errors.Is(err, errPatience) {
		return "", "", err
	}
	status, _, err = rec.Status()
	if err != nil {
		return "", "", err
	}
	if journal.IsLive(status) {
		return "", "", fault.New(fault.Conflict, "Run %s has not stopped within %s", rec.ID, patience).
			Then(fault.Step{Do: fault.DoStatus, Run: rec.ID}, fault.Step{Do: fault.DoWait, Run: rec.ID})
	}
	if status == journal.Interrupted {
		endStrays(rec.ID)
	}
	return rec.ID, status, nil
}
