package workflow

import (
	"bytes"
	"strings"
	"time"
)

// File is a workflow file. A saved workflow has dates and a version.
type File struct {
	// Name is the name of the file in errors: a path, a workflow's name, or "-".
	Name     string
	Workflow *Workflow
	// Source holds the bytes of the file without a byte order mark.
	Source []byte
	// Markdown reports whether the file has the Markdown form. Wrapped reports whether the workflow is under the key "ir", as
	// in the JSON files of pflow's Python version.
	Markdown  bool
	Wrapped   bool
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   string

	// inner reports whether the description is inside the wrapped workflow and not beside it.
	inner  bool
	text   *text
	json   string
	places places
}

// savedKeys lists the fields of a saved workflow, beside those of a bare workflow or beside "ir".
var savedKeys = []string{"created_at", "updated_at", "version"}

// Parse parses a workflow file. A name that ends in .md means the Markdown form and one that ends in .json the JSON form; with
// any other name the text decides. The error is a fault that holds every fault found, each with its place.
func Parse(name string, source []byte) (*File, error) {
	f, err := Read(name, source)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// MaxSize is the most bytes of a workflow file. Whoever reads one enforces it.
const MaxSize = 16 << 20

// Read is Parse, except that with an error it also returns what could be read of the workflow, so that a check can continue.
// The file is nil if nothing could be read.
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

// formOf returns the form of a file.
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
		d.addAt(0, "", "Invalid JSON in %s: the file is empty", d.file).Suggest(`Write one JSON object with a list of nodes`)
		return
	}
	d.places = &jsonPlaces{text: d.json, root: root}
	if d.scan(d.json, 0, "") && !d.full() {
		d.decode(f, root)
	}
}

// JSON returns the workflow in its JSON form: the source of a JSON file, or a Markdown file converted to JSON.
func (f *File) JSON() []byte {
	if !f.Markdown {
		return f.Source
	}
	return []byte(f.json)
}

// Place returns the line and the column, in bytes, of a JSON path such as nodes[1].params.url, both from 1. For a path that
// does not exist, it returns the place of the longest part that does. It is fast enough to be called for each fault.
func (f *File) Place(path string) (line, column int) {
	at, _, _ := f.places.of(f.steps(path))
	return f.text.place(at)
}

// PlaceIn returns the line and the column of a byte of the text at a path. It returns the place of the path if the byte's own
// place is not known.
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
