package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// JobPrefix begins the id of each job.
const JobPrefix = "job_"

const (
	// Lifetime is how long a job is shown after it was made.
	Lifetime = time.Hour
	// MaxJobs is how many jobs are kept. The least recently used goes first.
	MaxJobs = 10_000
	// StartLimit is longer than the start of a run takes. A job without a run that is older has lost the process that started it.
	StartLimit = time.Minute
	// keepAdmissions is how long an admission is kept: longer than it counts for a limit.
	keepAdmissions = 48 * time.Hour
)

// Job is the view of a run that whoever knows its id has.
type Job struct {
	ID, Token, Workflow string
	// Run is the id of the run, or empty while it is being created.
	Run     string
	Created time.Time

	admission int64
}

// insertJob adds the job of an admission, and removes those that are too old or too many.
func insertJob(ctx context.Context, tx *sql.Tx, a Admission) error {
	now := a.At.UnixMilli()
	if _, err := tx.ExecContext(ctx, "INSERT INTO jobs VALUES (?, ?, ?, ?, '', ?, (SELECT coalesce(max(used), 0) + 1 FROM jobs))",
		a.Job, a.ID, a.Share.Token, a.Share.Workflow, now); err != nil {
		return err
	}
	var n int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM jobs").Scan(&n); err != nil || n <= MaxJobs {
		return err
	}
	result, err := tx.ExecContext(ctx, "DELETE FROM jobs WHERE created_at <= ? AND run <> ''", now-Lifetime.Milliseconds())
	if err != nil {
		return err
	}
	if gone, err := result.RowsAffected(); err != nil || n-int(gone) <= MaxJobs {
		return err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM jobs WHERE id IN (SELECT id FROM jobs ORDER BY used LIMIT (SELECT count(*) - ? FROM jobs))", MaxJobs)
	return err
}

// SetRun records the run of an admission's job. It brings back a job that Settle has taken for lost.
func (s *Store) SetRun(ctx context.Context, a Admission, run string) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, "UPDATE jobs SET run = ? WHERE id = ?", run, a.Job)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n > 0 {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO admissions VALUES (?, ?, ?, ?)", a.ID, a.Share.Token, a.Share.Workflow, a.At.UnixMilli()); err != nil {
			return err
		}
		if err := insertJob(ctx, tx, a); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE jobs SET run = ? WHERE id = ?", run, a.Job)
		return err
	})
}

// Job returns a job that is not too old to be shown, and records that it was used. ok is false if there is no such job.
func (s *Store) Job(ctx context.Context, id string) (job Job, ok bool, err error) {
	err = s.db.QueryRowContext(ctx, selectJobs+" WHERE id = ? AND created_at > ?", id, s.now().Add(-Lifetime).UnixMilli()).Scan(job.columns()...)
	if errors.Is(err, sql.ErrNoRows) {
		return Job{}, false, nil
	}
	if err != nil {
		return Job{}, false, broken(err)
	}
	// A read does not fail because the disk is full. The newest job need not be noted again.
	_, _ = s.db.ExecContext(ctx, "UPDATE jobs SET used = (SELECT max(used) + 1 FROM jobs) WHERE id = ? AND used < (SELECT max(used) FROM jobs)", id)
	return job, true, nil
}

// Jobs returns the jobs that are not too old to be shown, newest first.
func (s *Store) Jobs(ctx context.Context) ([]Job, error) {
	return jobs(ctx, s.db, " WHERE created_at > ? ORDER BY created_at DESC, used DESC", s.now().Add(-Lifetime).UnixMilli())
}

const selectJobs = "SELECT id, token, workflow, run, created_at, admission FROM jobs"

// columns returns where the columns of selectJobs go.
func (j *Job) columns() []any {
	return []any{&j.ID, &j.Token, &j.Workflow, &j.Run, (*unixMilli)(&j.Created), &j.admission}
}

// unixMilli is a time in milliseconds since 1970.
type unixMilli time.Time

// Scan sets the time from a column.
func (t *unixMilli) Scan(value any) error {
	ms, ok := value.(int64)
	if !ok {
		return errors.New("a time is not a number")
	}
	*t = unixMilli(time.UnixMilli(ms).UTC())
	return nil
}

func jobs(ctx context.Context, q querier, where string, args ...any) (list []Job, err error) {
	rows, err := q.QueryContext(ctx, selectJobs+where, args...)
	if err != nil {
		return nil, broken(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var job Job
		if err := rows.Scan(job.columns()...); err != nil {
			return nil, broken(err)
		}
		list = append(list, job)
	}
	return list, broken(rows.Err())
}

// Settle finishes the jobs without a run that were made before a time, because the process that started their runs was killed. run returns
// the run that was created for a job, or "", and reports whether none is being created. A job whose run was not created within StartLimit is
// removed, and counts no more.
func (s *Store) Settle(ctx context.Context, before time.Time, run func(job string) (id string, settled bool)) error {
	const pending = " WHERE run = '' AND created_at <= ?"
	if list, err := jobs(ctx, s.db, pending, before.UnixMilli()); err != nil || len(list) == 0 {
		return err
	}
	return s.change(ctx, func(tx *sql.Tx) error {
		list, err := jobs(ctx, tx, pending, before.UnixMilli())
		if err != nil {
			return err
		}
		for _, job := range list {
			id, settled := run(job.ID)
			switch {
			case id != "":
				_, err = tx.ExecContext(ctx, "UPDATE jobs SET run = ? WHERE id = ?", id, job.ID)
			case settled && s.now().Sub(job.Created) >= StartLimit:
				_, err = undo(ctx, tx, job.admission)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Sweep removes the jobs that are no longer shown, and admissions that no limit counts any more. It returns the number of jobs.
func (s *Store) Sweep(ctx context.Context) (removed int64, err error) {
	err = s.change(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, "DELETE FROM jobs WHERE created_at <= ? AND run <> ''", s.now().Add(-Lifetime).UnixMilli())
		if err != nil {
			return err
		}
		if removed, err = result.RowsAffected(); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM admissions WHERE at < ?", s.now().Add(-keepAdmissions).UnixMilli())
		return err
	})
	return removed, err
}
