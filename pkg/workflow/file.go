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
	// Dir is the folder that relative paths in the workflow start from. Whoever reads the file sets it.
	Dir string
	// Source holds the bytes of the file without a byte order mark.
	Source []byte
	// Markdown reports whether the file has the Markdown form. Wrapped reports whether the workflow is under the key "ir", as
	// in the JSON files of pflow's Python version.
	Markdown  bool
	Wrapped   bool
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   string
	// Paths lists values that are text although they are the paths of files. Whoever reads the file sets it.
	Paths []Reference

	// inner reports whether the description is inside the wrapped workflow and not beside it.
	inner  bool
	text   *text
	json   string
	places places
	// included holds the files that are in place of values.
	included []*inclusion
	files    []Included
	// outer is the file that this workflow is part of, as the object at outerPath, or nil.
	outer     *File
	outerPath string
}

// savedKeys lists the fields of a saved workflow, beside those of a bare workflow or beside "ir".
var savedKeys = []string{"created_at", "updated_at", "version"}

// toolKeys lists the fields that matter to those who offer a workflow as a tool. In the Markdown form they are in the front matter.
var toolKeys = []string{"category", "tags", "executionType"}

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
	return read(name, source, noForm)
}

// read reads a file of the given form; with noForm, the name or the text decides.
func read(name string, source []byte, as form) (*File, error) {
	source = bytes.TrimPrefix(source, []byte(byteOrderMark))
	d := newDecoder(name, source)
	f := &File{Name: name, Source: source, text: d.text}
	if at, found := d.text.invalid(); found {
		d.notUTF8(at)
		return nil, d.fault()
	}
	if as == noForm {
		as = formOf(name, d.text.s)
	}
	switch as {
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

// IsMarkdown reports whether a text that has no file name yet would be read as the Markdown form.
func IsMarkdown(source []byte) bool {
	return formOf("", string(bytes.TrimPrefix(source, []byte(byteOrderMark)))) == markdownForm
}

// byteOrderMark may begin a file. It is not part of the text.
const byteOrderMark = "\xef\xbb\xbf"

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

// JSON returns the workflow in its JSON form, with the content of included files: the source of a JSON file, or a Markdown file
// converted to JSON.
func (f *File) JSON() []byte {
	if !f.Markdown && f.included == nil {
		return f.Source
	}
	return []byte(f.json)
}

// Included returns the files that are in place of values.
func (f *File) Included() []Included { return f.files }

// Inline parses a workflow object that is at a path of the file's workflow. The object has the JSON form, whatever form the file
// has. Its places are those of the file.
func (f *File) Inline(path string, object []byte) (*File, error) {
	inner, err := read(f.Name, object, jsonForm)
	if err != nil {
		return nil, err
	}
	inner.Dir, inner.outer, inner.outerPath = f.Dir, f, path
	return inner, nil
}

// Place returns the file, and the line and the column in it, of a JSON path such as nodes[1].params.url. The line and the column
// count from 1, the column in bytes. The file is f.Name or that of an included file. For a path that does not exist, Place returns
// the place of the longest part that does. It is fast enough to be called for each fault.
func (f *File) Place(path string) (file string, line, column int) {
	if f.outer != nil {
		return f.outer.Place(JoinPaths(f.outerPath, path))
	}
	if in, rest := inclusionAt(f.included, f.inside(path)); in != nil {
		at, _, _ := in.of(stepsOf(rest))
		line, column = in.text.place(at)
		return in.name, line, column
	}
	at, _, _ := f.places.of(stepsOf(f.inside(path)))
	line, column = f.text.place(at)
	return f.Name, line, column
}

// PlaceIn returns the place of a byte of the text at a path. It returns the place of the path if the byte's own place is not known.
func (f *File) PlaceIn(path string, offset int) (file string, line, column int) {
	if f.outer != nil {
		return f.outer.PlaceIn(JoinPaths(f.outerPath, path), offset)
	}
	var value content
	var whole bool
	name, text := f.Name, f.text
	if in, rest := inclusionAt(f.included, f.inside(path)); in != nil {
		_, value, whole = in.of(stepsOf(rest))
		name, text = in.name, in.text
	} else {
		_, value, whole = f.places.of(stepsOf(f.inside(path)))
	}
	if whole && value.trace != nil && offset >= 0 {
		if at, ok := value.trace(offset); ok {
			line, column = text.place(at)
			return name, line, column
		}
	}
	return f.Place(path)
}

// inside returns a path as it is in the file, where the workflow can be under "ir".
func (f *File) inside(path string) string {
	if f.Wrapped {
		return strings.TrimSuffix("ir."+path, ".")
	}
	return path
}

// JoinPaths appends a path inside an object to the path of the object.
func JoinPaths(path, inner string) string {
	if inner == "" || inner[0] == '[' {
		return path + inner
	}
	return path + "." + inner
}
