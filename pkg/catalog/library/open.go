package library

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// Open reads the workflow that an argument names, and the files that it refers to. The argument is a file if it has a path separator,
// ends in .json or .md, or is "-"; else it is a name, or an existing file if no workflow has the name. With nameOnly it is always a
// name. dir is the folder that the paths in a workflow from "-" start from. The function read reads a file of at most limit bytes; the
// entry is nil for files. With the error of a faulty form, Open returns what could be read.
func (l *Library) Open(ref string, nameOnly bool, dir string, read func(name string, limit int64) ([]byte, error)) (*workflow.File, *Entry, error) {
	if nameOnly || !isPath(ref) {
		entry, err := l.Find(ref)
		if err == nil {
			file, err := entry.Read()
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
	if ref != "-" {
		dir = filepath.Dir(ref)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, nil, fault.From(err)
	}
	file, err := l.parse(ref, dir, source, nil)
	return file, nil, err
}

// OpenSub reads the workflow that a node of another one names, and the files that it refers to. A path is relative to the folder of
// the other workflow. In errors the file has the same folder as the name of the other one.
func (l *Library) OpenSub(from *workflow.File, ref string) (*workflow.File, error) {
	file, err := l.openSub(from, ref)
	if err != nil {
		return nil, fault.From(err).Unknown()
	}
	return file, nil
}

func (l *Library) openSub(from *workflow.File, ref string) (*workflow.File, error) {
	path := ref
	if !filepath.IsAbs(ref) {
		path = filepath.Join(from.Dir, ref)
	}
	if !isPath(ref) || ref == "-" {
		entry, err := l.Find(ref)
		if err == nil {
			return entry.Read()
		}
		if typ := fault.From(err).Type; ref == "-" || typ == fault.Conflict || typ == fault.Security || !isFile(path) {
			return nil, err
		}
	}
	if err := checkReference(l, path); err != nil {
		return nil, err
	}
	name := named(from, ref)
	source, err := l.home.ReadInput(path, name, workflow.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, elsewhere(fault.Known(fault.NotFound, "FileNotFoundError", "There is no file %s", name), from, ref)
	}
	if err != nil {
		return nil, unreadable(name, err)
	}
	return l.parse(name, filepath.Dir(path), source, nil)
}

// named returns the name in errors of the file that a workflow refers to.
func named(from *workflow.File, ref string) string {
	if filepath.IsAbs(ref) {
		return ref
	}
	return filepath.Join(filepath.Dir(from.Name), ref)
}

// elsewhere adds to the fault of a missing file where it is looked for, and whether it is in the working directory instead.
func elsewhere(f *fault.Fault, from *workflow.File, ref string) *fault.Fault {
	if filepath.IsAbs(ref) {
		return f
	}
	if from.Name == "-" {
		return f.Suggest("The workflow is from standard input, so its paths start from the working directory: go to the folder of its files, or name the workflow")
	}
	f.Suggest("Paths in a workflow start from the folder of its file")
	if isFile(ref) {
		f.Suggest("The working directory has %s: move it beside the workflow, or correct the path", ref)
	}
	return f
}

// checkReference returns an error for a path that a workflow refers to, if it is in the home and leads out of it through links or is
// not a regular file.
func checkReference(l *Library, path string) error {
	if err := l.checkPath(path); err != nil {
		return err
	}
	if rel, ok := l.home.Rel(path); ok && isSpecial(path) {
		return notRegular(filepath.ToSlash(rel))
	}
	return nil
}

// checkPath returns an error if a path is in the home and leads out of it through links.
func (l *Library) checkPath(path string) error {
	rel, ok := l.home.Rel(path)
	if path == "-" || !ok {
		return nil
	}
	return l.home.CheckInside(rel)
}
