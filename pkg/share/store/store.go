// Package store keeps what pflow-share knows in a SQLite database in the home: shared workflows, the runs that were admitted, jobs,
// and the owner's encrypted keys. Processes of one machine may use it at the same time: every change is one immediate transaction.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"time"

	sqlite "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

// File is the name of the database in the home. SQLite keeps File-wal and File-shm beside it.
const File = "share.db"

// applicationID marks the database as that of pflow-share: the letters pfsh.
const applicationID = 0x70667368

// busyTimeout is how long a transaction waits for another process.
const busyTimeout = 10 * time.Second

// Store is an open database. Its methods may be called from several goroutines.
type Store struct {
	db *sql.DB
	// Now is the clock, time.Now by default. It is asked inside of transactions, so admissions have the order of their times.
	Now func() time.Time
}

// Open opens the database of a home. If it does not exist, it is created if create is set; otherwise Open returns nil and no error.
// A database of a newer version, and a file that is not a database, are left as they are, and the error is a fault.
func Open(ctx context.Context, h *home.Home, create bool) (*Store, error) {
	file, err := prepare(h, create)
	if file == nil || err != nil {
		return nil, err
	}
	query := url.Values{"_txlock": {"immediate"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "trusted_schema(off)", "cell_size_check(on)", "synchronous(normal)", "foreign_keys(on)",
	}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: h.Path(File), RawQuery: query.Encode()}).String())
	if err != nil {
		return nil, broken(err)
	}
	db.SetMaxOpenConns(1)
	s := &Store{db: db, Now: time.Now}
	if err := s.migrate(ctx); err != nil {
		_ = db.Close()
		return nil, err
	}
	return s, nil
}

// Close closes the database.
func (s *Store) Close() { _ = s.db.Close() }

// prepare returns the file of the database, or nil if there is none. If create is set, it creates an empty one. SQLite gives the files
// beside it the same permissions.
func prepare(h *home.Home, create bool) (os.FileInfo, error) {
	if err := h.CheckInside(File); err != nil {
		return nil, err
	}
	info, err := os.Stat(h.Path(File))
	switch {
	case errors.Is(err, fs.ErrNotExist) && !create:
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		if _, err := h.Make(); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(h.Path(File), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, broken(err)
		}
		info, err = f.Stat()
		return info, errors.Join(err, f.Close())
	case err != nil:
		return nil, broken(err)
	case !info.Mode().IsRegular():
		return nil, unusable("is not a regular file")
	case info.Mode().Perm()&0o077 != 0:
		if err := os.Chmod(h.Path(File), 0o600); err != nil {
			return nil, broken(err)
		}
	}
	return info, nil
}

// change calls f in an immediate transaction, which is committed if f returns nil.
func (s *Store) change(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return broken(err)
	}
	if err := f(tx); err != nil {
		_ = tx.Rollback()
		return broken(err)
	}
	return broken(tx.Commit())
}

// remove executes a statement that deletes what a key names. It reports whether there was something.
func (s *Store) remove(ctx context.Context, statement, key string) (removed bool, err error) {
	err = s.change(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, statement, key)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		removed = n > 0
		return err
	})
	return removed, err
}

// list returns the rows of a query, each as scan reads it.
func list[T any](ctx context.Context, s *Store, query string, scan func(rows *sql.Rows, into *T) error) (all []T, err error) {
	rows, err := s.db.QueryContext(ctx, query)
	if err != nil {
		return nil, broken(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var one T
		if err := scan(rows, &one); err != nil {
			return nil, broken(err)
		}
		all = append(all, one)
	}
	return all, broken(rows.Err())
}

// broken returns the fault of an error of the database. It keeps faults, nil and the end of a context.
func broken(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_NOTADB:
			return unusable("is not a database of pflow-share")
		case sqlite3.SQLITE_CORRUPT:
			return unusable("is damaged")
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			f := fault.New(fault.Conflict, "Other programs have been changing %s in the home folder for %s", File, busyTimeout)
			f.Retryable = true
			return f.Suggest("Try again when they have finished")
		}
	}
	f := fault.New(fault.Internal, "Cannot use %s in the home folder: %v", File, fault.Reason(err))
	f.File = File
	return f.Suggest("Check the folder that PFLOW_HOME names (by default ~/.pflow): its permissions and the space on its disk")
}

// unusable returns the fault of a file that is no database of this program.
func unusable(why string) *fault.Fault {
	f := fault.New(fault.Unavailable, "%s in the home folder %s, so it was not changed", File, why)
	f.File = File
	return f.Suggest("Restore %[1]s from a backup, or move %[1]s, %[1]s-wal and %[1]s-shm away to begin without shares", File)
}
