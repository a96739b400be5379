package report

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// param is a parameter as the workflow has it, and with its templates resolved if their values are known.
type param struct {
	field
	Resolved *value
}

// params returns the parameters of a node.
func (r *writer) params(n *history.Node, def *workflow.Node, space *budget) (params []param) {
	scope, literal := r.scope(n, def), workflow.Literal(def)
	gjson.ParseBytes(def.Params).ForEach(func(k, v gjson.Result) bool {
		raw := json.RawMessage(v.Raw)
		p := param{field: field{Name: oneLine(k.Str), value: r.value(event.Escape(raw), space)}}
		if k.Str == literal {
			params = append(params, p) // a template in it belongs to another workflow
			return true
		}
		if !n.Began.IsZero() || n.State == history.Reused {
			if resolved, ok := resolve(raw, scope); ok {
				v := r.value(event.Escape(resolved), space)
				p.Resolved = &v
			}
		}
		params = append(params, p)
		return len(params) < maxFields
	})
	return params
}

// resolve resolves the templates of a parameter; ok is false if it has none, or if a value is unknown.
func resolve(raw json.RawMessage, scope scope) (json.RawMessage, bool) {
	uses, bad := template.Uses(raw)
	if len(uses) == 0 || len(bad) > 0 {
		return nil, false
	}
	for _, u := range uses {
		if slices.Contains(scope.unknown, u.Ref.Root) {
			return nil, false
		}
	}
	resolved, unresolved := template.Resolve(raw, scope.values)
	return resolved, len(unresolved) == 0
}

// scope holds what a node's templates can refer to, as far as the events contain it.
type scope struct {
	values template.Scope
	// unknown are names whose values differ between items or iterations.
	unknown []string
}

func (r *writer) scope(n *history.Node, def *workflow.Node) scope {
	locals, recorded := map[string]json.RawMessage{}, r.recordedIn(prefixOf(n.Path))
	if n.Answer != "" {
		locals[plan.AnswerName] = rawjson.Quote(n.Answer)
	}
	s := scope{values: func(ref template.Ref) (json.RawMessage, template.Availability) {
		if v, ok := locals[ref.Root]; ok {
			return v, template.Present
		}
		return recorded(ref)
	}}
	for _, name := range plan.Locals(def) {
		if _, ok := locals[name]; !ok {
			s.unknown = append(s.unknown, name)
		}
	}
	s.unknown = append(s.unknown, r.inputsAround(n)...)
	if def.Loop != nil {
		s.unknown = append(s.unknown, def.ID)
	}
	if def.Batch != nil || def.Loop != nil {
		return s
	}
	gjson.GetBytes(def.Params, "inputs").ForEach(func(k, v gjson.Result) bool {
		value := json.RawMessage(v.Raw)
		if resolved, ok := resolve(value, scope{recorded, s.unknown}); ok {
			value = resolved
		} else if template.MayHoldTemplate(value) {
			return true
		}
		locals[k.Str] = value
		s.unknown = slices.DeleteFunc(s.unknown, func(name string) bool { return name == k.Str })
		return true
	})
	return s
}

// inputsAround returns the names of the inputs of the sub-workflow that a node is in. Their values are not in the events.
func (r *writer) inputsAround(n *history.Node) []string {
	outer := event.Enclosing(n.Path)
	if w := r.workflowOf(outer); outer != "" && w != nil {
		return slices.Collect(maps.Keys(w.Inputs))
	}
	return nil
}

// recordedIn returns a function that returns the values of the run's inputs and of nodes that have ended, for the templates of the
// workflow whose nodes have a prefix. An input takes precedence over a node of the same name.
func (r *writer) recordedIn(prefix string) template.Scope {
	return func(ref template.Ref) (json.RawMessage, template.Availability) {
		if first := r.run.Started; first != nil && prefix == "" {
			if v := gjson.GetBytes(first.Inputs, gjson.Escape(ref.Root)); v.Exists() {
				return r.plain(json.RawMessage(v.Raw), "", template.Present)
			}
		}
		n := r.run.Node(prefix + ref.Root)
		switch {
		case n == nil || len(n.Outputs) == 0:
		case n.State == history.Completed, n.State == history.Reused:
			return r.plain(n.Outputs, ref.Member(), template.Present)
		case n.State == history.Failed:
			return r.plain(n.Outputs, ref.Member(), template.Failed)
		}
		return nil, template.Absent
	}
}

func (r *writer) plain(raw json.RawMessage, member string, available template.Availability) (json.RawMessage, template.Availability) {
	plain, err := event.Part(raw, member, r.fetch)
	if err != nil {
		return nil, template.Absent
	}
	return plain, available
}
