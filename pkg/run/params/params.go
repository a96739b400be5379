// Package params tells the parameters that the nodes of a run were executed with, as far as its events contain them: the templates of the
// workflow are resolved against what they recorded.
package params

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

// Reader reads the parameters of the nodes of one run.
type Reader struct {
	run      *history.Run
	workflow *workflow.Workflow
	load     event.Load
	// inner has the workflows that nodes run, by the nodes' paths without items and iterations; nil for one that is unknown.
	inner map[string]*workflow.Workflow
}

// New returns a Reader for a run of a workflow, which is nil if it is unknown. load loads the run's blobs.
func New(run *history.Run, w *workflow.Workflow, load event.Load) *Reader {
	return &Reader{run: run, workflow: w, load: load, inner: map[string]*workflow.Workflow{}}
}

// Of returns the parameters of a node as one object: resolved where the values are known, and else as the workflow has them. It returns
// nil for a node whose definition is unknown, and for one that has not begun.
func (r *Reader) Of(n *history.Node) json.RawMessage {
	def := r.Definition(n)
	if def == nil || n.Began.IsZero() && n.State != history.Reused {
		return nil
	}
	scope, literal := r.Scope(n, def), workflow.Literal(def)
	params := []byte{'{'}
	gjson.ParseBytes(def.Params).ForEach(func(name, value gjson.Result) bool {
		shown := json.RawMessage(value.Raw)
		if resolved, ok := scope.Resolve(shown); ok && name.Str != literal { // a template in it belongs to another workflow
			shown = resolved
		}
		if len(params) > 1 {
			params = append(params, ',')
		}
		params = append(append(append(params, name.Raw...), ':'), shown...)
		return true
	})
	return append(params, '}')
}

// Items returns the list of items of a batch from its definition, if its templates can be resolved.
func (r *Reader) Items(n *history.Node, list json.RawMessage) (items json.RawMessage, ok bool) {
	return Scope{r.recordedIn(prefixOf(n.Path)), r.inputsAround(n)}.Resolve(list)
}

// Resolve resolves the templates of a parameter; ok is false if it has none, or if a value is unknown.
func (s Scope) Resolve(raw json.RawMessage) (resolved json.RawMessage, ok bool) {
	uses, bad := template.Uses(raw)
	if len(uses) == 0 || len(bad) > 0 {
		return nil, false
	}
	for _, u := range uses {
		if slices.Contains(s.unknown, u.Ref.Root) {
			return nil, false
		}
	}
	resolved, unresolved := template.Resolve(raw, s.values)
	return resolved, len(unresolved) == 0
}

// Scope holds what a node's templates can refer to, as far as the events contain it.
type Scope struct {
	values template.Scope
	// unknown are names whose values differ between items or iterations.
	unknown []string
}

// Scope returns what the templates of a node refer to.
func (r *Reader) Scope(n *history.Node, def *workflow.Node) Scope {
	locals, recorded := map[string]json.RawMessage{}, r.recordedIn(prefixOf(n.Path))
	if n.Answer != "" {
		locals[plan.AnswerName] = rawjson.Quote(n.Answer)
	}
	s := Scope{values: func(ref template.Ref) (json.RawMessage, template.Availability) {
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
		if resolved, ok := (Scope{recorded, s.unknown}).Resolve(value); ok {
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
func (r *Reader) inputsAround(n *history.Node) []string {
	outer := event.Enclosing(n.Path)
	if w := r.WorkflowOf(outer); outer != "" && w != nil {
		return slices.Collect(maps.Keys(w.Inputs))
	}
	return nil
}

// recordedIn returns a function that returns the values of the run's inputs and of nodes that have ended, for the templates of the
// workflow whose nodes have a prefix. An input takes precedence over a node of the same name.
func (r *Reader) recordedIn(prefix string) template.Scope {
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

func (r *Reader) plain(raw json.RawMessage, member string, available template.Availability) (json.RawMessage, template.Availability) {
	plain, err := event.Part(raw, member, r.load)
	if err != nil {
		return nil, template.Absent
	}
	return plain, available
}
