// Package library manages the workflows of a home: drafts in workflows/, saved ones in library/, and the statistics of their
// runs. A saved workflow hides a draft of the same name.
package library

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

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

// Library finds, lists and changes the workflows of a home.
type Library struct {
	home *home.Home
	// leastIndexed is the least number of bytes of workflows for which lists have an index.
	leastIndexed int64
	now          func() time.Time
}

// Open returns the library of a home. It reads and creates nothing yet.
func Open(h *home.Home) *Library { return &Library{home: h, leastIndexed: leastIndexed, now: time.Now} }

// Entry is an existing workflow. It must not be used by several goroutines at once.
type Entry struct {
	Name  string
	Saved bool
	// Hidden is true if a saved workflow and a draft have this name. The name stands for the saved one.
	Hidden bool
	// Path is the absolute path of the file. Messages must not contain it.
	Path string

	lib  *Library
	file *workflow.File
}

// Dir returns the folder that the relative paths in the workflow start from.
func (e *Entry) Dir() string { return filepath.Dir(e.Path) }

// Bundled reports whether the workflow is in a folder of its own, together with the files that it refers to.
func (e *Entry) Bundled() bool {
	return filepath.Base(e.Dir()) == e.Name && filepath.Dir(e.Dir()) == e.lib.home.Path(folder(e.Saved))
}

// place returns the path of the file in the folder of the drafts or of the saved workflows.
func (e *Entry) place() string {
	if e.Bundled() {
		return filepath.Join(e.Name, filepath.Base(e.Path))
	}
	return filepath.Base(e.Path)
}

