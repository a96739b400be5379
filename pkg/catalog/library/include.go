package library

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

// parse parses a workflow whose relative paths start from dir, and puts the files that it refers to in place. With the error of a
// faulty form, parse returns what could be read. It calls before, unless that is nil, with each reference to a file before it looks at
// that file.
func (l *Library) parse(name, dir string, source []byte, before func(workflow.Reference)) (*workflow.File, error) {
	file, form := workflow.Read(name, source)
	if file == nil {
		return nil, form
	}
	file.Dir = dir
	var faults []*fault.Fault
	if form != nil {
		faults = fault.Parts(form)
	}
	var files []workflow.Included
	replaced := form != nil
	size := 0
	for _, r := range file.References() {
		if before != nil && !r.Plain {
			before(r)
		}
		path := filepath.Join(dir, filepath.FromSlash(r.Ref))
		info, err := os.Stat(path)
		runs := r.Command && (errors.Is(err, fs.ErrNotExist) || err == nil && (info.IsDir() || info.Mode()&0o111 != 0))
		if r.Plain || runs {
			if r.Plain && !runs && err == nil && info.Mode().IsRegular() {
				file.Paths = append(file.Paths, r)
			}
			continue
		}
		replaced = true
		if size > workflow.MaxSize { // Include reports that
			files = append(files, workflow.Included{Reference: r, Lost: true})
			continue
		}
		content, err := l.readReference(file, r, path)
		size += len(content)
		switch {
		case errors.Is(err, context.Canceled):
			return nil, err
		case err != nil:
			faults = append(faults, fault.From(err))
			files = append(files, workflow.Included{Reference: r, Lost: true})
		default:
			files = append(files, workflow.Included{Reference: r, Name: named(file, r.Ref), Content: content})
		}
	}
	if !replaced {
		return file, nil
	}
	whole, err := file.Include(files)
	if err != nil && form == nil {
		faults = append(faults, fault.Parts(err)...)
	}
	if f := fault.Join(fault.Validation, name, faults); f != nil {
		return whole, f
	}
	return whole, nil
}

// readReference returns the content of a file that a workflow refers to. The error is a fault at the place of the reference.
func (l *Library) readReference(file *workflow.File, r workflow.Reference, path string) ([]byte, error) {
	name := named(file, r.Ref)
	err := checkReference(l, path)
	var content []byte
	if err == nil {
		content, err = l.home.ReadInput(path, name, workflow.MaxSize)
	}
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return content, err
	case errors.Is(err, fs.ErrNotExist):
		f := file.FaultAt(r.Path, "There is no file %s", name)
		f.Node, f.Missing = r.Node, []string{r.Ref}
		if elsewhere(f, file, r.Ref); r.Data || strings.HasSuffix(r.Path, ".code") {
			return nil, f
		}
		return nil, f.Suggest(`For the text %s itself, give it a name in "inputs" of the node, and write ${NAME} here`, r.Ref)
	}
	cause := fault.From(unreadable(name, err))
	f := file.FaultAt(r.Path, "%s", cause.Message)
	f.Type, f.Node = cause.Type, r.Node
	return nil, f.SuggestAs(cause)
}

// unreadable returns the error of a read as a fault, except that of a read that was called off.
func unreadable(name string, err error) error {
	if _, ok := errors.AsType[*fault.Fault](err); ok || errors.Is(err, context.Canceled) {
		return err
	}
	return fault.New(fault.Usage, "Cannot read %s: %v", name, fault.Reason(err))
}
