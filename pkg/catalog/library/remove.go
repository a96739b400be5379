package library

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// Remove deletes the workflow that a name stands for: the saved one with its statistics, else the draft. A draft that the
// saved workflow hid stays.
func (l *Library) Remove(ctx context.Context, name string) (*Entry, error) {
	var removed *Entry
	err := l.home.Lock(ctx, savedFolder, func() error {
		e, err := l.Find(name)
		if err != nil {
			return err
		}
		if err := os.Remove(e.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return unusable("remove", name, err)
		}
		removed = e
		if e.Saved {
			return l.RemoveStats(name)
		}
		return nil
	})
	return removed, err
}
