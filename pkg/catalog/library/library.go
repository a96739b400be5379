// Package library manages the workflows of a home: drafts in workflows/, saved ones in library/, and the statistics of their
// runs. A saved workflow hides a draft of the same name.
package library

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// The folders in the home, and the endings of a workflow's file name in its two forms.
const (
	draftsFolder = "workflows"
	savedFolder  = "library"

	jsonEnding     = ".json"
	markdownEnding = ".pflow.md"
)

var endings = []string{jsonEnding, markdownEnding}

// looks is the number of times that a file is looked for. A save may replace the workflow by one of the other form between
// the looks at the two forms, so that both or neither seem to exist.
const looks = 4

// maxAvailable is the number of names that an error lists.
const maxAvailable = 20

// Library finds, lists and changes the workflows of a home.
type Library struct{ home *home.Home }

// Open returns the library of a home. It reads and creates nothing yet.
func Open(h *home.Home) *Library { return &Library{home: h} }

// Entry is an existing workflow. It must not be used by several goroutines at once.
type Entry struct {
	Name  string
	Saved bool
	// Hidden is true if a saved workflow and a draft have this name. The name stands for the saved one.
	Hidden bool
	// Path is the absolute path of the file. Messages must not contain it.
	Path string

	home *home.Home
	file *workflow.File
}

// Source returns the bytes of the workflow's file.
func (e *Entry) Source() ([]byte, error) {
	for range looks {
		for _, path := range []string{e.Path, otherForm(e.Path)} {
			if err := e.home.CheckInside(folder(e.Saved), filepath.Base(path)); err != nil {
				return nil, err
			}
			b, err := e.home.ReadFile(workflow.MaxSize, folder(e.Saved), filepath.Base(path))
			_, isFault := errors.AsType[*fault.Fault](err)
			switch {
			case err == nil || isFault || errors.Is(err, context.Canceled):
				return b, err
			case !errors.Is(err, fs.ErrNotExist):
				return nil, unusable("read", e.Name, err)
			}
		}
	}
	return nil, gone(e.Name)
}

// Load reads and parses the workflow. It does so once and returns the same file again.
func (e *Entry) Load() (*workflow.File, error) {
	file, err := e.read()
	if err != nil {
		return nil, err
	}
	return file, nil
}

// read is like Load, but with an error it returns as much of the workflow as could be read.
func (e *Entry) read() (*workflow.File, error) {
	if e.file != nil {
		return e.file, nil
	}
	source, err := e.Source()
	if err != nil {
		return nil, err
	}
	file, err := workflow.Read(e.called(source), source)
	if err == nil {
		e.file = file
	}
	return file, err
}

// called returns the name of the file for errors and for the choice of its form. A Markdown text may begin with anything, so
// the ending decides, except that the file may contain JSON while a save replaces the other form.
func (e *Entry) called(source []byte) string {
	if strings.HasSuffix(e.Path, markdownEnding) && !bytes.HasPrefix(bytes.TrimLeft(source, " \t\r\n"), []byte("{")) {
		return e.Name + markdownEnding
	}
	return e.Name
}

// Find returns the workflow that a name stands for: the saved one, else the draft. If there is neither, the error is a
// not_found that lists the existing names. If the name has files of both forms, the error is a conflict.
//
// For a symbolic link that leads out of the home the error is a security_error, as in every other function that reads or
// writes workflows.
func (l *Library) Find(name string) (*Entry, error) { return l.find(name, l.at) }

// find is Find with the function that returns the entry of a name in one of the folders.
func (l *Library) find(name string, at func(saved bool, name string) (*Entry, error)) (*Entry, error) {
	if err := home.CheckName("workflow", name); err != nil {
		return nil, err
	}
	saved, err := at(true, name)
	if err != nil {
		return nil, err
	}
	draft, err := at(false, name)
	switch {
	case saved != nil:
		saved.Hidden = draft != nil || err != nil
		return saved, nil
	case draft != nil || err != nil:
		return draft, err
	}
	f := fault.New(fault.NotFound, "FileNotFoundError: there is no workflow %q, neither saved nor as a draft", name)
	return nil, offer(f, name, slices.Concat(l.names(true), l.names(false)))
}

// Draft returns the draft of a name, even if a saved workflow hides it.
func (l *Library) Draft(name string) (*Entry, error) {
	if err := home.CheckName("workflow", name); err != nil {
		return nil, err
	}
	if draft, err := l.at(false, name); draft != nil || err != nil {
		return draft, err
	}
	f := fault.New(fault.NotFound, "FileNotFoundError: there is no draft %q", name)
	if saved, err := l.at(true, name); saved != nil || err != nil {
		f.Message += "; the workflow of that name is saved already"
	}
	return nil, offer(f, name, l.names(false))
}

