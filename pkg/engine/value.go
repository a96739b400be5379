package engine

import (
	"encoding/json"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/template"
)

// value is what a node put out, as a value of the stream. When secrets were taken out of what is written, raw is the
// whole value in memory; when the value comes from a checkpoint it is what was written, and redacted says that it lacks
// something.
type value struct {
	raw      json.RawMessage
	redacted bool
}

// remember keeps a node's outputs for the templates that read them: as they were written, long parts being fetched when
// they are read, or whole where that lacks a secret.
func (e *execution) remember(r *result) {
	switch {
	case r.node.Outputs == nil:
		e.values[r.id] = value{raw: json.RawMessage("{}")}
	case r.redacted:
		e.values[r.id] = value{raw: r.node.Outputs}
	default:
		e.values[r.id] = value{raw: r.kept}
	}
}

// lookup is the scope of all templates: inputs win over nodes of the same name.
func (e *execution) lookup(root string) (json.RawMessage, bool) {
	if v, ok := e.Inputs[root]; ok {
		return v, true
	}
	v, ok := e.values[root]
	if !ok {
		return nil, false
	}
	plain, err := event.Plain(v.raw, e.Record.Blob)
	if err != nil {
		e.Log.Error("a long value cannot be read", "node", root, "error", err)
		return nil, false
	}
	return plain, true
}

// outputs resolves what the run gives back: its declared outputs, or what the nodes put out that nothing followed.
func (e *execution) outputs() (json.RawMessage, bool, error) {
	out := map[string]json.RawMessage{}
	var faults []*fault.Fault
	for name, declared := range e.Workflow.Outputs {
		v, missed := template.Resolve(rawjson.Quote(template.Source(declared.Source)), e.lookup)
		for _, u := range missed {
			f := fault.New(fault.Template, "Output %q: template %s not resolved: %s", name, u.Ref, u.Reason)
			f.Path, f.Missing = "outputs."+name, []string{u.Ref.Expression()}
			faults = append(faults, f.Suggest("Give the output a source that every way through the workflow fills"))
		}
		out[name] = v
	}
	if f := fault.Join(fault.Template, "The run's outputs", faults); f != nil {
		return nil, false, f
	}
	if len(e.Workflow.Outputs) == 0 {
		for _, id := range e.plan.Ends() {
			if v, ok := e.lookup(id); ok {
				out[id] = v
			}
		}
	}
	raw, err := rawjson.Marshal(out)
	if err != nil {
		return nil, false, fault.From(err)
	}
	return e.keep(event.Escape(raw))
}
