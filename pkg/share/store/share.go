package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/share/sealed"
)

// Share is a workflow that whoever has the token may run.
type Share struct {
	Token, Workflow string
	OwnerFunded     bool
	Created         time.Time
}

// tokenLength is the number of characters of a share's token, jobLength that of a job's id after its prefix.
const (
	tokenLength = 12
	jobLength   = 16
)

// Add shares a workflow under a new token.
func (s *Store) Add(ctx context.Context, workflow string, ownerFunded bool) (Share, error) {
	share := Share{Token: sealed.Random(tokenLength), Workflow: workflow, OwnerFunded: ownerFunded}
	err := s.change(ctx, func(tx *sql.Tx) error {
		share.Created = s.now()
		_, err := tx.ExecContext(ctx, "INSERT INTO shares VALUES (?, ?, ?, ?)", share.Token, workflow, ownerFunded, share.Created.UnixMilli())
		return err
	})
	return share, err
}

// Remove ends a share. Its jobs stay. It reports whether there was one.
func (s *Store) Remove(ctx context.Context, token string) (removed bool, err error) {
	return s.remove(ctx, "DELETE FROM shares WHERE token = ?", token)
}

// Share returns the share of a token. If there is no such share, the error is a fault of the type not_found.
func (s *Store) Share(ctx context.Context, token string) (Share, error) {
	return shareOf(ctx, s.db, token)
}

func shareOf(ctx context.Context, q querier, token string) (Share, error) {
	share := Share{Token: token}
	err := q.QueryRowContext(ctx, "SELECT workflow, owner_funded, created_at FROM shares WHERE token = ?", token).Scan(&share.Workflow, &share.OwnerFunded, (*unixMilli)(&share.Created))
	if errors.Is(err, sql.ErrNoRows) {
		return Share{}, UnknownToken()
	}
	return share, broken(err)
}

// UnknownToken returns the fault of a token that shares no workflow.
func UnknownToken() *fault.Fault {
	return fault.New(fault.NotFound, "Flow not found or not accessible: no flow is shared with this token").
		Suggest("Ask the owner of the flow for its link").Then(fault.Command("See what is shared", "pflow-share list"))
}

// Shares returns all shares, in the order in which they were added.
func (s *Store) Shares(ctx context.Context) ([]Share, error) {
	return list(ctx, s, "SELECT token, workflow, owner_funded, created_at FROM shares ORDER BY created_at, token", func(rows *sql.Rows, share *Share) error {
		return rows.Scan(&share.Token, &share.Workflow, &share.OwnerFunded, (*unixMilli)(&share.Created))
	})
}

// now returns the time in the precision of the database.
func (s *Store) now() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }
