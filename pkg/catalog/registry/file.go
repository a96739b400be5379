package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// fileName is the name of the registry in the home.
const fileName = "registry.json"

// backupName is the name of the registry's state before its last change.
const backupName = fileName + ".bak"

// formVersion is the version that a file gets if it has none.
const formVersion = `"1.0.0"`

// file is registry.json. Its entries stay JSON text, so that unchanged ones are written back byte for byte.
type file struct {
	source []byte
	nodes  map[string]entry
	// offsets has the place of each entry in source.
	offsets map[string]int
	// around has the other keys of the file and their JSON, such as version and upstream's __metadata__.
	around map[string]string
}

// entry is the JSON text of one entry.
type entry string

// parseFile parses the text of registry.json, which is nil if there is no file.
func parseFile(source []byte) (*file, error) {
	f := &file{source: source, nodes: map[string]entry{}, offsets: map[string]int{}, around: map[string]string{"version": formVersion}}
	if source == nil {
		return f, nil
	}
	if !json.Valid(source) {
		return nil, corrupt(source)
	}
	return f, f.parse()
}

// parse finds the entries of a source that is valid JSON.
func (f *file) parse() error {
	top := gjson.ParseBytes(f.source)
	if !top.IsObject() {
		return mistyped("", top)
	}
	var nodes gjson.Result
	var keys, values []gjson.Result
	top.ForEach(func(key, value gjson.Result) bool {
		if key.Str == "nodes" && !nodes.Exists() {
			nodes = value
		}
		keys, values = append(keys, key), append(values, value)
		return true
	})
	if nodes.Exists() && !nodes.IsObject() {
		return mistyped("nodes", nodes)
	}
	wrapped := f.wrapped(nodes)
	for i, value := range values {
		switch name := keys[i].String(); {
		case wrapped && name == "nodes":
		case wrapped || len(name) > 1 && name[:2] == "__" || !value.IsObject():
			f.around[name] = value.Raw
		default:
			f.add(name, value)
		}
	}
	return nil
}

// wrapped adds the entries under "nodes" and reports whether the file has the wrapped shape, {"nodes":{NAME:ENTRY}}. In
// upstream's flat shape, {NAME:ENTRY}, "nodes" may be the name of a type.
func (f *file) wrapped(nodes gjson.Result) bool {
	if !nodes.IsObject() {
		return false
	}
	wrapped := true
	nodes.ForEach(func(key, value gjson.Result) bool {
		wrapped = key.Str != "interface"
		f.add(key.String(), value)
		return wrapped
	})
	if !wrapped {
		clear(f.nodes)
		clear(f.offsets)
	}
	return wrapped
}

func (f *file) add(name string, value gjson.Result) {
	f.nodes[name], f.offsets[name] = entry(value.Raw), value.Index
}

// text returns the file as it is written: the entries sorted by name, two spaces deep.
func (f *file) text() []byte {
	size := 64
	for name, e := range f.nodes {
		size += len(name) + len(e) + 16
	}
	b := append(make([]byte, 0, size), "{\n  \"nodes\": {"...)
	separator := "\n"
	for _, name := range slices.Sorted(maps.Keys(f.nodes)) {
		b = append(append(b, separator...), "    "...)
		b = append(gjson.AppendJSONString(b, name), ": "...)
		b = append(b, f.nodes[name]...)
		separator = ",\n"
	}
	if len(f.nodes) > 0 {
		b = append(b, "\n  "...)
	}
	b = append(b, '}')
	for _, name := range slices.Sorted(maps.Keys(f.around)) {
		b = append(gjson.AppendJSONString(append(b, ",\n  "...), name), ": "...)
		b = append(b, f.around[name]...)
	}
	return append(b, "\n}\n"...)
}

// parse parses the text of registry.json. The fault of a corrupt one says how to repair it.
func (r *Registry) parse(source []byte) (*file, error) {
	f, err := parseFile(source)
	if broken, ok := errors.AsType[*fault.Fault](err); ok {
		repair := "Nothing was changed. Repair the file"
		if backup := r.Backup(); backup != "" {
			repair += ", or replace it with " + backup + ", its state before the last change"
		}
		broken.Suggest("%s", repair).
			Suggest("Or move it aside and begin a new one").Then(fault.Step{Do: fault.DoSyncAll})
	}
	return f, err
}

// Backup returns the name of the file in the home with the state of the registry before its last change, or "" if no such file exists.
func (r *Registry) Backup() string {
	if _, err := os.Stat(r.home.Path(backupName)); err != nil {
		return ""
	}
	return backupName
}

// corrupt returns the fault of a file that is not JSON. The file is left as it is.
func corrupt(source []byte) *fault.Fault {
	var form map[string]json.RawMessage
	err := json.Unmarshal(source, &form)
	f := fault.New(fault.Validation, "%s in the home folder is corrupt: %v", fileName, err)
	f.File = fileName
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		f.Line = 1 + bytes.Count(source[:min(max(syntax.Offset-1, 0), int64(len(source)))], []byte("\n"))
	}
	return f
}

// mistyped returns the fault of a file in which the value at a path, empty for all of it, is not an object.
func mistyped(path string, value gjson.Result) *fault.Fault {
	what := path
	if path == "" {
		what = "it"
	}
	f := fault.New(fault.Validation, "%s in the home folder is corrupt: %s must be an object of entries by name, not %s", fileName, what, rawjson.Kind(json.RawMessage(value.Raw)))
	f.File, f.Path = fileName, path
	return f
}

// brokenEntry returns the fault of an entry, with the given text, that does not describe a node type.
func brokenEntry(name string, text []byte, err error) *fault.Fault {
	f := fault.New(fault.Validation, "The entry of node type %q in %s is broken: %v", name, fileName, err)
	f.File, f.Path = fileName, rawjson.JoinPath("", name)
	if path, must, ok := rawjson.Mistyped(text, err); ok {
		what := path
		if path == "" {
			what = "it"
		}
		f.Message = fmt.Sprintf("The entry of node type %q in %s is broken: %s must be %s", name, fileName, what, must)
		f.Path = rawjson.AppendPath(f.Path, path)
	}
	return f.Suggest("Sync its server again, or delete the entry from %s", fileName).Then(fault.Step{Do: fault.DoSyncAll})
}
