package library

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// firstVersion is the version of a workflow that says none itself.
const firstVersion = "1.0.0"

// Save moves a draft into the library under its final name, in the form that its author wrote. The text stays as it is
// but for description (when one is given), created_at, updated_at and version. A name that is taken is an
// already_exists, also when another program takes it at this very moment; with force the saved workflow is replaced,
// and there is one of that name all the time. The draft goes last.
func (l *Library) Save(ctx context.Context, draft, final, description string, force bool) (*Entry, error) {
	if err := home.CheckName("workflow", final); err != nil {
		return nil, err
	}
	var saved *Entry
	err := l.home.Lock(ctx, savedFolder, func() error {
		from, err := l.Draft(draft)
		if err != nil {
			return err
		}
		file, err := from.Load()
		if err != nil {
			return err
		}
		before, err := l.at(true, final)
		if err != nil {
			return err
		}
		if before != nil && !force {
			return taken(savedFolder, final)
		}
		text, err := file.WithMetadata(description, createdAt(file, before), time.Now().UTC(), cmp.Or(file.Version, firstVersion))
		if err != nil {
			return err
		}
		if err := l.put(final+ending(file), text, before); err != nil {
			return err
		}
		if err := l.drop(from, file.Source); err != nil {
			return err
		}
		saved, err = l.Find(final)
		return err
	})
	return saved, err
}

// createdAt is when the workflow says that it was made, else when the one was that it replaces, else now.
func createdAt(file *workflow.File, before *Entry) time.Time {
	if !file.CreatedAt.IsZero() {
		return file.CreatedAt
	}
	if before != nil {
		if old, err := before.Load(); err == nil && !old.CreatedAt.IsZero() {
			return old.CreatedAt
		}
	}
	return time.Now().UTC()
}

// ending is how the name of a file of this form ends.
func ending(file *workflow.File) string {
	if file.Markdown {
		return markdownEnding
	}
	return jsonEnding
}

// put writes a saved workflow: a new one, or one in the place of the one before in one rename. One of the other form is
// given the new file's name first, so that at every moment there is exactly one file; its form is told by its text.
func (l *Library) put(file string, text []byte, before *Entry) error {
	if before == nil {
		return l.create(text, savedFolder, file)
	}
	tmp, err := l.temporary(text, savedFolder, file)
	if err != nil {
		return err
	}
	defer func() { _ = tmp.Cleanup() }()
	if path := l.home.Path(savedFolder, file); before.Path != path {
		err = os.Rename(before.Path, path)
	}
	if err == nil {
		err = tmp.CloseAtomicallyReplace()
	}
	if err != nil {
		return unusable("replace", before.Name, err)
	}
	return nil
}

// create writes a file that is not there yet, in one step: a link, which fails on a name that is taken.
func (l *Library) create(text []byte, folder, file string) error {
	tmp, err := l.temporary(text, folder, file)
	if err != nil {
		return err
	}
	defer func() { _ = tmp.Cleanup() }()
	if err = tmp.Sync(); err == nil {
		err = os.Link(tmp.Name(), l.home.Path(folder, file))
	}
	if errors.Is(err, fs.ErrExist) {
		return taken(folder, nameOf(file))
	}
	if err != nil {
		return unusable("save", nameOf(file), err)
	}
	return nil
}

// temporary writes what is to become a file, beside it.
func (l *Library) temporary(text []byte, folder, file string) (*renameio.PendingFile, error) {
	dir, err := l.home.Make(folder)
	if err != nil {
		return nil, err
	}
	tmp, err := renameio.NewPendingFile(l.home.Path(folder, file), renameio.WithTempDir(dir), renameio.WithPermissions(0o600), renameio.IgnoreUmask())
	if err != nil {
		return nil, unusable("save", nameOf(file), err)
	}
	if _, err = tmp.Write(text); err != nil {
		_ = tmp.Cleanup()
		return nil, unusable("save", nameOf(file), err)
	}
	return tmp, nil
}

// nameOf is the workflow's name in that of its file: there is no dot in it.
func nameOf(file string) string {
	name, _, _ := strings.Cut(file, ".")
	return name
}

// drop removes a draft that was saved, unless its author has written a new one meanwhile.
func (l *Library) drop(draft *Entry, saved []byte) error {
	now, err := draft.Source()
	if err != nil || !bytes.HasSuffix(now, saved) { // the bytes that were parsed are without a byte order mark
		return nil
	}
	if err := os.Remove(draft.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unusable("remove the draft of", draft.Name, err).Suggest("It is saved; only its draft is left over")
	}
	return nil
}

// taken is the fault of a name that a workflow in one of the folders has.
func taken(folder, name string) *fault.Fault {
	if folder == draftsFolder {
		return fault.New(fault.AlreadyExists, "FileExistsError: there is a draft %q already; nothing was changed", name).
			Suggest("Choose another name, or go on with that one: pflow-lib show %s", name)
	}
	return fault.New(fault.AlreadyExists, "FileExistsError: a workflow %q is in the library already; nothing was changed", name).
		Suggest("Choose another name").
		Suggest("To replace it use pflow-lib save --force on the command line")
}
