package store

import (
	"context"
	"database/sql"
	"time"
)

// SealedKey is an API key of the owner, encrypted.
type SealedKey struct {
	Name    string
	Sealed  []byte
	Created time.Time
}

// SetKey stores a key in place of one of the same name.
func (s *Store) SetKey(ctx context.Context, name string, sealed []byte) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO keys VALUES (?, ?, ?)", name, sealed, s.now().UnixMilli())
		return err
	})
}

// RemoveKey removes a key. It reports whether there was one.
func (s *Store) RemoveKey(ctx context.Context, name string) (removed bool, err error) {
	return s.remove(ctx, "DELETE FROM keys WHERE name = ?", name)
}

// Keys returns the stored keys, sorted by name.
func (s *Store) Keys(ctx context.Context) ([]SealedKey, error) {
	return list(ctx, s, "SELECT name, sealed, created_at FROM keys ORDER BY name", func(rows *sql.Rows, key *SealedKey) error {
		return rows.Scan(&key.Name, &key.Sealed, (*unixMilli)(&key.Created))
	})
}
