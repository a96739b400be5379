package workflow

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow/yaml"
)

// Included is the content of a file that a workflow refers to.
type Included struct {
	Reference
	// Name is the name of the file in errors. One that ends in .json holds JSON if it holds data, any other YAML.
	Name    string
	Content []byte
	// Lost is set for a file that could not be read, which whoever read it reports. It has no content.
	Lost bool
}

// inclusion is a file in place of the value at a path, which begins with "ir." if the workflow is wrapped.
type inclusion struct {
	path   string
	name   string
	text   *text
	places places
}

// Include returns the workflow with the content of files in place of the values that refer to them. The places of faults in them are
// places in those files. Source stays the workflow's own file. With an error, the files without faults are in place.
func (f *File) Include(files []Included) (*File, error) {
	d := &decoder{file: f.Name, text: f.text, places: f.places, json: string(f.JSON()), replaced: true}
	known := &jsonPlaces{text: d.json, root: len(d.json) - len(strings.TrimLeft(d.json, " \t\r\n"))}
	type part struct {
		at, end int
		json    string
	}
	var parts []part
	size := len(d.json)
	for _, file := range files {
		_, value, whole := known.of(stepsOf(f.inside(file.Path)))
		content, ok := "", false
		if !file.Lost {
			content, ok = d.include(f.inside(file.Path), file)
		}
		if !whole || !ok {
			d.lost = append(d.lost, f.inside(file.Path))
			continue
		}
		if size += len(content); size > MaxSize {
			d.add(f.inside(file.Path), "The workflow and the files that it refers to have more than %d MiB", MaxSize>>20).
				Suggest("Read a large file when the workflow runs, with a read-file node")
			break
		}
		parts = append(parts, part{value.at, valueEnd(d.json, value.at), content})
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.at, b.at) })
	var whole strings.Builder
	at := 0
	for _, p := range parts {
		whole.WriteString(d.json[at:p.at])
		whole.WriteString(p.json)
		at = p.end
	}
	whole.WriteString(d.json[at:])
	d.json = whole.String()
	g := *f
	g.json, g.included = d.json, d.included
	g.files = slices.DeleteFunc(slices.Clone(files), func(file Included) bool { return file.Lost })
	d.decode(&g, known.root)
	return &g, d.fault()
}

// include adds a file in place of the value at a path and returns its content as JSON; ok is false if it has a fault.
func (d *decoder) include(path string, file Included) (content string, ok bool) {
	source := bytes.TrimPrefix(file.Content, []byte("\xef\xbb\xbf"))
	inner := newDecoder(file.Name, source)
	in := &inclusion{path: path, name: file.Name, text: inner.text}
	defer func() {
		for _, f := range inner.faults {
			f.Path = path
		}
		d.faults, d.noted = append(d.faults, inner.faults...), d.noted+inner.noted
		if ok {
			d.included = append(d.included, in)
		}
	}()
	if at, found := inner.text.invalid(); found {
		inner.notUTF8(at)
		return "", false
	}
	text := inner.text.s
	switch {
	case !file.Data && file.Node == "": // the last line of a file ends with a line break, an output's source does not
		return string(rawjson.Quote(strings.TrimRight(text, "\r\n"))), true
	case !file.Data:
		return string(rawjson.Quote(text)), true
	case strings.HasSuffix(file.Name, ".json"):
		root := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
		if root == len(text) {
			_ = inner.addAt(0, "", "%s is empty", file.Name)
			return "", false
		}
		in.places = &jsonPlaces{text: text, root: root}
		return strings.TrimSpace(text), inner.scan(text, 0, file.Name) && inner.noted == 0
	}
	n, errors := (&converter{decoder: inner}).readYAML(piece{0, len(text), 0}, file.Name)
	if strings.HasSuffix(path, ".batch") {
		n = withTexts(n)
	}
	in.places = &yamlPlaces{text, n}
	json, unfit := n.AppendJSON(nil)
	for _, e := range unfit {
		inner.addAt(e.At, "", "Invalid value in %s: %s", file.Name, e.Message).Suggest("%s", e.Suggestion)
	}
	return string(json), len(errors)+len(unfit) == 0
}

// inclusionAt returns the inclusion whose content is at a path, and the rest of the path, or nil.
func inclusionAt(included []*inclusion, path string) (in *inclusion, rest string) {
	for _, in := range included {
		if rest, ok := strings.CutPrefix(path, in.path); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return in, rest
		}
	}
	return nil, ""
}

// of is as in places, for a path below that of the inclusion.
func (in *inclusion) of(steps []pathStep) (at int, value content, whole bool) {
	if in.places != nil {
		return in.places.of(steps)
	}
	return 0, content{0, func(offset int) (int, bool) { return offset, offset <= len(in.text.s) }}, len(steps) == 0
}

// yamlPlaces finds places in a YAML text.
type yamlPlaces struct {
	text string
	root yaml.Node
}

func (p *yamlPlaces) of(steps []pathStep) (at int, value content, whole bool) {
	return placeInYAML(p.text, p.root.At, p.root, steps)
}

// FaultAt returns a validation_error at a JSON path of the workflow, with the line of the file.
func (f *File) FaultAt(path, format string, args ...any) *fault.Fault {
	d := &decoder{file: f.Name, text: f.text, places: f.places, included: f.included}
	g := d.add(f.inside(path), format, args...)
	g.Path = path
	return g
}
