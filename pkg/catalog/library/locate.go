package library

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func isPath(ref string) bool {
	return ref == "-" || strings.ContainsRune(ref, os.PathSeparator) || strings.HasSuffix(ref, jsonEnding) || strings.HasSuffix(ref, ".md")
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// isSpecial reports whether a path leads to something that is neither a regular file nor a folder, such as a FIFO or a device.
func isSpecial(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && !info.Mode().IsRegular()
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

// at returns the entry of a name in one of the folders, or nil if the folder has no such workflow. A workflow is a file, or a bundle: a
// folder of this name with a file of this name, which precedes the file. Files of both forms are a conflict.
func (l *Library) at(saved bool, name string) (*Entry, error) {
	if err := l.checkLinks(saved, name); err != nil {
		return nil, err
	}
	return l.locate(saved, name, isFile)
}

// checkLinks returns a security_error if a name in one of the folders leads out of the home.
func (l *Library) checkLinks(saved bool, name string) error {
	places := [][]string{{folder(saved)}, {folder(saved), name}}
	for _, ending := range endings {
		places = append(places, []string{folder(saved), name + ending}, []string{folder(saved), name, name + ending})
	}
	for _, place := range places {
		if isLink(l.home.Path(place...)) {
			if err := l.home.CheckInside(place...); err != nil {
				return err
			}
		}
	}
	return nil
}

// locate is like at for files for which exists returns true, and does not check where links lead.
func (l *Library) locate(saved bool, name string, exists func(path string) bool) (*Entry, error) {
	var found []string
	for range looks {
		for _, dir := range []string{l.home.Path(folder(saved), name), l.home.Path(folder(saved))} {
			found = nil
			for _, ending := range endings {
				if path := filepath.Join(dir, name+ending); exists(path) {
					found = append(found, path)
				}
			}
			if len(found) == 1 {
				return &Entry{Name: name, Saved: saved, Path: found[0], lib: l}, nil
			}
			if found != nil {
				break
			}
		}
	}
	if found == nil {
		return nil, nil
	}
	f := fault.New(fault.Conflict, "The home's %s folder has two workflows %q, one in each form", folder(saved), name)
	if saved {
		return nil, f.Suggest("Remove %s or %s from that folder", name+jsonEnding, name+markdownEnding)
	}
	return nil, f.Suggest("Delete %s or %s, the form json or markdown", name+jsonEnding, name+markdownEnding).Then(fault.Step{Do: fault.DoDeleteDraft, Name: name})
}

// inForm reports whether the name of a file is that of a workflow of the given form; "" is every form.
func inForm(path, form string) bool { return form == "" || formOf(path) == form }

// formOf returns the form of a workflow's file, "json" or "markdown", by its name.
func formOf(path string) string {
	if strings.HasSuffix(path, markdownEnding) {
		return "markdown"
	}
	return "json"
}

// otherForm returns the path that a workflow's file has in its other form.
func otherForm(path string) string {
	if base, ok := strings.CutSuffix(path, markdownEnding); ok {
		return base + jsonEnding
	}
	return strings.TrimSuffix(path, jsonEnding) + markdownEnding
}

// Names returns the names of the saved workflows or of the drafts, sorted. It returns nil if the folder cannot be read.
func (l *Library) Names(saved bool) (names []string) {
	files, _ := os.ReadDir(l.home.Path(folder(saved)))
	for _, c := range candidates(files) {
		if c.forms > 0 || hasBundle(l.home.Path(folder(saved)), c.name) {
			names = append(names, c.name)
		}
	}
	return names
}

// candidate is what a folder has of the workflow of a name.
type candidate struct {
	name string
	// forms is the number of its files, and file the name of one of them.
	forms int
	file  string
	// folder is true if there is a folder of that name, which may be a bundle. odd is true if there is something of that name that is
	// neither a folder nor a regular file, such as a link.
	folder, odd bool
}

// candidates returns the names for which a folder may have a workflow, sorted.
func candidates(files []os.DirEntry) []candidate {
	list := make([]candidate, 0, len(files))
	for _, f := range files {
		switch name := f.Name(); {
		case strings.HasPrefix(name, "."):
			continue
		case f.IsDir():
			list = append(list, candidate{name: name, folder: true})
			continue
		case !f.Type().IsRegular():
			list = append(list, candidate{name: name, odd: true})
		}
		for _, ending := range endings {
			if name, ok := strings.CutSuffix(f.Name(), ending); ok {
				list = append(list, candidate{name: name, forms: 1, file: f.Name(), odd: !f.Type().IsRegular()})
			}
		}
	}
	slices.SortFunc(list, func(a, b candidate) int { return cmp.Compare(a.name, b.name) })
	joined := list[:0]
	for _, c := range list {
		if last := len(joined) - 1; last >= 0 && joined[last].name == c.name {
			joined[last].add(c)
		} else {
			joined = append(joined, c)
		}
	}
	return joined
}

// add adds something else of the same name.
func (c *candidate) add(other candidate) {
	c.forms += other.forms
	c.file = cmp.Or(c.file, other.file)
	c.folder, c.odd = c.folder || other.folder, c.odd || other.odd
}

// hasBundle reports whether a folder has a bundle of the given name.
func hasBundle(folder, name string) bool {
	return slices.ContainsFunc(endings, func(ending string) bool { return isFile(filepath.Join(folder, name, name+ending)) })
}
