package reader

import (
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// Latest returns the n newest runs, the newest first. A run that cannot be read has only its id. Unlike List it writes no index.
func (r *Runs) Latest(n int) (list []Summary) {
	records, _ := journal.List(r.home)
	for _, rec := range records[:min(n, len(records))] {
		s := Summary{RunID: rec.ID}
		if f, err := facts(rec); err == nil {
			s = Summary{f.Run, f.Workflow, f.Status, f.StartedAt, f.DurationMS}
		}
		list = append(list, s)
	}
	return list
}
