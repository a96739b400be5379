package reader

import (
	"context"
	"fmt"

	"github.com/pflow-suite/pflow/pkg/run/index"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// Verified is what Verify has looked at, and what is damaged.
type Verified struct {
	Runs    int              `json:"runs"`
	Values  int              `json:"values"`
	Defects []journal.Defect `json:"defects"`
}

// Verify reads the journals of runs and compares their long values with the names of these. Without refs it reads all runs and their index.
// It changes nothing.
func (r *Runs) Verify(ctx context.Context, refs []string) (*Verified, error) {
	v := &Verified{Defects: []journal.Defect{}}
	var runs []*journal.Reader
	for _, ref := range refs {
		run, err := journal.Find(r.home, ref)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	if len(refs) == 0 {
		var err error
		if runs, err = journal.List(r.home); err != nil {
			return nil, err
		}
		if n := index.Damaged(r.home); n > 0 {
			v.Defects = append(v.Defects, journal.Defect{File: "runs/.index", Problem: fmt.Sprintf("%d lines are damaged; the journals have what they said", n)})
		}
	}
	for _, run := range runs {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		values, defects := run.Verify()
		if run.Exists() { // it was not removed meanwhile
			v.Runs, v.Values, v.Defects = v.Runs+1, v.Values+values, append(v.Defects, defects...)
		}
	}
	return v, nil
}