// Open reads the workflow that an argument names. The argument is a file if it has a path separator, ends in .json or .md, or
// is "-"; else it is a name, or an existing file if no workflow has the name. With nameOnly it is always a name. The function
// read reads a file of at most limit bytes; the entry is nil for files. With the error of a faulty form, Open returns what could be read.
func (l *Library) Open(ref string, nameOnly bool, read func(name string, limit int64) ([]byte, error)) (*workflow.File, *Entry, error) {
	if nameOnly || !isPath(ref) {
		entry, err := l.Find(ref)
		if err == nil {
			file, err := entry.read()
			return file, entry, err
		}
		if typ := fault.From(err).Type; nameOnly || typ == fault.Conflict || typ == fault.Security || !isFile(ref) {
			return nil, nil, err
		}
	}
	if err := l.checkPath(ref); err != nil {
		return nil, nil, err
	}
	source, err := read(ref, workflow.MaxSize)
	if err != nil {
		return nil, nil, err
	}
	file, err := workflow.Read(ref, source)
	return file, nil, err
}

func isPath(ref string) bool {
	return ref == "-" || strings.ContainsRune(ref, os.PathSeparator) || strings.HasSuffix(ref, jsonEnding) || strings.HasSuffix(ref, ".md")
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

func folder(saved bool) string {
	if saved {
		return savedFolder
	}
	return draftsFolder
}

// checkPath returns an error if a path is in one of the two folders and leads out of the home.
func (l *Library) checkPath(path string) error {
	rel, ok := l.home.Rel(path)
	if top, _, below := strings.Cut(rel, string(filepath.Separator)); path == "-" || !ok || !below || top != savedFolder && top != draftsFolder {
		return nil
	}
	return l.home.CheckInside(rel)
}

// at returns the entry of a name in one of the folders, or nil if the folder has no such file. Files of both forms are a conflict.
func (l *Library) at(saved bool, name string) (*Entry, error) {
	for _, ending := range endings {
		if file := name + ending; isLink(l.home.Path(folder(saved))) || isLink(l.home.Path(folder(saved), file)) {
			if err := l.home.CheckInside(folder(saved), file); err != nil {
				return nil, err
			}
		}
	}
	return l.locate(saved, name, isFile)
}

// locate is like at for files for which exists returns true, and does not check where links lead.
func (l *Library) locate(saved bool, name string, exists func(path string) bool) (*Entry, error) {
	var found []string
	for range looks {
		found = nil
		for _, ending := range endings {
			path := l.home.Path(folder(saved), name+ending)
			if exists(path) {
				found = append(found, path)
			}
		}
		if len(found) == 1 {
			return &Entry{Name: name, Saved: saved, Path: found[0], home: l.home}, nil
		}
	}
	if found == nil {
		return nil, nil
	}
	return nil, fault.New(fault.Conflict, "The home's %s folder has two workflows %q, one in each form", folder(saved), name).
		Suggest("Remove %s or %s from that folder", name+jsonEnding, name+markdownEnding)
}

// otherForm returns the path that a workflow's file has in its other form.
func otherForm(path string) string {
	if base, ok := strings.CutSuffix(path, markdownEnding); ok {
		return base + jsonEnding
	}
	return strings.TrimSuffix(path, jsonEnding) + markdownEnding
}

// names returns the names of the workflows in one of the folders, sorted. It returns nil if the folder cannot be read.
func (l *Library) names(saved bool) []string {
	files, _ := os.ReadDir(l.home.Path(folder(saved)))
	var names []string
	for _, f := range files {
		for _, ending := range endings {
			name, ok := strings.CutSuffix(f.Name(), ending)
			if ok && !f.IsDir() && !strings.HasPrefix(name, ".") {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// offer adds the existing names to the fault of an unknown one.
func offer(f *fault.Fault, name string, names []string) *fault.Fault {
	slices.Sort(names)
	names = slices.Compact(names)
	if near, ok := fault.Nearest(name, names); ok {
		f.Suggest("Did you mean %q?", near)
	}
	switch {
	case len(names) == 0:
		f.Suggest("Write one into the home's %s folder as NAME%s or NAME%s", draftsFolder, jsonEnding, markdownEnding)
	case len(names) > maxAvailable:
		f.Suggest("pflow-lib list --drafts lists all %d", len(names))
	}
	f.Available = names[:min(len(names), maxAvailable)]
	return f
}

func gone(name string) *fault.Fault {
	return fault.New(fault.NotFound, "FileNotFoundError: the workflow %q no longer exists", name)
}

// unusable returns the fault of a file that cannot be read or written. It contains no path.
func unusable(what, name string, err error) *fault.Fault {
	return fault.New(fault.Internal, "Cannot %s the workflow %q: %v", what, name, fault.Reason(err)).
		Suggest("Check the permissions and the space of the folder that PFLOW_HOME names (by default ~/.pflow)")
}
