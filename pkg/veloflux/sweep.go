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

// Sweep deletes the temporary pipelines that verifications have left behind: those whose process is dead, and of processes
// on other machines those older than 10 minutes. It never touches one of a process that is alive, and does nothing where
// pipelines.verify is not on offer. It gives the ids that it deleted.
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
		t, ours := parseTemporary(id)
		if !ours || !t.leftover(time.Now()) {
			return true
		}
		switch err := r.manager.DeletePipeline(ctx, id); {
		case err == nil:
			swept = append(swept, id)
		case asError(err).Code != CodeNotFound: // else another sweep was faster
			failed = append(failed, err)
		}
		return ctx.Err() == nil
	})
	return swept, errors.Join(failed...)
}

// leftover says whether nobody will delete a temporary pipeline any more.
func (t temporaryID) leftover(now time.Time) bool {
	alive, known := t.owner.Alive()
	if known {
		return !alive
	}
	return now.Sub(t.created) > leftoverAge
}

// Verifies says whether a tool, by either spelling of its name, makes temporary pipelines.
func Verifies(tool string) bool { return dotted(tool) == verifying }

// SweepWhile sweeps until ctx ends: at once, again soon after, for a request of a process that was killed may still be
// on its way through the Manager, and from then on every ten minutes.
func (r *Runtime) SweepWhile(ctx context.Context) {
	for wait := time.Second; ; wait = min(4*wait, leftoverAge) {
		swept, err := r.Sweep(ctx)
		for _, id := range swept {
			r.log.Info("swept a temporary pipeline that was left behind", "id", id)
		}
		if err != nil && ctx.Err() == nil {
			r.log.Info("temporary pipelines cannot be swept", "error", err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}
