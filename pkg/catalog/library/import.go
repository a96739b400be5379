package library

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Read reads a workflow's file that is not in the home, and the files that it refers to. With the error of a faulty form, Read returns
// what could be read.
func (l *Library) Read(path string) (*workflow.File, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fault.From(err)
	}
	source, err := l.home.ReadInput(abs, path, workflow.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Known(fault.NotFound, "FileNotFoundError", "There is no file %s", path)
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	return l.parse(path, filepath.Dir(abs), source, nil)
}

// Import saves a workflow that is not in the home under a name, byte for byte, with the files that it needs and with others, by their
// paths relative to the workflow's folder. If the library has the same already, changed is false. If it has another workflow of this
// name, the error is an already_exists, unless force is set. With dry, Import only returns what it would do.
func (l *Library) Import(ctx context.Context, name string, file *workflow.File, others map[string][]byte, force, dry bool) (saved *Saved, changed bool, err error) {
	if err := home.CheckName("workflow", name); err != nil {
		return nil, false, err
	}
	needs, err := l.need(file)
	if err != nil {
		return nil, false, err
	}
	for path, content := range others {
		if _, ok := needs.files[path]; !ok {
			needs.files[path] = content
		}
	}
	main := name + ending(file)
	delete(needs.files, main) // its own file, which is among the others in a folder of its own
	saved = &Saved{Files: needs.names(), NotBundled: needs.left}
	step := func() error {
		before, err := l.at(true, name)
		if err != nil {
			return err
		}
		switch {
		case before != nil && before.same(main, file.Source, needs.files):
			saved.Entry = before
			return nil
		case before != nil && !force:
			return fault.Known(fault.AlreadyExists, "FileExistsError", "The library has another workflow %q", name).Suggest("To replace it, add --force")
		}
		if changed = true; dry {
			return nil
		}
		if len(needs.files) > 0 {
			err = l.putBundle(name, main, file.Source, needs)
		} else {
			err = l.put(main, file.Source, before)
		}
		if err == nil {
			saved.Entry, err = l.Find(name)
		}
		return err
	}
	if dry {
		err = step()
	} else {
		err = l.home.Lock(ctx, savedFolder, step)
	}
	return saved, changed, err
}

// same reports whether a saved workflow has a file with the given name and content, and besides it exactly the given files.
func (e *Entry) same(main string, source []byte, files map[string][]byte) bool {
	names, err := e.Files()
	if err != nil || filepath.Base(e.Path) != main || len(names) != len(files) {
		return false
	}
	want := maps.Clone(files)
	want[main] = source
	for name, content := range want {
		path := filepath.Join(e.Dir(), name)
		if isSpecial(path) {
			return false
		}
		if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, content) {
			return false
		}
	}
	return true
}