// Files returns the paths of the other files in the workflow's bundle, relative to its folder and sorted. It returns
// nil for a workflow that is not in a bundle.
func (e *Entry) Files() (files []string, err error) {
	if !e.Bundled() {
		return nil, nil
	}
	err = filepath.WalkDir(e.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path != e.Path {
			rel, _ := filepath.Rel(e.Dir(), path) // path is below the folder
			files = append(files, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		return nil, unusable("list the files of", e.Name, err)
	}
	return files, nil
}

// Source returns the bytes of the workflow's file.
func (e *Entry) Source() ([]byte, error) {
	for range looks {
		for _, path := range []string{e.Path, otherForm(e.Path)} {
			place := []string{folder(e.Saved), filepath.Base(path)}
			if e.Bundled() {
				place = []string{folder(e.Saved), e.Name, filepath.Base(path)}
			}
			if err := e.lib.home.CheckInside(place...); err != nil {
				return nil, err
			}
			if err := e.checkRegular(place); err != nil {
				return nil, err
			}
			b, err := e.lib.home.ReadFile(workflow.MaxSize, place...)
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

// checkRegular returns a validation_error if something is at a place in the home that is not a regular file. To open it could block.
func (e *Entry) checkRegular(place []string) error {
	if !isSpecial(e.lib.home.Path(place...)) {
		return nil
	}
	f := notRegular(filepath.ToSlash(filepath.Join(place...)))
	if e.Saved {
		return f.Then(fault.ByPerson("Delete it", "pflow-lib remove %s", e.Name))
	}
	return f.Then(fault.Step{Do: fault.DoDeleteDraft, Name: e.Name})
}

// notRegular returns the fault of a FIFO, a socket or a device in the home.
func notRegular(place string) *fault.Fault {
	f := fault.New(fault.Validation, "%s in the home folder is not a regular file, so it is not read", place)
	f.File = place
	return f
}

// Form returns the form of the workflow's file, "json" or "markdown".
func (e *Entry) Form() string { return formOf(e.Path) }

// HomePath returns the path of the workflow's file relative to the home, with slashes.
func (e *Entry) HomePath() string {
	rel, _ := e.lib.home.Rel(e.Path) // Path is in the home
	return filepath.ToSlash(rel)
}

// Load reads and parses the workflow and the files that it refers to. It does so once and returns the same file again.
func (e *Entry) Load() (*workflow.File, error) {
	file, err := e.Read()
	if err != nil {
		return nil, err
	}
	return file, nil
}

// Read is like Load, but with an error it returns as much of the workflow as could be read.
func (e *Entry) Read() (*workflow.File, error) {
	if e.file != nil {
		return e.file, nil
	}
	source, err := e.Source()
	if err != nil {
		return nil, err
	}
	file, err := e.lib.parse(e.called(source), e.Dir(), source, nil)
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
	f := fault.Known(fault.NotFound, "FileNotFoundError", "There is no workflow %q, neither saved nor as a draft", name)
	return nil, offer(l, f, name, slices.Concat(l.Names(true), l.Names(false)))
}

// Draft returns the draft of a name, even if a saved workflow hides it.
func (l *Library) Draft(name string) (*Entry, error) { return l.DraftOf(name, "") }

// DraftOf is like Draft for the file of one form, as [Entry.Form] returns it, even if there is one of the other form too.
func (l *Library) DraftOf(name, form string) (*Entry, error) {
	if err := checkDraftName(name); err != nil {
		return nil, err
	}
	if err := l.checkLinks(false, name); err != nil {
		return nil, err
	}
	draft, err := l.locate(false, name, func(path string) bool { return inForm(path, form) && isFile(path) })
	if err != nil {
		return nil, err
	}
	if draft == nil {
		return nil, noDraft(l, name, form)
	}
	draft.Hidden = isSaved(l, name)
	return draft, nil
}

func isSaved(l *Library, name string) bool {
	saved, err := l.at(true, name)
	return saved != nil || err != nil
}

// checkDraftName is like [home.CheckName], and tells for the name of a file how a draft is named.
func checkDraftName(name string) error {
	for _, end := range endings {
		if stem, found := strings.CutSuffix(name, end); found && home.CheckName("workflow", stem) == nil {
			return fault.New(fault.Validation, "%q is the name of a file, not of a draft", name).
				Suggest("A draft is a file in the home's %s folder, named without its ending: put %s there, and use %s", draftsFolder, name, stem)
		}
	}
	if err := home.CheckPathless("workflow", name); err != nil {
		return fault.From(err).Suggest("A draft is a file in the home's %s folder, named without its ending: put the file there first", draftsFolder).
			Then(fault.Command("Save a file from elsewhere under its own name", "pflow-lib import FILE"))
	}
	return home.CheckName("workflow", name)
}

// noDraft returns the fault of a draft that does not exist, or not in the given form.
func noDraft(l *Library, name, form string) *fault.Fault {
	if form != "" && slices.Contains(l.Names(false), name) {
		return fault.Known(fault.NotFound, "FileNotFoundError", "The draft %q has no file of the form %s", name, form).Suggest("It has the other form: leave out the form")
	}
	f := fault.Known(fault.NotFound, "FileNotFoundError", "There is no draft %q", name)
	if isSaved(l, name) {
		f.Message += "; the workflow of that name is saved already"
		return f.Suggest("To change it, write it as a draft of another name").Then(fault.Step{Do: fault.DoRead, Name: name})
	}
	return offer(l, f, name, l.Names(false))
}

// offer adds the existing names to the fault of an unknown one: the name that its workflow has now, or else the nearest one.
func offer(l *Library, f *fault.Fault, name string, names []string) *fault.Fault {
	slices.Sort(names)
	names = slices.Compact(names)
	if near, ok := fault.Nearest(name, names); !SuggestPresent(l, f, name) && ok {
		f.Suggest("Did you mean %q?", near)
	}
	switch {
	case len(names) == 0:
		f.Suggest("Write one into the home's %s folder as NAME%s or NAME%s", draftsFolder, jsonEnding, markdownEnding).Then(fault.Step{Do: fault.DoWrite, Name: name})
	case len(names) > fault.MaxAvailable:
		f.Then(fault.Step{Do: fault.DoSearch})
	}
	return f.Offer(name, names)
}

func gone(name string) *fault.Fault {
	return fault.Known(fault.NotFound, "FileNotFoundError", "The workflow %q no longer exists", name)
}

// unusable returns the fault of a file that cannot be read or written. It contains no path.
func unusable(what, name string, err error) *fault.Fault {
	return fault.New(fault.Internal, "Cannot %s the workflow %q: %v", what, name, fault.Reason(err)).
		Suggest("Check the permissions and the space of the folder that PFLOW_HOME names (by default ~/.pflow)")
}
