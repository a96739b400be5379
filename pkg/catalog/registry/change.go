package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Change lists what a sync changed in the registry: the names of node types, each list sorted.
type Change struct {
	Added []string
	// Updated are the names whose definitions have changed. The tools of a server whose entries only gained keys, because an earlier
	// version of the suite did not write them, are written without being listed.
	Updated []string
	Removed []string
	// Overwritten are the names that belonged to another owner before.
	Overwritten []string
	// Foreign are the names of tools whose entries another program has written. They were left as they are.
	Foreign []string
	// Renamed are the tools whose names have changed, in the order of the names before.
	Renamed []Renaming
	// Corrupt is the name of the file to which a registry that could not be read was moved, or empty.
	Corrupt string
}

// Renaming is the change of the name of a tool's node type.
type Renaming struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
	From   string `json:"from"`
	To     string `json:"to"`
}

// foreign reports whether an entry has a key that no program of this suite writes.
func (e entry) foreign() (foreign bool) {
	gjson.Parse(string(e)).ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "class_name", "module", "file_path":
		case "interface":
			foreign = value.Get("inputs").Exists()
		default:
			foreign = true
		}
		return !foreign
	})
	return foreign
}

// replace makes entries the only ones of an owner, except that it leaves the entries named in keep as they are. It returns in
// kept which of these exist. All lists are sorted.
func (r *Registry) replace(ctx context.Context, entries map[string]entry, owned func(entry) bool, keep []string) (c Change, kept []string, err error) {
	c.Corrupt, err = r.change(ctx, func(f *file) {
		for name, e := range f.nodes {
			switch _, replaced := entries[name]; {
			case replaced || !owned(e):
			case slices.Contains(keep, name):
				kept = append(kept, name)
			default:
				c.Removed = append(c.Removed, name)
				delete(f.nodes, name)
			}
		}
		for name, e := range entries {
			switch old, ok := f.nodes[name]; {
			case !ok:
				c.Added = append(c.Added, name)
			case !owned(old) && old.foreign():
				c.Foreign = append(c.Foreign, name)
				continue
			case !owned(old):
				c.Overwritten = append(c.Overwritten, name)
			case old != e && !sameJSON(string(old), string(e)):
				c.Updated = append(c.Updated, name)
			default:
				continue
			}
			f.nodes[name] = e
		}
	})
	for _, names := range [][]string{c.Added, c.Updated, c.Removed, c.Overwritten, c.Foreign, kept} {
		slices.Sort(names)
	}
	return c, kept, err
}

// corruptName is the beginning of the names of files with the bytes of a registry that could not be read.
const corruptName = fileName + ".corrupt-"

// change reads the file under the lock, lets edit change its entries, and writes the file if they differ. A corrupt file is
// moved aside under the returned name, and edit begins with no entries; registry.json.bak keeps the last good state.
func (r *Registry) change(ctx context.Context, edit func(*file)) (corrupt string, err error) {
	err = r.home.Lock(ctx, "registry", func() error {
		source, err := r.home.Read(fileName)
		if err != nil {
			return err
		}
		f, err := parseFile(source)
		if err != nil {
			corrupt = corruptName + r.now().UTC().Format("20060102T150405.000000000Z")
			if err := r.home.Write(source, 0o600, corrupt); err != nil {
				return err
			}
			if f, err = parseFile(nil); err != nil {
				return err
			}
		}
		before := maps.Clone(f.nodes)
		edit(f)
		unchanged := source != nil && maps.Equal(before, f.nodes) || len(before) == 0 && len(f.nodes) == 0
		if unchanged && corrupt == "" {
			return nil
		}
		if source != nil && corrupt == "" {
			if err := r.home.Write(source, 0o600, backupName); err != nil {
				return err
			}
		}
		if err := r.home.Write(f.text(), 0o600, fileName); err != nil {
			return err
		}
		r.forget()
		return nil
	})
	return corrupt, err
}

// maxIndented is how deep an entry may be nested to be indented. The indentation of deeper ones grows with the square of their depth.
const maxIndented = 100

// text returns the entry of a type, indented for its place in the file.
func text(t nodetype.Type) (string, error) {
	b, err := t.MarshalJSON()
	if err != nil || rawjson.Depth(b) > maxIndented {
		return string(b), err
	}
	var out bytes.Buffer
	err = json.Indent(&out, b, "    ", "  ")
	return out.String(), err
}

// sameJSON reports whether two JSON texts are equal except for the space between their tokens.
func sameJSON(a, b string) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, []byte(a)) == nil && json.Compact(&y, []byte(b)) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// redefined reports whether the new value of an entry says something else than the old one. Keys that only the new one has say
// nothing, except in what the server itself says of a tool, such as a schema.
func redefined(old, changed gjson.Result, key string) (differ bool) {
	switch {
	case key == "original_schema" || key == "output_schema" || key == "annotations" || key == "more" || key == "default" || key == "enum":
		return !sameJSON(old.Raw, changed.Raw)
	case old.IsObject() && changed.IsObject():
		old.ForEach(func(key, value gjson.Result) bool {
			now := changed.Get(gjson.Escape(key.Str))
			differ = !now.Exists() || redefined(value, now, key.Str)
			return !differ
		})
		return differ
	case old.IsArray() && changed.IsArray():
		before, after := old.Array(), changed.Array()
		differ = len(before) != len(after)
		for i := 0; !differ && i < len(before); i++ {
			differ = redefined(before[i], after[i], "")
		}
		return differ
	}
	return old.Type != changed.Type || old.String() != changed.String()
}
