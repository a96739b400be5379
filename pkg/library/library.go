// Package library is the workflows of a home: drafts, in workflows/, and saved ones, in library/, with what is known of
// their runs. A saved workflow hides a draft of the same name.
package library

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// The folders in the home, and how a workflow's file ends.
const (
	draftsFolder = "workflows"
	savedFolder  = "library"
	extension    = ".json"
)

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
	b, err := os.ReadFile(e.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "FileNotFoundError: the workflow %q is no longer there", e.Name)
	}
	if err != nil {
		return nil, unusable("read", e.Name, err)
	}
	return b, nil
}

// Load reads and parses the workflow, once.
func (e *Entry) Load() (*workflow.File, error) {
	if e.file == nil {
		source, err := e.Source()
		if err != nil {
			return nil, err
		}
		if e.file, err = workflow.Parse(e.Name, source); err != nil {
			return nil, err
		}
	}
	return e.file, nil
}

// Find gives the workflow that a name stands for: the saved one, else the draft. A name that is not there is a
// not_found that lists what is.
func (l *Library) Find(name string) (*Entry, error) {
	if err := home.CheckName("workflow", name); err != nil {
		return nil, err
	}
	saved, draft := l.at(true, name), l.at(false, name)
	switch {
	case saved != nil:
		saved.Hidden = draft != nil
		return saved, nil
	case draft != nil:
		return draft, nil
	}
	f := fault.New(fault.NotFound, "FileNotFoundError: there is no workflow %q, neither saved nor as a draft", name)
	return nil, offer(f, name, slices.Concat(l.names(true), l.names(false)))
}

// Draft gives the draft of a name, whether or not a saved workflow hides it.
func (l *Library) Draft(name string) (*Entry, error) {
	if err := home.CheckName("workflow", name); err != nil {
		return nil, err
	}
	if draft := l.at(false, name); draft != nil {
		return draft, nil
	}
	f := fault.New(fault.NotFound, "FileNotFoundError: there is no draft %q", name)
	if l.at(true, name) != nil {
		f.Message += "; the workflow of that name is saved already"
	}
	return nil, offer(f, name, l.names(false))
}

// Open reads the workflow that an argument names: a file when it has a separator, ends in .json or is "-"; else a name,
// and when there is none of that name an existing file. With nameOnly it is a name and nothing else. Files are read by
// read; the entry is nil for them.
func (l *Library) Open(ref string, nameOnly bool, read func(name string) ([]byte, error)) (*workflow.File, *Entry, error) {
	isPath := ref == "-" || strings.ContainsRune(ref, os.PathSeparator) || strings.HasSuffix(ref, extension)
	if nameOnly || !isPath {
		entry, err := l.Find(ref)
		if err == nil {
			file, err := entry.Load()
			return file, entry, err
		}
		if info, statErr := os.Stat(ref); nameOnly || statErr != nil || info.IsDir() {
			return nil, nil, err
		}
	}
	source, err := read(ref)
	if err != nil {
		return nil, nil, err
	}
	file, err := workflow.Parse(ref, source)
	return file, nil, err
}

func folder(saved bool) string {
	if saved {
		return savedFolder
	}
	return draftsFolder
}

// at gives the entry of a name in one of the folders, nil when it is not there.
func (l *Library) at(saved bool, name string) *Entry {
	e := &Entry{Name: name, Saved: saved, Path: l.home.Path(folder(saved), name+extension)}
	if info, err := os.Stat(e.Path); err != nil || info.IsDir() {
		return nil
	}
	return e
}

// names lists what is in one of the folders, sorted. A folder that cannot be read has nothing.
func (l *Library) names(saved bool) []string {
	files, _ := os.ReadDir(l.home.Path(folder(saved)))
	var names []string
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), extension)
		if ok && !f.IsDir() && !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
	}
	return names
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
		f.Suggest("Write one into the home's %s folder as NAME%s", draftsFolder, extension)
	case len(names) > maxAvailable:
		f.Suggest("pflow-lib list --drafts lists all %d", len(names))
	}
	f.Available = names[:min(len(names), maxAvailable)]
	return f
}

// unusable is the fault of a file that the system does not give or take. It repeats no path.
func unusable(what, name string, err error) *fault.Fault {
	return fault.New(fault.Internal, "Cannot %s the workflow %q: %v", what, name, fault.Reason(err)).
		Suggest("Check the permissions and the space of the folder that PFLOW_HOME names (by default ~/.pflow)")
}
