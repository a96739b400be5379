package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

// fileName is the registry in the home.
const fileName = "registry.json"

// formVersion is written where a file has no version yet.
const formVersion = `"1.0.0"`

// file is registry.json with its entries as they stand in it: they are decoded when they are asked for, and what is not
// changed is written back byte for byte.
type file struct {
	source []byte
	nodes  map[string]entry
	// around holds the keys beside "nodes", such as version and upstream's __metadata__.
	around map[string]string
}

// entry is the JSON text of one entry.
type entry string

// readFile reads the registry. A missing file has no entries.
func readFile(h *home.Home) (*file, error) {
	source, err := h.Read(fileName)
	if err != nil {
		return nil, err
	}
	f := &file{source: source, nodes: map[string]entry{}, around: map[string]string{"version": formVersion}}
	if source == nil {
		return f, nil
	}
	top := gjson.ParseBytes(source)
	if !json.Valid(source) || !top.IsObject() {
		return nil, corrupt(source)
	}
	nodes := top.Get("nodes")
	wrapped := nodes.IsObject() && !nodes.Get("interface").Exists() // in the flat shape a type may be called nodes
	top.ForEach(func(key, value gjson.Result) bool {
		switch name := key.String(); {
		case wrapped && name == "nodes":
		case wrapped || len(name) > 1 && name[:2] == "__" || !value.IsObject():
			f.around[name] = value.Raw
		default:
			f.nodes[name] = entry(value.Raw)
		}
		return true
	})
	if wrapped {
		nodes.ForEach(func(key, value gjson.Result) bool {
			f.nodes[key.String()] = entry(value.Raw)
			return true
		})
	}
	return f, nil
}

// text is the file as it is written: sorted, two spaces deep.
func (f *file) text() []byte {
	var b bytes.Buffer
	b.WriteString("{\n  \"nodes\": {")
	separator := "\n"
	for _, name := range slices.Sorted(maps.Keys(f.nodes)) {
		fmt.Fprintf(&b, "%s    %s: %s", separator, gjson.AppendJSONString(nil, name), f.nodes[name])
		separator = ",\n"
	}
	if len(f.nodes) > 0 {
		b.WriteString("\n  ")
	}
	b.WriteString("}")
	for _, name := range slices.Sorted(maps.Keys(f.around)) {
		fmt.Fprintf(&b, ",\n  %s: %s", gjson.AppendJSONString(nil, name), f.around[name])
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}

// corrupt is the fault of a file that is no registry. The file is left as it is.
func corrupt(source []byte) *fault.Fault {
	var form map[string]json.RawMessage
	err := json.Unmarshal(source, &form)
	f := fault.New(fault.Validation, "%s in the home folder is corrupt: %v", fileName, err)
	f.File = fileName
	switch syntax, ok := errors.AsType[*json.SyntaxError](err); {
	case ok:
		f.Line = 1 + bytes.Count(source[:min(max(syntax.Offset-1, 0), int64(len(source)))], []byte("\n"))
	default:
		f.Message = fileName + " in the home folder is corrupt: it is not a JSON object"
	}
	return f.Suggest("Nothing was changed. Mend the file, or put %s.bak, the state before the last change, in its place", fileName).
		Suggest("Or move it away and run pflow-sync sync --all, which writes it anew")
}
