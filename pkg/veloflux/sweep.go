package veloflux

import (
	"context"
	"errors"
	"time"

	"github.com/tidwall/gjson"
)

// leftoverAge is how old a temporary pipeline of a process that nobody here can know must be to count as left behind. A
// verification takes a few requests.
const leftoverAge = 10 * time.Minute

// Sweep deletes the temporary pipelines that verifications have left behind: those whose process is dead, of processes on
// other machines those older than 10 minutes, and of this runtime those that it gave up. It never touches one that somebody
// alive sees to, and does nothing where pipelines.verify is not on offer. It gives the ids that it deleted.
//
// The first verification of a runtime sweeps by itself. A program that runs for long calls SweepWhile.
func (r *Runtime) Sweep(ctx context.Context) ([]string, error) {
	if _, off := r.hidden[verifying]; off {
		return nil, nil
	}
	list, err := r.manager.Pipelines(ctx)
	if err != nil {
		return nil, err
	}
	var swept []string
	var failed []error
	gjson.ParseBytes(list).ForEach(func(_, pipeline gjson.Result) bool {
		id := pipeline.Get("id").String()
		if t, ours := parseTemporary(id); !ours || !r.temporary.leftover(t, time.Now()) {
			return true
		}
		switch err := r.manager.DeletePipeline(ctx, id); {
		case err == nil:
			swept = append(swept, id)
		case !missing(err): // else another sweep was faster
			failed = append(failed, err)
		}
		return ctx.Err() == nil
	})
	return swept, errors.Join(failed...)
}

// leftover says whether nobody will delete a temporary pipeline any more.
func (t *temporaries) leftover(id temporaryID, now time.Time) bool {
	if own, live := t.seen(id); own {
		return !live
	}
	alive, known := id.owner.Alive()
	if known {
		return !alive
	}
	return now.Sub(id.created) > leftoverAge
}

// sweepOnce sweeps in the background, once in the runtime's life.
func (r *Runtime) sweepOnce() {
	r.swept.Do(func() { r.temporary.begin(func() { r.sweep(context.Background()) }) })
}

// sweep sweeps, and tells the log.
func (r *Runtime) sweep(ctx context.Context) {
	swept, err := r.Sweep(ctx)
	for _, id := range swept {
		r.log.Info("swept a temporary pipeline that was left behind", "id", id)
	}
	if err != nil && ctx.Err() == nil {
		r.log.Info("temporary pipelines cannot be swept", "error", err)
	}
}

// SweepWhile sweeps until ctx ends: at once, again after pauses that grow, for a request of a process that was killed may
// still be on its way through the Manager, and in the end every ten minutes.
func (r *Runtime) SweepWhile(ctx context.Context) {
	r.swept.Do(func() {})
	for wait := time.Second; ; wait = min(4*wait, leftoverAge) {
		r.sweep(ctx)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}
