package veloflux

import (
	"context"
	"errors"
	"time"

	"github.com/tidwall/gjson"
)

// leftoverAge is the age from which a temporary pipeline counts as left behind if it cannot be known whether its process
// is alive. A verification takes only a few requests.
const leftoverAge = 10 * time.Minute

// Sweep deletes the temporary pipelines that verifications left behind, and returns their ids. Left behind are those
// whose process is dead, those of other machines that are older than 10 minutes, and those that this runtime gave up. It
// never deletes a pipeline that a live process will delete, and does nothing if pipelines.verify is not offered.
//
// The first verification of a runtime sweeps by itself. A program that runs for long calls SweepWhile.
func (r *Runtime) Sweep(ctx context.Context) ([]string, error) {
	if _, off := r.hidden[verifyTool]; off {
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
		case !isNotFound(err): // otherwise another sweep was faster
			failed = append(failed, err)
		}
		return ctx.Err() == nil
	})
	return swept, errors.Join(failed...)
}

// leftover reports whether no process will delete a temporary pipeline by itself.
func (t *temporaries) leftover(id temporaryID, now time.Time) bool {
	if own, live := t.held(id); own {
		return !live
	}
	alive, known := id.owner.Alive()
	if known {
		return !alive
	}
	return now.Sub(id.created) > leftoverAge
}

// sweepOnce sweeps in the background when it is called for the first time.
func (r *Runtime) sweepOnce() {
	r.swept.Do(func() { r.temporary.begin(func() { r.sweep(context.Background()) }) })
}

// sweep sweeps and logs the result.
func (r *Runtime) sweep(ctx context.Context) {
	swept, err := r.Sweep(ctx)
	for _, id := range swept {
		r.log.Info("swept a temporary pipeline that was left behind", "id", id)
	}
	if err != nil && ctx.Err() == nil {
		r.log.Info("temporary pipelines cannot be swept", "error", err)
	}
}

// SweepWhile sweeps until ctx ends: at once, then after growing pauses, because the Manager may still be carrying out a
// request of a process that was killed, and finally every ten minutes.
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
