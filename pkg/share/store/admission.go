package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/share/sealed"
)

// The limits of runs: of a token in any time of the length Window, and of a workflow on a day in UTC.
const (
	PerWindow = 10
	Window    = time.Minute
	PerDay    = 100
)

// Admission is a run that was admitted and counted.
type Admission struct {
	ID int64
	// Job is the id of the job that was made for the run, or empty.
	Job   string
	Share Share
	At    time.Time
	// Remaining is how many more runs of the workflow are admitted on this day.
	Remaining int
}

// Admit counts a run of the token's workflow if the limits allow it. Otherwise it counts nothing, and the error is a fault of the type
// rate_limited. With job set it makes a job for the run in the same transaction.
func (s *Store) Admit(ctx context.Context, token string, job bool) (a Admission, err error) {
	err = s.change(ctx, func(tx *sql.Tx) error {
		if a.Share, err = shareOf(ctx, tx, token); err != nil {
			return err
		}
		a.At = s.now()
		used, err := s.checkLimits(ctx, tx, a)
		if err != nil {
			return err
		}
		a.Remaining = PerDay - used - 1
		result, err := tx.ExecContext(ctx, "INSERT INTO admissions (token, workflow, at) VALUES (?, ?, ?)", token, a.Share.Workflow, a.At.UnixMilli())
		if err != nil {
			return err
		}
		if a.ID, err = result.LastInsertId(); err != nil || !job {
			return err
		}
		a.Job = JobPrefix + sealed.Random(jobLength)
		return insertJob(ctx, tx, a)
	})
	return a, err
}

// checkLimits returns how many runs the workflow has had on the day, or the fault of a limit.
func (s *Store) checkLimits(ctx context.Context, tx *sql.Tx, a Admission) (today int, err error) {
	now := a.At.UnixMilli()
	// The tenth newest one leaves the window first. One from the future, after the clock was set back, counts too.
	var recent int
	var tenth int64
	err = tx.QueryRowContext(ctx, "SELECT count(*), coalesce(min(at), 0) FROM (SELECT at FROM admissions WHERE token = ? AND at > ? ORDER BY at DESC LIMIT ?)",
		a.Share.Token, now-Window.Milliseconds(), PerWindow).Scan(&recent, &tenth)
	if err != nil {
		return 0, err
	}
	if recent >= PerWindow {
		wait := time.Duration(tenth+Window.Milliseconds()-now) * time.Millisecond
		return 0, limited(fmt.Sprintf("Rate limit exceeded. Try again in %d seconds.", (wait+time.Second-1)/time.Second), wait)
	}
	day := a.At.Truncate(24 * time.Hour)
	next := day.Add(24 * time.Hour)
	err = tx.QueryRowContext(ctx, "SELECT count(*) FROM admissions WHERE workflow = ? AND at >= ? AND at < ?",
		a.Share.Workflow, day.UnixMilli(), next.UnixMilli()).Scan(&today)
	if err == nil && today >= PerDay {
		return 0, limited("Daily execution quota exceeded.", next.Sub(a.At))
	}
	return today, err
}

// limited returns the fault of a limit that passes with time.
func limited(message string, wait time.Duration) *fault.Fault {
	f := fault.New(fault.RateLimited, "%s", message)
	f.Retryable = true
	return f.Detail("retry_after_ms", wait.Milliseconds()).
		Suggest("%d runs in a minute of one token, and %d runs a day (UTC) of one flow, are admitted", PerWindow, PerDay)
}

// Undo takes back an admission whose run was not created, with its job. The run of a job that has one stays counted, and the error is a
// conflict.
func (s *Store) Undo(ctx context.Context, id int64) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		var run, job string
		err := tx.QueryRowContext(ctx, "SELECT id, run FROM jobs WHERE admission = ?", id).Scan(&job, &run)
		switch {
		case err == nil && run != "":
			return fault.New(fault.Conflict, "The run of admission %d was created, as %s, so it stays counted", id, job)
		case err != nil && !errors.Is(err, sql.ErrNoRows):
			return err
		}
		found, err := undo(ctx, tx, id)
		if err == nil && !found {
			return fault.New(fault.NotFound, "There is no admission %d", id).Suggest("It was taken back already, or is older than two days")
		}
		return err
	})
}

// undo removes an admission and its job. It reports whether there was an admission.
func undo(ctx context.Context, tx *sql.Tx, id int64) (found bool, err error) {
	if _, err := tx.ExecContext(ctx, "DELETE FROM jobs WHERE admission = ?", id); err != nil {
		return false, err
	}
	result, err := tx.ExecContext(ctx, "DELETE FROM admissions WHERE id = ?", id)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// Remaining returns for each workflow how many more runs are admitted today.
func (s *Store) Remaining(ctx context.Context) (func(workflow string) int, error) {
	day := s.now().Truncate(24 * time.Hour)
	rows, err := s.db.QueryContext(ctx, "SELECT workflow, count(*) FROM admissions WHERE at >= ? AND at < ? GROUP BY workflow", day.UnixMilli(), day.Add(24*time.Hour).UnixMilli())
	if err != nil {
		return nil, broken(err)
	}
	defer func() { _ = rows.Close() }()
	used := map[string]int{}
	for rows.Next() {
		var workflow string
		var n int
		if err := rows.Scan(&workflow, &n); err != nil {
			return nil, broken(err)
		}
		used[workflow] = n
	}
	return func(workflow string) int { return max(PerDay-used[workflow], 0) }, broken(rows.Err())
}
