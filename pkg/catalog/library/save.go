package library

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// firstVersion is the version of a workflow that declares none.
const firstVersion = "1.0.0"

// Save moves a draft to the library under its final name, in its own form. It changes nothing in the text except description
// (if one is given), created_at, updated_at and version. If the name is taken, even by another program at the same time, the
// error is an already_exists. With force Save replaces the saved workflow, so that at every moment one of that name exists.
// A workflow that refers to files or runs workflows by their paths is saved as a bundle: a folder that has a copy of all of them. The
// draft is removed last, and the files that it refers to stay.
func (l *Library) Save(ctx context.Context, draft, final, description string, force bool) (*Saved, error) {
	if err := home.CheckName("workflow", final); err != nil {
		return nil, err
	}
	var saved *Saved
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
		needs, err := l.need(file)
		if err != nil {
			return err
		}
		if len(needs.files) > 0 {
			err = l.putBundle(final, final+ending(file), text, needs)
		} else {
			err = l.put(final+ending(file), text, before)
		}
		if err != nil {
			return err
		}
		remember(l, draft, final, true)
		if err := drop(from, file.Source); err != nil {
			return err
		}
		entry, err := l.Find(final)
		saved = &Saved{entry, needs.names(), needs.left}
		return err
	})
	return saved, err
}

// Saved is a workflow that was saved.
type Saved struct {
	*Entry
	// Files are the paths of the files in its bundle except its own, relative to the folder of the bundle.
	Files []string
	// NotBundled names what the workflow needs that is not in the bundle.
	NotBundled []*fault.Fault
}

// createdAt returns the time of creation that the workflow declares, else that of the workflow it replaces, else now.
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

// ending returns the ending of the file name for the form of a workflow.
func ending(file *workflow.File) string {
	if file.Markdown {
		return markdownEnding
	}
	return jsonEnding
}

// put writes a saved workflow: a new file, or one that replaces the old file in one rename. An old file of the other form is
// renamed to the new name first, so that at every moment there is exactly one file; meanwhile its text shows its form. An old bundle
// precedes the file until it is removed, in one rename too.
func (l *Library) put(file string, text []byte, before *Entry) error {
	if before != nil && before.Bundled() {
		if err := l.removeFiles(before.Name); err != nil {
			return err
		}
		if err := create(l.home, text, savedFolder, file); err != nil {
			return err
		}
		return l.home.RemoveFolder(savedFolder, before.Name)
	}
	if before == nil {
		return create(l.home, text, savedFolder, file)
	}
	return replace(before, text, savedFolder, file)
}

// replace replaces the file of an entry by a new one, of either form, in the same folder and in one rename.
func replace(before *Entry, text []byte, folder, file string) error {
	tmp, err := temporary(before.lib.home, text, folder, file)
	if err != nil {
		return err
	}
	defer func() { _ = tmp.Cleanup() }()
	if path := before.lib.home.Path(folder, file); before.Path != path {
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

// create writes a new file in one step: it links a temporary file, which fails if the name is taken.
func create(h *home.Home, text []byte, folder, file string) error {
	tmp, err := temporary(h, text, folder, file)
	if err != nil {
		return err
	}
	defer func() { _ = tmp.Cleanup() }()
	if err = tmp.Sync(); err == nil {
		err = os.Link(tmp.Name(), h.Path(folder, file))
	}
	if errors.Is(err, fs.ErrExist) {
		return taken(folder, nameOf(file))
	}
	if err != nil {
		return unusable("save", nameOf(file), err)
	}
	return nil
}

// temporary writes the text of a file to a temporary one in the same folder, and removes those that killed programs have left of the
// file. The caller has the lock, so nothing else writes one.
func temporary(h *home.Home, text []byte, folder, file string) (*renameio.PendingFile, error) {
	if err := h.CheckInside(folder); err != nil {
		return nil, err
	}
	dir, err := h.Make(folder)
	if err != nil {
		return nil, err
	}
	left, _ := fs.Glob(os.DirFS(dir), "."+file+"[0-9]*") // as renameio names them
	for _, name := range left {
		_ = os.Remove(filepath.Join(dir, name))
	}
	tmp, err := renameio.NewPendingFile(h.Path(folder, file), renameio.WithTempDir(dir), renameio.WithPermissions(0o600), renameio.IgnoreUmask())
	if err != nil {
		return nil, unusable("save", nameOf(file), err)
	}
	if _, err = tmp.Write(text); err != nil {
		_ = tmp.Cleanup()
		return nil, unusable("save", nameOf(file), err)
	}
	return tmp, nil
}

// nameOf returns the workflow's name, which has no dot, from the name of its file.
func nameOf(file string) string {
	name, _, _ := strings.Cut(file, ".")
	return name
}

// drop removes a draft that was saved and its statistics, which count what was tried before the saved workflow was there, unless its text has changed since it was read.
func drop(draft *Entry, saved []byte) error {
	now, err := draft.Source()
	if err != nil || !bytes.HasSuffix(now, saved) { // saved has no byte order mark
		return nil
	}
	if err := os.Remove(draft.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unusable("remove the draft of", draft.Name, err).Suggest("The workflow is saved; only the removal of its draft failed")
	}
	draft.removeEmptyFolder()
	return draft.forgetRuns()
}

// taken returns the fault of a name that a workflow in one of the folders has.
func taken(folder, name string) *fault.Fault {
	if folder == draftsFolder {
		return fault.Known(fault.AlreadyExists, "FileExistsError", "The draft %q already exists; nothing was changed", name).
			Suggest("Choose another name, or continue with that draft").Then(fault.Command("Read it", "pflow-lib show %s", name))
	}
	return fault.Known(fault.AlreadyExists, "FileExistsError", "The library already has a workflow %q; nothing was changed", name).
		Suggest("Choose another name").
		Then(fault.ByPerson("Replace it", "pflow-lib save --force DRAFT %s", name))
}
