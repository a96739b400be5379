package workflow

import (
	"bytes"
	"encoding/json"
	"time"
)

// File is a workflow with what a file adds to it. A bare workflow is a file without; a saved one has dates.
type File struct {
	// Name is how errors call the file: a path, a workflow's name, or "-".
	Name     string
	Workflow *Workflow
	// Source is the bytes that were read.
	Source []byte
	// Wrapped says that the workflow stands under "ir", as upstream pflow writes its files.
	Wrapped   bool
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   string

	places *places
}

// savedKeys may stand beside a bare workflow, or around a wrapped one.
var savedKeys = []string{"created_at", "updated_at", "version"}

// Parse reads a workflow file, bare or wrapped. The error is a fault that counts every one found, each with its place.
func Parse(name string, source []byte) (*File, error) {
	d := &decoder{file: name}
	source = bytes.TrimPrefix(source, []byte("\xef\xbb\xbf"))
	if !json.Valid(source) {
		return nil, d.syntax(source)
	}
	d.places = &places{source: source}
	f := &File{Name: name, Source: source, places: d.places}
	top, ok := d.object(source, "")
	if !ok {
		return nil, d.fault()
	}
	body, path := top, ""
	if ir, ok := top["ir"]; ok {
		f.Wrapped, path = true, "ir"
		d.known(top, "", append([]string{"ir", "name", "description", "rich_metadata"}, savedKeys...))
		if body, ok = d.object(ir, path); !ok {
			return nil, d.fault()
		}
	}
	d.text(top, "", "version", &f.Version)
	f.CreatedAt, f.UpdatedAt = d.date(top, "created_at"), d.date(top, "updated_at")
	f.Workflow = d.workflow(body, path, f.Wrapped)
	if f.Wrapped && f.Workflow.Description == "" {
		d.text(top, "", "description", &f.Workflow.Description)
	}
	if err := d.fault(); err != nil {
		return nil, err
	}
	return f, nil
}

// Place is where in the file a JSON path such as nodes[1].params.url stands, with the file's name; zero when the path
// is not in it. A path whose last step is missing is where its parent is. It may be asked for very often.
func (f *File) Place(path string) (line, column int) {
	if f.Wrapped {
		path = "ir." + path
	}
	return f.places.of(path)
}
