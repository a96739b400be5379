package library

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Rename gives the workflow that a name stands for, the saved one or else the draft, a name that no workflow has, saved or not; a name that
// is taken is an already_exists. A workflow in a folder of its own keeps the other files there. The statistics go on under the new name; the runs
// so far keep the old one. At every moment the workflow has exactly one of the two names.
func (l *Library) Rename(ctx context.Context, name, next string) (*Entry, error) {
	for _, name := range []string{name, next} {
		if err := home.CheckName("workflow", name); err != nil {
			return nil, err
		}
	}
	var renamed *Entry
	err := l.home.Lock(ctx, savedFolder, func() error {
		e, err := l.Find(name)
		if err != nil {
			return err
		}
		for _, saved := range []bool{true, false} {
			switch there, err := l.at(saved, next); {
			case err != nil:
				return err
			case there != nil:
				return taken(folder(saved), next)
			}
		}
		if err := e.move(next); err != nil {
			return err
		}
		remember(l, name, next, false)
		if err := e.renameRuns(next); err != nil {
			return err
		}
		renamed, err = l.at(e.Saved, next)
		if err == nil && renamed == nil {
			err = gone(next)
		}
		return err
	})
	return renamed, err
}

// move gives the file of the workflow, and the folder that it may have of its own, another name. The caller has the lock.
func (e *Entry) move(next string) error {
	file := filepath.Base(e.Path)
	nextFile := next + strings.TrimPrefix(file, e.Name)
	if !e.Bundled() {
		return e.moved(next, e.lib.home.Move(nextFile, folder(e.Saved), file))
	}
	// The folder has the file under both names while the folder itself is renamed, so it is a bundle before and after. A killed
	// program leaves the other name, which is not in the way.
	second := filepath.Join(e.Dir(), nextFile)
	err := os.Link(e.Path, second)
	if errors.Is(err, fs.ErrExist) && sameFile(e.Path, second) {
		err = nil
	}
	if err != nil {
		return e.moved(next, err)
	}
	if e.Saved { // the bundle hides them; without it they would have the name
		if err := e.lib.removeFiles(e.Name); err != nil {
			return err
		}
	}
	if err := e.lib.home.Move(next, folder(e.Saved), e.Name); err != nil {
		_ = os.Remove(second)
		return e.moved(next, err)
	}
	if err := os.Remove(e.lib.home.Path(folder(e.Saved), next, file)); err != nil {
		return unusable("rename", e.Name, err)
	}
	return nil
}

// moved returns the fault of an error in giving the workflow another name, or nil.
func (e *Entry) moved(next string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return fault.Known(fault.AlreadyExists, "FileExistsError", "Something else in the home's %s folder has the name %q; nothing was changed", folder(e.Saved), next).
			Suggest("Choose another name, or move that away")
	case errors.Is(err, fs.ErrNotExist):
		return gone(e.Name)
	}
	return unusable("rename", e.Name, err)
}

func sameFile(a, b string) bool {
	one, err := os.Lstat(a)
	if err != nil {
		return false
	}
	other, err := os.Lstat(b)
	return err == nil && os.SameFile(one, other)
}

// UsedBy returns the workflows, saved ones and drafts, with a node that runs the workflow of a name.
func (l *Library) UsedBy(name string) (users []*Entry) {
	for _, saved := range []bool{true, false} {
		for _, other := range l.Names(saved) {
			e, err := l.at(saved, other)
			if err != nil || e == nil {
				continue // a broken workflow does not run anything
			}
			file, err := e.Load()
			if err != nil {
				continue
			}
			if runs(file, name, 0) {
				users = append(users, e)
			}
		}
	}
	return users
}

// runs reports whether a node of a workflow, or of one that is written inside it, runs the workflow of a name.
func runs(file *workflow.File, name string, depth int) bool {
	for i := range file.Workflow.Nodes {
		n := &file.Workflow.Nodes[i]
		sub, ok := workflow.SubOf(n.Params)
		if n.Type != workflow.SubType || !ok || depth > workflow.MaxDepth {
			continue
		}
		if sub.Inline == nil {
			if sub.Ref == name {
				return true
			}
			continue
		}
		if inline, err := file.Inline("", sub.Inline); err == nil && runs(inline, name, depth+1) {
			return true
		}
	}
	return false
}
