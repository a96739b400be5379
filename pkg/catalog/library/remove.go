package library

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/pflow-suite/pflow/pkg/home"
)

// Remove deletes the workflow that a name stands for: the saved one with its bundle, else the draft, and its statistics. A draft
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
		return e.forgetRuns()
	})
	return removed, err
}

// removeEmptyFolder removes the folder of a draft that had one of its own, if nothing else is in it.
func (e *Entry) removeEmptyFolder() {
	if e.Bundled() {
		_ = os.Remove(e.Dir())
	}
}

// RemoveDraft deletes the draft of a name, even if a saved workflow hides it. It deletes its statistics and nothing else. As with Remove, the files that
// the draft refers to stay, and of a symbolic link only the link is deleted. With a form, as [Entry.Form] returns it, RemoveDraft deletes
// the file of that form only; if the draft has the other form too, that one and the statistics stay.
func (l *Library) RemoveDraft(ctx context.Context, name, form string) (*Entry, error) {
	if err := home.CheckName("workflow", name); err != nil {
		return nil, err
	}
	var removed *Entry
	err := l.home.Lock(ctx, savedFolder, func() error {
		if err := l.home.CheckInside(draftsFolder); err != nil {
			return err
		}
		e, err := l.locate(false, name, func(path string) bool { return inForm(path, form) && (isFile(path) || isLink(path)) })
		if err != nil {
			return err
		}
		if e == nil {
			return noDraft(l, name, form)
		}
		if err := os.Remove(e.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return unusable("remove the draft of", name, err)
		}
		e.removeEmptyFolder()
		removed = e
		if isFile(otherForm(e.Path)) {
			return nil
		}
		return e.forgetRuns()
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
