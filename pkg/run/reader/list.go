package reader

import (
	"iter"
	"slices"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/journal"
)

// Statuses are those that a run can have.
func Statuses() []event.Status {
	return []event.Status{
		journal.Running, journal.Interrupted, event.Completed, event.Degraded, event.Failed, event.Cancelled, event.TimedOut, event.Paused, event.Denied,
	}
}

// Query selects runs. An empty field selects all.
type Query struct {
	// Workflow is the name of the runs' workflow.
	Workflow string
	Status   event.Status
}

// Check returns a fault if no run can have the status.
func (q Query) Check() error {
	if q.Status == "" || slices.Contains(Statuses(), q.Status) {
		return nil
	}
	f := fault.New(fault.Usage, "%q is not a status of a run", q.Status)
	for _, s := range Statuses() {
		f.Available = append(f.Available, string(s))
	}
	if near, ok := fault.Nearest(string(q.Status), f.Available); ok {
		f.Suggest("Did you mean %q?", near)
	}
	return f
}

// Summary is a run in a list.
type Summary struct {
	RunID     string       `json:"run_id"`
	Workflow  string       `json:"workflow"`
	Status    event.Status `json:"status"`
	StartedAt *time.Time   `json:"started_at,omitempty"`
	// DurationMS is how long the run took, or nil if it has not ended.
	DurationMS *float64 `json:"duration_ms,omitempty"`
}

// List returns the runs that a query selects, the newest first. An error together with a run's id is about that run alone.
func (r *Runs) List(q Query) iter.Seq2[Summary, error] {
	return func(yield func(Summary, error) bool) {
		if err := q.Check(); err != nil {
			yield(Summary{}, err)
			return
		}
		records, err := journal.List(r.home)
		if err != nil {
			yield(Summary{}, err)
			return
		}
		for _, rec := range records {
			s, err := summary(rec)
			if err != nil && !rec.Exists() {
				continue // it was removed meanwhile
			}
			if err == nil && (q.Status != "" && q.Status != s.Status || q.Workflow != "" && q.Workflow != s.Workflow) {
				continue
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

func summary(rec *journal.Reader) (Summary, error) {
	s := Summary{RunID: rec.ID}
	held := rec.Held()
	first, last, err := rec.FirstAndLast()
	if err != nil {
		return s, err
	}
	s.Status = journal.StatusOf(last, held)
	if first != nil && first.Workflow != nil {
		s.Workflow, s.StartedAt = first.Workflow.Name, &first.Time
	}
	if last != nil && last.IsTerminal() {
		s.DurationMS = last.DurationMS
	}
	return s, nil
}
