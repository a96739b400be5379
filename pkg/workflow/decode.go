package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// decoder reads the parts of a file and collects everything that is wrong with its form.
type decoder struct {
	file   string
	places *places
	faults []*fault.Fault
}

func (d *decoder) fault() error {
	if f := fault.Join(fault.Validation, d.file, d.faults); f != nil {
		return f
	}
	return nil
}

// add notes a fault at a JSON path.
func (d *decoder) add(path, format string, args ...any) *fault.Fault {
	f := fault.New(fault.Validation, format, args...)
	f.Path, f.File = path, d.file
	f.Line, f.Column = d.places.of(path)
	d.faults = append(d.faults, f)
	return f
}

// syntax is the fault of bytes that are no JSON, with the line shown.
func (d *decoder) syntax(source []byte) error {
	var v any
	err := json.Unmarshal(source, &v)
	f := fault.New(fault.Validation, "Invalid JSON in %s: %v", d.file, err)
	f.File = d.file
	if len(bytes.TrimSpace(source)) == 0 {
		f.Message = fmt.Sprintf("Invalid JSON in %s: the file is empty", d.file)
		return f
	}
	if se, ok := errors.AsType[*json.SyntaxError](err); ok {
		f.Line, f.Column = lineColumn(source, int(se.Offset)-1)
		line := bytes.Split(source, []byte("\n"))[f.Line-1]
		f.Detail("text", strings.ToValidUTF8(string(line[:min(len(line), 200)]), "\uFFFD"))
	}
	if f.Line > 0 {
		line, _ := f.Details["text"].(string)
		if at := f.Column - 1; at < len(line) && strings.ContainsRune("/#", rune(line[at])) {
			f.Suggest("JSON has no comments: take it out, or put it into \"purpose\" or \"description\"")
		}
	}
	return f.Suggest("A workflow file is one JSON object with a list of nodes")
}

func (d *decoder) object(raw json.RawMessage, path string) (map[string]json.RawMessage, bool) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil || m == nil {
		d.add(path, "%s must be an object, not %s", called(path), rawjson.Kind(raw))
		return nil, false
	}
	return m, true
}

func (d *decoder) array(raw json.RawMessage, path string) []json.RawMessage {
	var a []json.RawMessage
	if err := json.Unmarshal(raw, &a); err != nil || a == nil {
		d.add(path, "%s must be a list, not %s", called(path), rawjson.Kind(raw))
	}
	return a
}

// known refuses keys that are not in the list, with the nearest that is.
func (d *decoder) known(m map[string]json.RawMessage, path string, keys []string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if slices.Contains(keys, k) || strings.HasPrefix(k, "_source") {
			continue
		}
		f := d.add(rawjson.JoinPath(path, k), "Unknown field %q in %s", k, called(path))
		if near, ok := fault.Nearest(k, keys); ok {
			f.Suggest("Did you mean %q?", near)
		}
		f.Available = keys
	}
}

// get decodes one field of an object where it is there and not null.
func get[T any](d *decoder, m map[string]json.RawMessage, path, key, want string, into *T) bool {
	raw, ok := m[key]
	if !ok || string(raw) == "null" {
		return false
	}
	if err := json.Unmarshal(raw, into); err != nil {
		d.add(rawjson.JoinPath(path, key), "%s must be %s, not %s", called(rawjson.JoinPath(path, key)), want, rawjson.Kind(raw))
		return false
	}
	return true
}

func (d *decoder) text(m map[string]json.RawMessage, path, key string, into *string) bool {
	return get(d, m, path, key, "a string", into)
}

// required decodes a text that must be there and not be empty.
func (d *decoder) required(m map[string]json.RawMessage, path, key string) (s string) {
	if d.text(m, path, key, &s); s == "" {
		if raw, ok := m[key]; !ok || rawjson.Kind(raw) == "text" || rawjson.Kind(raw) == "null" {
			d.add(path, "%s needs %q", called(path), key)
		}
	}
	return s
}

func (d *decoder) date(m map[string]json.RawMessage, key string) (t time.Time) {
	get(d, m, "", key, "a date and time (RFC 3339)", &t)
	return t
}

