package settings

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Document is the text of settings.json while it is changed. What a change does not name stays as it is written.
type Document struct{ text []byte }

// Read gives the file's text, {} where there is none. A broken file is Load's validation_error.
func Read(h *home.Home) (*Document, error) {
	source, err := h.Read(File)
	if err != nil {
		return nil, err
	}
	if source == nil {
		return &Document{[]byte("{}")}, nil
	}
	if _, err := parse(source); err != nil {
		return nil, err
	}
	return &Document{source}, nil
}

// Change lets edit work on the file and replaces it in one step, readable by the user alone, under a lock that every
// program of the suite respects. Nothing is written when edit fails, when it changes nothing, or when what comes out is
// not settings; and it says whether something was. A file with a key twice in one object is a validation_error.
func Change(ctx context.Context, h *home.Home, edit func(*Document) error) (changed bool, err error) {
	err = h.Lock(ctx, File, func() error {
		d, err := Read(h)
		if err != nil {
			return err
		}
		if key := twice(d.text); key != "" {
			return invalid("%s has the key %q twice in one object", File, key).Suggest("Take one of them out by hand: the last of them counts, and a change would find the first")
		}
		before := bytes.Clone(d.text)
		if err := edit(d); err != nil {
			return err
		}
		if bytes.Equal(before, d.text) {
			return nil
		}
		if indented := indent(before); bytes.Equal(bytes.TrimSpace(indented), bytes.TrimSpace(before)) {
			d.text = indent(d.text) // the file keeps the form that programs give it, and no other is taken from a person
		}
		if _, err := parse(d.text); err != nil {
			return err
		}
		changed = true
		if err := os.Chmod(h.Path(File), 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) { // a file that is replaced keeps its mode
			return fault.New(fault.Internal, "Cannot keep %s from other users: %v", File, fault.Reason(err))
		}
		return h.Write(d.text, 0o600, File)
	})
	return changed, err
}

// indent is a document as programs write it.
func indent(text []byte) []byte {
	var b bytes.Buffer
	if json.Indent(&b, bytes.TrimSpace(text), "", "  ") != nil {
		return text
	}
	return append(b.Bytes(), '\n')
}

// Get is the value at a path of keys, nil where there is none.
func (d *Document) Get(path ...string) json.RawMessage {
	if v := gjson.GetBytes(d.text, joined(path)); v.Exists() {
		return json.RawMessage(v.Raw)
	}
	return nil
}

// Set puts a value at a path of keys.
func (d *Document) Set(value json.RawMessage, path ...string) error {
	for n := 1; n < len(path); n++ { // else a key of digits would make a list
		if v := gjson.GetBytes(d.text, joined(path[:n])); !v.IsObject() {
			if v.Exists() && v.Type != gjson.Null {
				return invalid("%s: %s must hold an object, not %s", File, strings.Join(path[:n], "."), rawjson.Kind(json.RawMessage(v.Raw)))
			}
			if err := d.put(json.RawMessage("{}"), path[:n]); err != nil {
				return err
			}
		}
	}
	return d.put(value, path)
}

func (d *Document) put(value json.RawMessage, path []string) error {
	text, err := sjson.SetRawBytes(d.text, forced(path), value)
	if err != nil {
		return fault.New(fault.Internal, "%s cannot be changed: %v", File, err)
	}
	d.text = text
	return nil
}

// Delete takes out what is at a path of keys, and says whether there was something.
func (d *Document) Delete(path ...string) bool {
	if d.Get(path...) == nil {
		return false
	}
	text, err := sjson.DeleteBytes(d.text, forced(path))
	if err != nil {
		return false
	}
	d.text = text
	return true
}

// Clear takes everything out.
func (d *Document) Clear() { d.text = []byte("{}") }

// Names lists the keys of an object, in the order in which they stand there.
func (d *Document) Names(path ...string) (names []string) {
	gjson.GetBytes(d.text, joined(path)).ForEach(func(key, _ gjson.Result) bool {
		names = append(names, key.String())
		return true
	})
	return names
}

// Texts is a list of texts, nil where there is none.
func (d *Document) Texts(path ...string) []string {
	v := gjson.GetBytes(d.text, joined(path))
	if !v.IsArray() {
		return nil
	}
	list := []string{}
	for _, item := range v.Array() {
		list = append(list, item.String())
	}
	return list
}

// joined is a path as gjson reads it.
func joined(path []string) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = gjson.Escape(p)
	}
	return strings.Join(parts, ".")
}

// forced is a path as sjson reads it, which takes off a colon that a key begins with, and digits behind one for a key and
// no place in a list.
func forced(path []string) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = gjson.Escape(p)
		if strings.HasPrefix(p, ":") || strings.Trim(p, "-0123456789") == "" {
			parts[i] = ":" + parts[i]
		}
	}
	return strings.Join(parts, ".")
}
