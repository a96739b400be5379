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

// Document is the text of settings.json while it is changed. A change leaves the rest of the text as it is.
type Document struct{ text []byte }

// Read returns the file's text, or {} if there is no file. For an invalid file it returns the error of Load.
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

// Change lets edit change the file's text and replaces the file in one step, under a lock that every program of the suite
// respects. Only the user can read the new file. Change reports whether it wrote the file: it does not if edit fails, changes
// nothing, or leaves invalid settings. For a file with the same key twice in one object the error is a validation_error.
func Change(ctx context.Context, h *home.Home, edit func(*Document) error) (changed bool, err error) {
	err = h.Lock(ctx, File, func() error {
		d, err := Read(h)
		if err != nil {
			return err
		}
		if _, key, twice := rawjson.DuplicateKey(d.text); twice {
			return invalid("%s has the key %q twice in one object", File, key).Suggest("Delete one of them by hand: programs read the last, but a change would change the first")
		}
		before := bytes.Clone(d.text)
		if err := edit(d); err != nil {
			return err
		}
		if bytes.Equal(before, d.text) {
			return nil
		}
		if indented := indent(before); bytes.Equal(bytes.TrimSpace(indented), bytes.TrimSpace(before)) {
			d.text = indent(d.text) // a file that a program wrote stays indented; a person's own form is kept
		}
		if _, err := parse(d.text); err != nil {
			return err
		}
		changed = true
		if err := os.Chmod(h.Path(File), 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) { // a replaced file keeps its mode
			return fault.New(fault.Internal, "Cannot make %s private to its user: %v", File, fault.Reason(err))
		}
		return h.Write(d.text, 0o600, File)
	})
	return changed, err
}

// indent returns a document as programs write it.
func indent(text []byte) []byte {
	var b bytes.Buffer
	if json.Indent(&b, bytes.TrimSpace(text), "", "  ") != nil {
		return text
	}
	return append(b.Bytes(), '\n')
}

// Get returns the value at a path of keys, or nil if the file has no such value.
func (d *Document) Get(path ...string) json.RawMessage {
	if v := gjson.GetBytes(d.text, gjsonPath(path)); v.Exists() {
		return json.RawMessage(v.Raw)
	}
	return nil
}

// Set sets the value at a path of keys. It creates missing objects on the way.
func (d *Document) Set(value json.RawMessage, path ...string) error {
	for n := 1; n < len(path); n++ { // sjson would create a list for a key of digits
		if v := gjson.GetBytes(d.text, gjsonPath(path[:n])); !v.IsObject() {
			if v.Exists() && v.Type != gjson.Null {
				return invalid("%s: %s must be an object, not %s", File, strings.Join(path[:n], "."), rawjson.Kind(json.RawMessage(v.Raw)))
			}
			if err := d.put(json.RawMessage("{}"), path[:n]); err != nil {
				return err
			}
		}
	}
	return d.put(value, path)
}

func (d *Document) put(value json.RawMessage, path []string) error {
	text, err := sjson.SetRawBytes(d.text, sjsonPath(path), value)
	if err != nil {
		return fault.New(fault.Internal, "%s cannot be changed: %v", File, err)
	}
	d.text = text
	return nil
}

// Delete deletes the value at a path of keys, and reports whether there was one.
func (d *Document) Delete(path ...string) bool {
	if d.Get(path...) == nil {
		return false
	}
	text, err := sjson.DeleteBytes(d.text, sjsonPath(path))
	if err != nil {
		return false
	}
	d.text = text
	return true
}

// Clear deletes everything.
func (d *Document) Clear() { d.text = []byte("{}") }

// Names returns the keys of the object at a path, in the order of the text.
func (d *Document) Names(path ...string) (names []string) {
	gjson.GetBytes(d.text, gjsonPath(path)).ForEach(func(key, _ gjson.Result) bool {
		names = append(names, key.String())
		return true
	})
	return names
}

// Texts returns the list of texts at a path of keys, or nil if there is no list.
func (d *Document) Texts(path ...string) []string {
	v := gjson.GetBytes(d.text, gjsonPath(path))
	if !v.IsArray() {
		return nil
	}
	list := []string{}
	for _, item := range v.Array() {
		list = append(list, item.String())
	}
	return list
}

// gjsonPath returns a path in the syntax of gjson.
func gjsonPath(path []string) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = gjson.Escape(p)
	}
	return strings.Join(parts, ".")
}

// sjsonPath returns a path in the syntax of sjson. A colon before a key makes sjson take digits for a key, not for a place in a
// list; sjson removes it, so a key that begins with a colon needs another one.
func sjsonPath(path []string) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = gjson.Escape(p)
		if strings.HasPrefix(p, ":") || strings.Trim(p, "-0123456789") == "" {
			parts[i] = ":" + parts[i]
		}
	}
	return strings.Join(parts, ".")
}