// workflow decodes the workflow's own object.
func (d *decoder) workflow(m map[string]json.RawMessage, path string, wrapped bool) *Workflow {
	keys := []string{"ir_version", "description", "inputs", "nodes", "edges", "start_node", "outputs", "template_resolution_mode"}
	if !wrapped {
		keys = append(keys, savedKeys...)
	}
	d.known(m, path, keys)
	w := &Workflow{}
	d.text(m, path, "ir_version", &w.IRVersion)
	d.text(m, path, "description", &w.Description)
	d.text(m, path, "start_node", &w.StartNode)
	d.text(m, path, "template_resolution_mode", &w.TemplateResolutionMode)
	if mode := w.TemplateResolutionMode; mode != "" && mode != "strict" && mode != "permissive" {
		d.add(rawjson.JoinPath(path, "template_resolution_mode"), "template_resolution_mode must be strict or permissive, not %q", mode)
	}
	if raw, ok := m["nodes"]; !ok {
		d.add(path, "The workflow has no nodes").Suggest(`Add "nodes": [{"id": "hello", "type": "echo"}]`)
	} else {
		for i, n := range d.array(raw, rawjson.JoinPath(path, "nodes")) {
			w.Nodes = append(w.Nodes, d.node(n, fmt.Sprintf("%s[%d]", rawjson.JoinPath(path, "nodes"), i)))
		}
	}
	if raw, ok := m["edges"]; ok {
		for i, e := range d.array(raw, rawjson.JoinPath(path, "edges")) {
			w.Edges = append(w.Edges, d.edge(e, fmt.Sprintf("%s[%d]", rawjson.JoinPath(path, "edges"), i)))
		}
	}
	w.index = make(map[string]int, len(w.Nodes))
	for i, n := range slices.Backward(w.Nodes) {
		w.index[n.ID] = i
	}
	w.Inputs = mapOf(d, m, path, "inputs", d.input)
	w.Outputs = mapOf(d, m, path, "outputs", d.output)
	return w
}

// mapOf decodes an object whose values are all of one kind.
func mapOf[T any](d *decoder, m map[string]json.RawMessage, path, key string, one func(json.RawMessage, string) T) map[string]T {
	raw, ok := m[key]
	if !ok {
		return nil
	}
	path = rawjson.JoinPath(path, key)
	entries, _ := d.object(raw, path)
	out := make(map[string]T, len(entries))
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		out[name] = one(entries[name], rawjson.JoinPath(path, name))
	}
	return out
}

func (d *decoder) node(raw json.RawMessage, path string) (n Node) {
	m, ok := d.object(raw, path)
	if !ok {
		return n
	}
	d.known(m, path, []string{"id", "type", "purpose", "params", "parameters"})
	n.ID, n.Type = d.required(m, path, "id"), d.required(m, path, "type")
	d.text(m, path, "purpose", &n.Purpose)
	n.Params = json.RawMessage("{}")
	for _, key := range []string{"params", "parameters"} { // upstream reads both words
		if p, ok := m[key]; ok {
			if _, ok := d.object(p, rawjson.JoinPath(path, key)); ok {
				n.Params = p
			}
		}
	}
	return n
}

func (d *decoder) edge(raw json.RawMessage, path string) (e Edge) {
	m, ok := d.object(raw, path)
	if !ok {
		return e
	}
	d.known(m, path, []string{"from", "to", "action"})
	e.From, e.To, e.Action = d.required(m, path, "from"), d.required(m, path, "to"), ActionDefault
	d.text(m, path, "action", &e.Action)
	return e
}

func (d *decoder) input(raw json.RawMessage, path string) (in Input) {
	m, ok := d.object(raw, path)
	if !ok {
		return in
	}
	d.known(m, path, []string{"description", "type", "required", "default", "stdin", "secret"})
	d.text(m, path, "description", &in.Description)
	get(d, m, path, "stdin", "true or false", &in.Stdin)
	get(d, m, path, "secret", "true or false", &in.Secret)
	if get(d, m, path, "required", "true or false", new(bool)) {
		in.Required = new(bool)
		get(d, m, path, "required", "true or false", in.Required)
	}
	d.text(m, path, "type", &in.Type)
	if t, ok := inputTypes[in.Type]; ok {
		in.Type = t
	} else {
		d.add(rawjson.JoinPath(path, "type"), "Unknown input type %q", in.Type).Available = InputTypes()
	}
	if def, ok := m["default"]; ok {
		in.Default = def
	}
	return in
}

func (d *decoder) output(raw json.RawMessage, path string) (out Output) {
	m, ok := d.object(raw, path)
	if !ok {
		return out
	}
	d.known(m, path, []string{"description", "type", "source"})
	d.text(m, path, "description", &out.Description)
	d.text(m, path, "type", &out.Type)
	out.Source = d.required(m, path, "source")
	return out
}
