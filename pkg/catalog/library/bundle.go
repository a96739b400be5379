package library

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// bundle is what a workflow needs besides its own file.
type bundle struct {
	lib *Library
	// files holds the files by their paths relative to the folder of the workflow.
	files map[string][]byte
	// seen are the paths of the workflows whose needs have been collected.
	seen map[string]bool
	// left are the needs that cannot be bundled. The workflow can run where they are met.
	left []*fault.Fault
	// refused are the files that cannot be bundled, although the workflow cannot run without them.
	refused []*fault.Fault
}

// need collects what a workflow needs: the files that it refers to and the workflows that its nodes run.
func (l *Library) need(file *workflow.File) (*bundle, error) {
	b := &bundle{lib: l, files: map[string][]byte{}, seen: map[string]bool{}}
	if err := b.add(file, ".", 0); err != nil {
		return nil, err
	}
	if f := fault.Join(fault.Validation, file.Name+" cannot be saved", b.refused); f != nil {
		return nil, f
	}
	return b, nil
}

// add collects what a workflow needs whose folder is at a path relative to that of the first one.
func (b *bundle) add(file *workflow.File, folder string, depth int) error {
	included := map[string]bool{}
	for _, in := range file.Included() {
		included[in.Path] = true
		b.put(file, in.Path, in.Node, filepath.Join(folder, in.Ref), in.Content)
	}
	for _, r := range file.References() {
		if r.Command && !r.Plain && !included[r.Path] {
			b.leave(file, r.Path, r.Node, "The command %s is run and not read, so it is not in the bundle: it is looked for in the working directory", r.Ref)
		}
	}
	return b.subs(file, gjson.GetBytes(file.JSON(), nodesKey(file)), "nodes", folder, depth)
}

func nodesKey(file *workflow.File) string {
	if file.Wrapped {
		return "ir.nodes"
	}
	return "nodes"
}

// subs collects the workflows that nodes run, also those of workflows inside them. nodes is the list at a path of the file.
func (b *bundle) subs(file *workflow.File, nodes gjson.Result, path, folder string, depth int) error {
	for i, n := range nodes.Array() {
		params := n.Get("params")
		if !params.Exists() {
			params = n.Get("parameters")
		}
		sub, ok := workflow.SubOf([]byte(params.Raw))
		if n.Get("type").Str != workflow.SubType || !ok || depth > workflow.MaxDepth {
			continue
		}
		id, at := n.Get("id").Str, rawjson.JoinPath(fmt.Sprintf("%s[%d].params", path, i), sub.Param)
		if sub.Inline != nil {
			if err := b.subs(file, gjson.GetBytes(sub.Inline, "nodes"), at+".nodes", folder, depth+1); err != nil {
				return err
			}
			continue
		}
		if err := b.sub(file, sub.Ref, at, id, folder, depth); err != nil {
			return err
		}
	}
	return nil
}

// sub collects a workflow that a node names.
func (b *bundle) sub(file *workflow.File, ref, at, id, folder string, depth int) error {
	switch {
	case strings.Contains(ref, "${"):
		b.leave(file, at, id, "The workflow %s is known only at run time, so it is not in the bundle", ref)
		return nil
	case filepath.IsAbs(ref):
		b.leave(file, at, id, "The workflow %s has an absolute path, so it is not in the bundle", ref)
		return nil
	}
	if !isPath(ref) {
		entry, err := b.lib.Find(ref)
		if err == nil && !entry.Saved {
			b.leave(file, at, id, "The workflow %s is a draft with a name, so it is not in the bundle: save it too", ref)
		}
		if err == nil || !isFile(filepath.Join(file.Dir, ref)) {
			return nil
		}
	}
	sub, err := b.lib.OpenSub(file, ref)
	if err != nil {
		return err
	}
	path := filepath.Join(folder, ref)
	b.put(file, at, id, path, sub.Source)
	if b.seen[path] {
		return nil
	}
	b.seen[path] = true
	return b.add(sub, filepath.Dir(path), depth+1)
}

// put adds a file.
func (b *bundle) put(file *workflow.File, at, id, path string, content []byte) {
	if !filepath.IsLocal(path) {
		f := file.FaultAt(at, "%s is not below the folder of the workflow that is saved, so it cannot be bundled", path)
		f.Node = id
		b.refused = append(b.refused, f.Suggest("Move it into that folder, and correct the path"))
		return
	}
	b.files[path] = content
}

// leave names something that is not in the bundle.
func (b *bundle) leave(file *workflow.File, at, id, format string, args ...any) {
	f := file.FaultAt(at, format, args...)
	f.Node = id
	b.left = append(b.left, f)
}

// names returns the paths of the files, sorted.
func (b *bundle) names() []string {
	names := make([]string, 0, len(b.files))
	for name := range b.files {
		names = append(names, filepath.ToSlash(name))
	}
	slices.Sort(names)
	return names
}

// putBundle writes a saved workflow with the files that it needs into a folder of its own, in one rename. A file of the same name is
// removed after that; until then the folder precedes it.
func (l *Library) putBundle(name, main string, text []byte, b *bundle) error {
	for _, ending := range endings {
		if _, ok := b.files[name+ending]; ok {
			return fault.New(fault.Validation, "The workflow needs a file %s, which would be its own name in the bundle", name+ending).
				Suggest("Choose another name, or rename that file")
		}
	}
	if info, err := os.Lstat(l.home.Path(savedFolder, name)); err == nil {
		if entry, err := l.at(true, name); err == nil && (entry == nil || !entry.Bundled() || !info.IsDir()) {
			return fault.New(fault.Conflict, "The home's %s folder has a %q that is not a workflow", savedFolder, name).Suggest("Move it away, or choose another name")
		}
	}
	if err := l.home.CheckInside(savedFolder); err != nil {
		return err
	}
	files := map[string][]byte{main: text}
	maps.Copy(files, b.files)
	if err := l.home.PutFolder(files, savedFolder, name); err != nil {
		return err
	}
	return l.removeFiles(name)
}

// removeFiles removes the files of a saved workflow that is not in a folder of its own.
func (l *Library) removeFiles(name string) error {
	for _, ending := range endings {
		if err := os.Remove(l.home.Path(savedFolder, name+ending)); err != nil && !os.IsNotExist(err) {
			return unusable("remove", name, err)
		}
	}
	return nil
}
