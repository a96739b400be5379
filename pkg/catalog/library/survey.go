package library

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// survey collects what lists show of workflows. It takes from the index what is up to date there, and reads the other files.
type survey struct {
	lib   *Library
	began time.Time // before anything is known of a file
	old   *index    // empty if there is none
	// kept is what is worth an index, and added the number of its entries that the old one does not have.
	kept  map[key]*kept
	added int
	// size is the number of bytes of the files that kept describes.
	size int64
	// unsettled is true if a file is so new that it may still change without a change of its stamp.
	unsettled bool
}

// key is the place of a workflow.
type key struct {
	saved bool
	name  string
}

// kept is what an index has of a workflow: what lists show, and the files on which that depends.
type kept struct {
	Summary
	err *fault.Fault
	// path is the path of its file in the folder of the drafts or of the saved workflows.
	path  string
	on    []seen
	first [1]seen // the memory of on, which mostly has one
}

// seen is a path in that folder and the stamp of what was there. The stamp is zero if there was nothing.
type seen struct {
	path  string
	stamp home.Stamp
}

// newSurvey begins a survey of a library.
func newSurvey(l *Library) *survey {
	s := &survey{lib: l, began: l.now(), old: storedIndex(l.home)}
	if s.old == nil {
		s.old = &index{}
	}
	s.kept = make(map[key]*kept, len(s.old.entries))
	return s
}

// folder returns the workflows of one of the folders, sorted by name. The error is that of a read that was called off.
func (s *survey) folder(saved bool) (list []Listed, err error) {
	path := s.lib.home.Path(folder(saved))
	// The stamps of files behind a link would not show where the link leads.
	dir, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	var files []os.DirEntry
	if err == nil {
		defer func() { _ = dir.Close() }()
		files, _ = dir.ReadDir(-1)
	} else {
		files, _ = os.ReadDir(path)
	}
	names := candidates(files)
	list = make([]Listed, 0, len(names))
	for _, c := range names {
		k := key{saved, c.name}
		if s.take(dir, k, c) {
			list = append(list, s.kept[k].listed(s.lib, k, path))
			continue
		}
		if c.forms == 0 && !hasBundle(path, c.name) {
			continue
		}
		w, err := s.read(dir, k, c)
		if err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	return list, nil
}

// take reports whether the old index has a workflow as it is now, and keeps it then.
func (s *survey) take(dir *os.File, k key, c candidate) bool {
	e := s.old.entries[k]
	if e == nil || dir == nil || !c.whole() || e.on[0].path != c.place() {
		return false
	}
	for _, f := range e.on {
		if now, err := look(dir, f.path); err != nil || now != f.stamp {
			return false
		}
	}
	s.keep(k, e)
	return true
}

func (s *survey) keep(k key, e *kept) {
	s.kept[k] = e
	for _, f := range e.on {
		s.size += f.stamp.Size
	}
	s.size += fileCost
}

// whole reports whether the workflow is either one regular file or a folder, and nothing else has its name.
func (c candidate) whole() bool { return !c.odd && (c.forms == 1) != c.folder && c.forms <= 1 }

// place returns the name of that file or folder.
func (c candidate) place() string {
	if c.folder {
		return c.name
	}
	return c.file
}

// listed returns what a list shows of a workflow in the given folder.
func (e *kept) listed(l *Library, k key, folder string) Listed {
	entry := &Entry{Name: k.name, Saved: k.saved, Path: folder + string(filepath.Separator) + e.path, lib: l}
	return Listed{Entry: entry, Summary: e.Summary, Error: e.err}
}

// read reads the file of a workflow, and keeps what the list shows of it if every later change will show in the stamps of the files.
// The error is that of a read that was called off.
func (s *survey) read(dir *os.File, k key, c candidate) (Listed, error) {
	seen := &observer{dir: dir, ok: dir != nil && c.whole()}
	seen.look(c.place())
	w := Listed{Entry: &Entry{Name: k.name, Saved: k.saved, lib: s.lib}}
	err := home.CheckName("workflow", k.name)
	if err == nil {
		var entry *Entry
		if entry, err = s.lib.at(k.saved, k.name); entry != nil {
			w.Entry = entry
			w.Summary, err = seen.read(entry)
		} else if err == nil {
			err = gone(k.name)
		}
	}
	if errors.Is(err, context.Canceled) {
		return w, err
	}
	if err != nil {
		w.Error = fault.From(err)
	}
	if w.Path == "" || !seen.ok {
		return w, nil
	}
	e := &kept{Summary: w.Summary, err: w.Error, path: w.place(), on: seen.on}
	for _, f := range e.on {
		if !f.stamp.SettledAt(s.began) {
			s.unsettled = true
			return w, nil
		}
	}
	if e.storable() {
		s.keep(k, e)
		s.added++
	}
	return w, nil
}

// observer notes the stamps of the files on which a summary depends, before they are read.
type observer struct {
	dir *os.File
	on  []seen
	// ok is false if the summary depends on something that the stamps do not show.
	ok bool
}

// read returns the summary of a workflow.
func (o *observer) read(e *Entry) (Summary, error) {
	rel := e.place()
	switch {
	case e.Bundled():
		o.look(rel)
	case o.ok:
		o.ok = rel == o.on[0].path
	}
	source, err := e.Source()
	if err != nil {
		o.ok = false // such as a file without permission to read it
		return Summary{}, err
	}
	referring := false
	file, err := e.lib.parse(e.called(source), e.Dir(), source, func(r workflow.Reference) {
		referring = true
		o.lookBelow(filepath.Dir(rel), filepath.FromSlash(r.Ref))
	})
	if err != nil {
		o.ok = o.ok && !referring // the fault may depend on other places too, such as the working directory
		return Summary{}, err
	}
	e.file = file
	return summaryOf(e.Name, file)
}

// lookBelow notes what a path below a folder leads to, and each folder on the way.
func (o *observer) lookBelow(folder, path string) {
	path = filepath.Clean(path)
	if o.ok = o.ok && filepath.IsLocal(path); !o.ok {
		return
	}
	way := folder
	for name := range strings.SplitSeq(path, string(filepath.Separator)) {
		way = filepath.Join(way, name)
		if o.look(way); !o.ok || o.on[len(o.on)-1].stamp == (home.Stamp{}) {
			return
		}
	}
}

// look notes what is at a path. Behind a link there is more to know than its stamp.
func (o *observer) look(path string) {
	if !o.ok {
		return
	}
	stamp, err := look(o.dir, path)
	o.ok = err == nil && (stamp == home.Stamp{} || stamp.Regular() || stamp.Folder())
	o.on = append(o.on, seen{path, stamp})
}

// look returns the stamp of what is at a path, which is zero if there is nothing.
func look(dir *os.File, path string) (home.Stamp, error) {
	stamp, err := home.StampIn(dir, path)
	if errors.Is(err, os.ErrNotExist) {
		return home.Stamp{}, nil
	}
	return stamp, err
}
