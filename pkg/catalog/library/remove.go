package library

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// Remove deletes the workflow that a name stands for: the saved one with its statistics, else the draft. A draft that the
// saved workflow hid stays. Of a symbolic link Remove deletes only the link, wherever that leads.
func (l *Library) Remove(ctx context.Context, name string) (*Entry, error) {
	var removed *Entry
	err := l.home.Lock(ctx, savedFolder, func() error {
		e, err := l.find(name, l.removable)
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

// removable is like at, but a link may lead anywhere. The folder may not: then the file would not be one of the home.
func (l *Library) removable(saved bool, name string) (*Entry, error) {
	if err := l.home.CheckInside(folder(saved)); err != nil {
		return nil, err
	}
	return l.locate(saved, name, func(path string) bool { return isFile(path) || isLink(path) })
}
