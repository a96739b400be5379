package share

import (
	"context"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/reader"
	"github.com/pflow-suite/pflow/pkg/share/store"
)

// State is the status of a job.
type State string

// The states of a job.
const (
	Pending   State = "pending"
	Running   State = "running"
	Completed State = "completed"
	Failed    State = "failed"
)

// JobSummary is a job in a list. The list does not show the tokens.
type JobSummary struct {
	JobID     string    `json:"job_id"`
	Workflow  string    `json:"workflow"`
	Status    State     `json:"status"`
	RunID     string    `json:"run_id,omitempty"`
	CreatedAt time.Time `json:"created_at"`
}

// Jobs returns the jobs of the last hour, newest first. A job whose run was removed is not among them.
func (s *Service) Jobs(ctx context.Context) (list []JobSummary, err error) {
	if s.Store == nil {
		return nil, nil
	}
	if err := s.settle(ctx, 0); err != nil {
		return nil, err
	}
	jobs, err := s.Store.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	for _, job := range jobs {
		v, err := s.view(job)
		switch {
		case err != nil:
			return nil, err
		case v != nil:
			list = append(list, JobSummary{job.ID, job.Workflow, v.state, v.id(), job.Created})
		}
	}
	return list, nil
}

// view is the run of a job, or the newest run that continues it.
type view struct {
	job store.Job
	// run is nil while it is being created.
	run    *reader.Run
	status event.Status
	state  State
}

// view returns the view of a job, or nil if its run was removed.
func (s *Service) view(job store.Job) (*view, error) {
	v := &view{job: job, state: Pending}
	if job.Run == "" {
		return v, nil
	}
	runs := reader.Open(s.Home)
	run, err := runs.Find(job.Run)
	if err == nil && run.Successor() != "" {
		run, err = runs.Find(run.Successor())
	}
	if err == nil {
		v.run = run
		v.status, err = run.Status()
	}
	if f := fault.From(err); f != nil && f.Type == fault.NotFound {
		return nil, nil
	}
	v.state = stateOf(v.status, s.Store.Now().Sub(job.Created))
	return v, err
}

// stateOf returns the state of a job from the status of its run and its age.
func stateOf(status event.Status, age time.Duration) State {
	switch status {
	case reader.Queued:
		return Pending
	case reader.Running:
		return Running
	case event.Paused:
		if age < RunLimit {
			return Running
		}
	case event.Completed, event.Degraded:
		return Completed
	}
	return Failed
}

// id returns the id of the run, or "".
func (v *view) id() string {
	if v.run == nil {
		return ""
	}
	return v.run.ID()
}
