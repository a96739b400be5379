package workflow

import (
	"slices"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow/yaml"
)

// WithMetadata returns the file's text with dates and, unless they are empty, a description and a version. The rest of the text
// is not changed. In the Markdown form they are in the front matter, whose description takes precedence over the prose below
// the title. The error is a fault.
func (f *File) WithMetadata(description string, created, updated time.Time, version string) ([]byte, error) {
	dates := [][2]string{{"created_at", created.Format(time.RFC3339Nano)}, {"updated_at", updated.Format(time.RFC3339Nano)}}
	if version != "" {
		dates = append(dates, [2]string{"version", version})
	}
	var source string
	if f.Markdown {
		if description != "" && description != f.Workflow.Description {
			dates = append([][2]string{{"description", description}}, dates...)
		}
		text, err := f.withFront(dates)
		if err != nil {
			return nil, err
		}
		source = text
	} else {
		source = f.withFields(description, dates)
	}
	if _, err := Parse(f.Name, []byte(source)); err != nil {
		return nil, err
	}
	return []byte(source), nil
}

// withFields sets fields of a file of the JSON form.
func (f *File) withFields(description string, fields [][2]string) string {
	text := f.text.s
	if description != "" {
		text = set(text, f.Wrapped && f.inner, "description", description)
	}
	for _, field := range fields {
		text = set(text, false, field[0], field[1])
	}
	return text
}

// withFront sets keys of the front matter of a file of the Markdown form.
func (f *File) withFront(fields [][2]string) (string, error) {
	text, ending := f.text.s, "\n"
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		ending = "\r\n"
	}
	line := func(field [2]string) string { return field[0] + ": " + string(rawjson.Quote(field[1])) + ending }
	o := newDecoder(f.Name, f.Source).outline()
	if o.front == nil {
		var front strings.Builder
		for _, field := range fields {
			front.WriteString(line(field))
		}
		return "---" + ending + front.String() + "---" + ending + ending + text, nil
	}
	root, _ := yaml.Parse(text, o.front.from, o.front.to, 0)
	if root.Kind == yaml.Mapping && text[root.At] == '{' {
		broken := fault.New(fault.Validation, "The front matter of %s cannot be changed because it is in braces", f.Name)
		broken.File = f.Name
		broken.Line, broken.Column = f.text.place(root.At)
		return "", broken.Suggest("Write each of its keys on a line of its own, without braces")
	}
	// From the last to the first, so that earlier offsets stay valid.
	slices.Reverse(fields)
	end := o.front.to
	for _, field := range fields {
		if _, ok := root.Get(field[0]); !ok {
			text = text[:end] + line(field) + text[end:]
		}
	}
	for _, e := range slices.Backward(root.Entries) {
		i := slices.IndexFunc(fields, func(field [2]string) bool { return field[0] == e.Key })
		if i >= 0 {
			text = text[:e.At] + line(fields[i]) + text[entryEnd(f.text.s, e.At, end):]
		}
	}
	return text, nil
}

// entryEnd returns the end of the lines of the key at an offset: its own line, and the lines below that are indented or are
// list items.
func entryEnd(text string, at, end int) int {
	_, last := lineEnd(text, at)
	for next := last; next < end; {
		line := text[next]
		if line != ' ' && line != '\t' && line != '-' && line != '\n' && line != '\r' {
			break
		}
		blank := line == '\n' || line == '\r'
		if _, next = lineEnd(text, next); !blank {
			last = next
		}
	}
	return last
}

// set returns JSON text with one key set in its object, or in the object under "ir" if inner. The other bytes do not change. A
// new key is appended and formatted like the first one. The object must not be empty.
func set(text string, inner bool, key, value string) string {
	at := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	var fields []field
	visit := func(f field) bool { fields = append(fields, f); return true }
	if fieldsOf(text, at, visit); inner {
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == "ir" })
		at, fields = fields[i].value.at, nil
		fieldsOf(text, at, visit)
	}
	quoted := string(rawjson.Quote(value))
	if i := slices.IndexFunc(fields, func(f field) bool { return f.key == key }); i >= 0 {
		old := fields[i].value
		return text[:old.at] + quoted + text[old.end:]
	}
	space := text[at+1 : fields[0].at]
	colon := `":`
	if space != "" {
		colon = `": `
	}
	end := fields[len(fields)-1].value.end
	return text[:end] + "," + space + `"` + key + colon + quoted + text[end:]
}
