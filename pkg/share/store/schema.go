package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// migrations returns the steps from each version of the schema to the next. A step that was released is never changed. Times are
// milliseconds since 1970.
func migrations() []string {
	return []string{`
CREATE TABLE shares (
	token        TEXT PRIMARY KEY,
	workflow     TEXT NOT NULL,
	owner_funded INTEGER NOT NULL,
	created_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A row for each run that was admitted. It outlives the share and the job, because the day of a workflow counts them all.
CREATE TABLE admissions (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	token    TEXT NOT NULL,
	workflow TEXT NOT NULL,
	at       INTEGER NOT NULL
) STRICT;
CREATE INDEX admissions_token ON admissions (token, at);
CREATE INDEX admissions_workflow ON admissions (workflow, at);
CREATE INDEX admissions_at ON admissions (at);

-- used orders jobs by their last use. run is empty until the run of the job is known.
CREATE TABLE jobs (
	id         TEXT PRIMARY KEY,
	admission  INTEGER NOT NULL,
	token      TEXT NOT NULL,
	workflow   TEXT NOT NULL,
	run        TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	used       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX jobs_used ON jobs (used);
CREATE INDEX jobs_created ON jobs (created_at);
CREATE INDEX jobs_admission ON jobs (admission);
CREATE INDEX jobs_pending ON jobs (created_at) WHERE run = '';

-- sealed is the value, encrypted with the name as additional data.
CREATE TABLE keys (
	name       TEXT PRIMARY KEY,
	sealed     BLOB NOT NULL,
	created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`}
}

// migrate brings the schema up to date. It changes nothing in a database of a newer version, or of another program.
func (s *Store) migrate(ctx context.Context) error {
	steps := migrations()
	version, err := s.version(ctx, s.db)
	if err != nil || version == len(steps) {
		return err
	}
	if _, err := s.db.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return broken(err)
	}
	return s.change(ctx, func(tx *sql.Tx) error {
		version, err := s.version(ctx, tx) // another process may have been faster
		if err != nil {
			return err
		}
		for ; version < len(steps); version++ {
			if _, err := tx.ExecContext(ctx, steps[version]); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, version))
		return err
	})
}

// querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// version returns the version of the schema, 0 for an empty database.
func (s *Store) version(ctx context.Context, q querier) (version int, err error) {
	var id, tables int
	err = q.QueryRowContext(ctx, "SELECT (SELECT user_version FROM pragma_user_version), (SELECT application_id FROM pragma_application_id), (SELECT count(*) FROM sqlite_schema)").Scan(&version, &id, &tables)
	switch {
	case err != nil:
		return 0, broken(err)
	case id == 0 && version == 0 && tables == 0:
		return 0, nil
	case id != applicationID || version < 1:
		return 0, unusable("is not a database of pflow-share")
	case version > len(migrations()):
		f := fault.New(fault.Unavailable, "%s in the home folder has the version %d, and this program knows versions up to %d; it was not changed", File, version, len(migrations()))
		f.File = File
		return 0, f.Suggest("Use the newer pflow-share that has written it")
	}
	return version, nil
}
