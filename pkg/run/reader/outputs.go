package reader

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// OutputsOf returns the outputs of a run by their names, as values of the stream. Of a run that did not succeed, these are the declared outputs
// for which its nodes have values. Bytes that a node has put out with a content type keep it, wherever in its outputs they are.
func OutputsOf(r *Run, h *history.Run) (map[string]json.RawMessage, error) {
	outputs := map[string]json.RawMessage{}
	done := h.Finished != nil && h.Finished.Status.Succeeded()
	if done {
		stored, err := r.storedOutputs(h.Finished)
		if err != nil {
			return nil, err
		}
		gjson.ParseBytes(stored).ForEach(func(key, value gjson.Result) bool {
			outputs[key.String()] = json.RawMessage(value.Raw)
			return true
		})
	}
	declared, inputs, err := declaredOutputs(r, h)
	if err != nil {
		return nil, err
	}
	nodes := outputScope{r, h, inputs}
	for name, output := range declared {
		if typed, ok := nodes.bytes(output); ok {
			outputs[name] = typed
		} else if value, ok := nodes.value(name, output); ok && !done {
			outputs[name] = value
		}
	}
	return outputs, nil
}

// declaredOutputs returns the outputs that the workflow of a run declares, and the values of its inputs.
func declaredOutputs(r *Run, h *history.Run) (outputs map[string]workflow.Output, inputs map[string]json.RawMessage, err error) {
	if h.Started == nil || h.Started.Workflow == nil {
		return nil, nil, nil
	}
	definition, err := event.Plain(h.Started.Workflow.Definition, r.Blob)
	if err != nil {
		return nil, nil, err
	}
	var w struct {
		Outputs map[string]workflow.Output `json:"outputs"`
	}
	_ = json.Unmarshal(definition, &w) // a workflow without outputs declares none
	plain, err := event.Plain(h.Started.Inputs, r.Blob)
	if err != nil {
		return nil, nil, err
	}
	_ = json.Unmarshal(plain, &inputs)
	return w.Outputs, inputs, nil
}

// DeclaresOutputs reports whether the workflow of a run declares outputs. Without, its outputs are those of its last nodes.
func DeclaresOutputs(r *Run) (bool, error) {
	first, _, err := r.rec.FirstAndLast()
	if err != nil {
		return false, err
	}
	declared, _, err := declaredOutputs(r, &history.Run{Started: first})
	return len(declared) > 0, err
}

// outputScope resolves the outputs of a workflow against what is known about a run of it.
type outputScope struct {
	run    *Run
	h      *history.Run
	inputs map[string]json.RawMessage
}

// node returns the outputs of a node, as a value of the stream.
func (s outputScope) node(id string) (json.RawMessage, template.Availability) {
	n := s.h.Node(id)
	switch {
	case n == nil || n.Outputs == nil:
		return nil, template.Absent
	case n.State == history.Completed || n.State == history.Reused:
		return n.Outputs, template.Present
	case n.State == history.Failed && n.Handled:
		return n.Outputs, template.Failed
	}
	return nil, template.Absent
}

// bytes returns the value of an output that is only a reference to bytes with a content type.
func (s outputScope) bytes(output workflow.Output) (json.RawMessage, bool) {
	whole, ok := template.Whole(template.Source(output.Source))
	if !ok {
		return nil, false
	}
	ref, ok := whole.Ref()
	if _, input := s.inputs[ref.Root]; !ok || input {
		return nil, false
	}
	value, reason := template.Lookup(ref, func(ref template.Ref) (json.RawMessage, template.Availability) {
		raw, availability := s.node(ref.Root)
		raw, err := event.Unfold(raw, s.run.Blob)
		if err != nil {
			return nil, template.Absent
		}
		return raw, availability
	})
	return value, reason == "" && event.IsBytes(value)
}

// value returns the value of an output, if all that it refers to has one.
func (s outputScope) value(name string, output workflow.Output) (json.RawMessage, bool) {
	value, missed := template.Resolve(rawjson.Quote(template.Source(output.Source)), func(ref template.Ref) (json.RawMessage, template.Availability) {
		if v, ok := s.inputs[ref.Root]; ok {
			return v, template.Present
		}
		raw, availability := s.node(ref.Root)
		if availability == template.Absent {
			return nil, availability
		}
		plain, err := event.Part(raw, ref.Member(), s.run.Blob)
		if err != nil {
			return nil, template.Absent
		}
		return plain, availability
	})
	if len(missed) > 0 {
		return nil, false
	}
	fitted, f := output.Convert(name, value)
	if f != nil {
		return nil, false
	}
	return event.Escape(fitted), true
}
