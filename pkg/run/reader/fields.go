package reader

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// Field is the value at a path.
type Field struct {
	Path  string
	Value json.RawMessage
}

// Fields are values by their paths. As JSON they are one object.
type Fields []Field

// MarshalJSON returns an object with the paths in the order that they were asked for.
func (f Fields) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, one := range f {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, rawjson.Quote(one.Path)...), ':'), one.Value...)
	}
	return append(out, '}'), nil
}

// Fields returns the values at paths, as templates of the run would have them: fetch.items[0].name or ${fetch.items[0].name} is a
// value of a node, who that of an input, and build/compile.stdout a value of a node inside another. A path that leads nowhere is
// a fault.
func (r *Run) Fields(paths []string) (Fields, error) {
	h, _, err := r.History()
	if err != nil {
		return nil, err
	}
	var inputs map[string]json.RawMessage
	if h.Started != nil && h.Started.Inputs != nil {
		plain, err := event.Plain(h.Started.Inputs, r.Blob)
		if err != nil {
			return nil, err
		}
		_ = json.Unmarshal(plain, &inputs) // what is no object has no inputs
	}
	fields := make(Fields, 0, len(paths))
	var faults []*fault.Fault
	for _, path := range paths {
		value, f := r.field(h, inputs, path)
		if f != nil {
			faults = append(faults, f)
			continue
		}
		if !slices.ContainsFunc(fields, func(f Field) bool { return f.Path == path }) {
			fields = append(fields, Field{path, value})
		}
	}
	if f := fault.Join(fault.NotFound, "The fields of run "+r.ID(), faults); f != nil {
		return nil, f
	}
	return fields, nil
}

// field returns the value at one path.
func (r *Run) field(h *history.Run, inputs map[string]json.RawMessage, path string) (json.RawMessage, *fault.Fault) {
	expr := path
	if inner, ok := strings.CutPrefix(path, "${"); ok && strings.HasSuffix(inner, "}") {
		expr = strings.TrimSuffix(inner, "}")
	}
	prefix := ""
	names, _, _ := strings.Cut(expr, `"`) // a key may have a slash
	if slash := strings.LastIndexByte(names, '/'); slash >= 0 {
		prefix, expr = expr[:slash+1], expr[slash+1:]
	}
	ref, ok := template.ParseExpression(expr)
	if !ok {
		return nil, fault.New(fault.Usage, "%q is not a template path", path).Suggest("Write node.key, node.list[0].key or build/compile.stdout")
	}
	var failed error
	value, reason := template.Lookup(ref, func(ref template.Ref) (json.RawMessage, template.Availability) {
		if v, ok := inputs[ref.Root]; ok && prefix == "" {
			return v, template.Present
		}
		n := h.Node(prefix + ref.Root)
		if n == nil || n.Outputs == nil {
			return nil, template.Absent
		}
		plain, err := event.Part(n.Outputs, ref.Member(), r.Blob)
		if err != nil {
			failed = err
			return nil, template.Absent
		}
		return plain, template.Present
	})
	switch {
	case failed != nil:
		return nil, fault.From(failed)
	case reason == "":
		return value, nil
	}
	node := prefix + ref.Root
	if h.Node(node) == nil {
		return nil, fault.From(r.known(h, node))
	}
	return nil, fault.New(fault.NotFound, "Run %s has no value at %s: %s", r.ID(), path, reason)
}
