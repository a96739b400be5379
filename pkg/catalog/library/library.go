// Package library is the workflows of a home: drafts, in workflows/, and saved ones, in library/, with what is known of
// their runs. A saved workflow hides a draft of the same name.
package library

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// The folders in the home, and how the name of a workflow's file ends in each of its two forms.
const (
	draftsFolder = "workflows"
	savedFolder  = "library"

	jsonEnding     = ".json"
	markdownEnding = ".pflow.md"
)

var endings = []string{jsonEnding, markdownEnding}

// looks is how often a file is looked for: between the look at one form and that at the other a save may replace the
// workflow by one of the other form, and it would seem to be there twice, or not at all.
const looks = 4

// maxAvailable is how many names an error lists.
const maxAvailable = 20

// Library finds, lists and changes the workflows of a home.
type Library struct{ home *home.Home }

// Open gives the library of a home. Nothing is read or created before it is asked for.
func Open(h *home.Home) *Library { return &Library{home: h} }

// Entry is a workflow that is there. It is for one goroutine.
type Entry struct {
	Name  string
	Saved bool
	// Hidden says that a saved workflow and a draft have this name; the name stands for the saved one.
	Hidden bool
	// Path is the absolute path of the file. It belongs in no message.
	Path string

	file *workflow.File
}

// Source reads the workflow's file, byte for byte.
func (e *Entry) Source() ([]byte, error) {
	for range looks {
		for _, path := range []string{e.Path, otherForm(e.Path)} {
			b, err := os.ReadFile(path)
			switch {
			case err == nil:
				return b, nil
			case !errors.Is(err, fs.ErrNotExist):
				return nil, unusable("read", e.Name, err)
			}
		}
	}
	return nil, gone(e.Name)
}

// Load reads and parses the workflow, once.
func (e *Entry) Load() (*workflow.File, error) {
	file, err := e.read()
	if err != nil {
		return nil, err
	}
	return file, nil
}

// read is Load, but beside an error it gives what could be read all the same.
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

// called is how errors call the file. The name of a Markdown file says what it is, for its text may begin with anything;
// but while a save replaces the other form, JSON may stand in it.
func (e *Entry) called(source []byte) string {
	if strings.HasSuffix(e.Path, markdownEnding) && !bytes.HasPrefix(bytes.TrimLeft(source, " \t\r\n"), []byte("{")) {
		return e.Name + markdownEnding
	}
	return e.Name
}

// Find gives the workflow that a name stands for: the saved one, else the draft. A name that is not there is a
// not_found that lists what is, and one that two files have, of either form, a conflict.
func (l *Library) Find(name string) (*Entry, error) {
	if err := home.CheckName("workflow", name); err != nil {
		return nil, err
	}
	saved, err := l.at(true, name)
	if err != nil {
		return nil, err
	}
	draft, err := l.at(false, name)
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

// Draft gives the draft of a name, whether or not a saved workflow hides it.
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

// Open reads the workflow that an argument names: a file when it has a separator, ends in .json or .md or is "-"; else a
// name, and when there is none of that name an existing file. With nameOnly it is a name and nothing else. Files are
// read by read; the entry is nil for them. Beside the error of a faulty form there is what could be read of the workflow.
func (l *Library) Open(ref string, nameOnly bool, read func(name string) ([]byte, error)) (*workflow.File, *Entry, error) {
	if nameOnly || !isPath(ref) {
		entry, err := l.Find(ref)
		if err == nil {
			file, err := entry.read()
			return file, entry, err
		}
		if nameOnly || fault.From(err).Type == fault.Conflict || !isFile(ref) {
			return nil, nil, err
		}
	}
	source, err := read(ref)
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

func folder(saved bool) string {
	if saved {
		return savedFolder
	}
	return draftsFolder
}

// at gives the entry of a name in one of the folders, nil when it is not there. Files of both forms are a conflict.
func (l *Library) at(saved bool, name string) (*Entry, error) {
	var found []string
	for range looks {
		found = nil
		for _, ending := range endings {
			path := l.home.Path(folder(saved), name+ending)
			if isFile(path) {
				found = append(found, path)
			}
		}
		if len(found) == 1 {
			return &Entry{Name: name, Saved: saved, Path: found[0]}, nil
		}
	}
	if found == nil {
		return nil, nil
	}
	return nil, fault.New(fault.Conflict, "There are two workflows %q in the home's %s folder, one in each form", name, folder(saved)).
		Suggest("Remove %s or %s from that folder", name+jsonEnding, name+markdownEnding)
}

// otherForm is the path that a workflow's file has in its other form.
func otherForm(path string) string {
	if base, ok := strings.CutSuffix(path, markdownEnding); ok {
		return base + jsonEnding
	}
	return strings.TrimSuffix(path, jsonEnding) + markdownEnding
}

// names lists what is in one of the folders, sorted. A folder that cannot be read has nothing.
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

// offer adds what is there to the fault of a name that is not.
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
	return fault.New(fault.NotFound, "FileNotFoundError: the workflow %q is no longer there", name)
}

// unusable is the fault of a file that the system does not give or take. It repeats no path.
func unusable(what, name string, err error) *fault.Fault {
	return fault.New(fault.Internal, "Cannot %s the workflow %q: %v", what, name, fault.Reason(err)).
		Suggest("Check the permissions and the space of the folder that PFLOW_HOME names (by default ~/.pflow)")
}
