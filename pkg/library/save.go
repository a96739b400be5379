package library

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/google/renameio/v2"
	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// firstVersion is the version of a workflow that says none itself.
const firstVersion = "1.0.0"

// Save moves a draft into the library under its final name. The text stays as its author wrote it but for description
// (when one is given), created_at, updated_at and version. A name that is taken is an already_exists, also when another
// program takes it at this very moment; with force the saved workflow is replaced in one rename. The draft goes last.
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
		before := l.at(true, final)
		if before != nil && !force {
			return taken(final)
		}
		text, err := dated(file, description, createdAt(file, before), time.Now().UTC())
		if err != nil {
			return err
		}
		if err := l.put(final, text, force); err != nil {
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

// put writes a saved workflow in one step: a link, which fails on a name that is taken, or with force a rename.
func (l *Library) put(name string, text []byte, force bool) error {
	if force {
		return l.home.Write(text, 0o600, savedFolder, name+extension)
	}
	dir, err := l.home.Make(savedFolder)
	if err != nil {
		return err
	}
	tmp, err := renameio.NewPendingFile(l.home.Path(savedFolder, name+extension), renameio.WithTempDir(dir), renameio.WithPermissions(0o600), renameio.IgnoreUmask())
	if err != nil {
		return unusable("save", name, err)
	}
	defer func() { _ = tmp.Cleanup() }()
	if _, err = tmp.Write(text); err == nil {
		err = tmp.Sync()
	}
	if err == nil {
		err = os.Link(tmp.Name(), l.home.Path(savedFolder, name+extension))
	}
	if errors.Is(err, fs.ErrExist) {
		return taken(name)
	}
	if err != nil {
		return unusable("save", name, err)
	}
	return nil
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

func taken(name string) *fault.Fault {
	return fault.New(fault.AlreadyExists, "FileExistsError: a workflow %q is in the library already; nothing was changed", name).
		Suggest("Choose another name").
		Suggest("To replace it use pflow-lib save --force on the command line")
}

// dated is the file's text with what saving adds to it.
func dated(file *workflow.File, description string, created, updated time.Time) ([]byte, error) {
	text := bytes.Clone(file.Source)
	if description != "" {
		where := ""
		if file.Wrapped && gjson.GetBytes(text, "ir.description").String() != "" { // this one is what is read
			where = "ir"
		}
		text = set(text, where, "description", description)
	}
	text = set(text, "", "created_at", created.Format(time.RFC3339Nano))
	text = set(text, "", "updated_at", updated.Format(time.RFC3339Nano))
	if file.Version == "" {
		text = set(text, "", "version", firstVersion)
	}
	if _, err := workflow.Parse(file.Name, text); err != nil {
		return nil, err
	}
	return text, nil
}

// set gives JSON text with one key of the object at a path (or of the whole) set. All other bytes stay; a new key comes
// last, and is laid out as the first is. The object is not empty: a workflow has nodes.
func set(text []byte, path, key, value string) []byte {
	object := gjson.ParseBytes(text)
	if path != "" {
		object = object.Get(path)
	}
	from, to := -1, -1
	object.ForEach(func(k, v gjson.Result) bool {
		if to = v.Index + len(v.Raw); k.String() == key {
			from = v.Index
			return false
		}
		return true
	})
	quoted := rawjson.Quote(value)
	if from >= 0 {
		return slices.Concat(text[:from], quoted, text[to:])
	}
	inside := text[object.Index+1:]
	space := inside[:len(inside)-len(bytes.TrimLeft(inside, " \t\r\n"))]
	colon := `":`
	if len(space) > 0 {
		colon = `": `
	}
	return slices.Concat(text[:to], []byte{','}, space, []byte(`"`+key+colon), quoted, text[to:])
}
