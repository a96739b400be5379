package workflow

import (
	"bytes"
	"strings"
	"time"
)

// File is a workflow with what a file adds to it. A bare workflow is a file without; a saved one has dates.
type File struct {
	// Name is how errors call the file: a path, a workflow's name, or "-".
	Name     string
	Workflow *Workflow
	// Source is the bytes that were read, but for a byte order mark.
	Source []byte
	// Markdown says that the file is of the Markdown form, and Wrapped that the workflow stands under "ir", as upstream
	// pflow writes its JSON files.
	Markdown  bool
	Wrapped   bool
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   string

	// inner says that the description is that of the workflow itself, and not of what is around it.
	inner  bool
	text   *text
	json   string
	places places
}

// savedKeys may stand beside a bare workflow, or around a wrapped one.
var savedKeys = []string{"created_at", "updated_at", "version"}

// Parse reads a workflow file of either form: a name that ends in .md is Markdown, one that ends in .json is JSON, and
// with another name the text decides. The error is a fault that counts every one found, each with its place.
func Parse(name string, source []byte) (*File, error) {
	f, err := Read(name, source)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Read is Parse, but beside an error it gives what could be read of the workflow all the same, nil when that is nothing:
// a check can go on with it.
func Read(name string, source []byte) (*File, error) {
	source = bytes.TrimPrefix(source, []byte("\xef\xbb\xbf"))
	d := newDecoder(name, source)
	f := &File{Name: name, Source: source, text: d.text}
	if at, found := d.text.invalid(); found {
		d.notUTF8(at)
		return nil, d.fault()
	}
	switch formOf(name, d.text.s) {
	case markdownForm:
		f.Markdown = true
		d.markdown(f)
	case jsonForm:
		d.bare(f)
	default:
		return nil, d.noForm()
	}
	f.json, f.places = d.json, d.places
	err := d.fault()
	if err != nil && f.Workflow == nil {
		return nil, err
	}
	return f, err
}

type form int

const (
	noForm form = iota
	jsonForm
	markdownForm
)

// formOf says which form a file has.
func formOf(name, text string) form {
	switch text := strings.TrimLeft(text, " \t\r\n"); {
	case strings.HasSuffix(name, ".md"):
		return markdownForm
	case strings.HasSuffix(name, ".json"), text == "", text[0] == '{', text[0] == '[':
		return jsonForm
	case text[0] == '#', strings.HasPrefix(text, "---"):
		return markdownForm
	}
	return noForm
}

// bare reads a file of the JSON form.
func (d *decoder) bare(f *File) {
	d.json = d.text.s
	root := len(d.json) - len(strings.TrimLeft(d.json, " \t\r\n"))
	if root == len(d.json) {
		d.addAt(0, "", "Invalid JSON in %s: the file is empty", d.file).Suggest(`A workflow file is one JSON object with a list of nodes`)
		return
	}
	d.places = &jsonPlaces{text: d.json, root: root}
	if d.scan(d.json, 0, "") && !d.full() {
		d.decode(f, root)
	}
}

// JSON is the workflow in its JSON form: the source of a file that has it, else what the file says in Markdown.
func (f *File) JSON() []byte {
	if !f.Markdown {
		return f.Source
	}
	return []byte(f.json)
}

// Place is where in the file a JSON path such as nodes[1].params.url stands, in lines and bytes from 1. A path that is
// not there is where as much of it stands as there is. It may be asked for very often.
func (f *File) Place(path string) (line, column int) {
	at, _, _ := f.places.of(f.steps(path))
	return f.text.place(at)
}

// PlaceIn is where in the file a byte of the text at a path stands. Where that cannot be told it is where the text begins,
// and for a path that leads to no text, its place.
func (f *File) PlaceIn(path string, offset int) (line, column int) {
	_, value, whole := f.places.of(f.steps(path))
	if whole && value.trace != nil && offset >= 0 {
		if at, ok := value.trace(offset); ok {
			return f.text.place(at)
		}
	}
	return f.Place(path)
}

func (f *File) steps(path string) []pathStep {
	if f.Wrapped {
		path = strings.TrimSuffix("ir."+path, ".")
	}
	return stepsOf(path)
}
