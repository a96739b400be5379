package library

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// Remove deletes the workflow that a name stands for: the saved one with its statistics and its bundle, else the draft. A draft
// that the saved workflow hid stays, and so do the files that a draft refers to. Of a symbolic link Remove deletes only the link, wherever that leads.
func (l *Library) Remove(ctx context.Context, name string) (*Entry, error) {
	var removed *Entry
	err := l.home.Lock(ctx, savedFolder, func() error {
		e, err := l.find(name, l.removable)
		if err != nil {
			return err
		}
		if e.Saved && e.Bundled() {
			if err = l.removeFiles(name); err == nil { // which the bundle hides
				err = l.home.RemoveFolder(savedFolder, name)
			}
		} else {
			err = os.Remove(e.Path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return unusable("remove", name, err)
		}
		e.removeEmptyFolder()
		removed = e
		if e.Saved {
			return l.RemoveStats(name)
		}
		return nil
	})
	return removed, err
}

// removeEmptyFolder removes the folder of a draft that had one of its own, if nothing else is in it.
func (e *Entry) removeEmptyFolder() {
	if e.Bundled() {
		_ = os.Remove(e.Dir())
	}
}

// removable is like at, but a link may lead anywhere. The folder may not: then the file would not be one of the home.
func (l *Library) removable(saved bool, name string) (*Entry, error) {
	if err := l.home.CheckInside(folder(saved)); err != nil {
		return nil, err
	}
	return l.locate(saved, name, func(path string) bool { return isFile(path) || isLink(path) })
}
