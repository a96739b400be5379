package reader

import "github.com/pflow-suite/pflow/pkg/run/journal"

// OfKey returns the id of the run that was last started with an idempotency key, or "" if there is no such run, or not any more. Keys are
// kept for an hour after their run has ended.
func (r *Runs) OfKey(key string) string {
	if run := journal.NewKey(r.home, key).Last(); run != nil {
		return run.ID
	}
	return ""
}
