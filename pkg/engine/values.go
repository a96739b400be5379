package engine

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/engine/flow"
	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/engine/resume"
	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow"
	"github.com/pflow-suite/pflow/pkg/workflow/plan"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// values resolves templates: those of nodes, of loops, and of a workflow's outputs. It computes the digests of what they resolve to, which
// decide about a resume: see digest.go.
type values struct {
	store *store
	// load loads a workflow that a node names by a template; it may be nil.
	load func(from *flow.Flow, ref string) (*flow.Flow, error)
	log  *slog.Logger
	// workflows has the digests that workflow has computed. oldKeys reports whether the chain of runs began with keys of the old digests.
	workflows map[*flow.Flow]string
	oldKeys   bool
}

// scope returns the values of a frame's inputs and nodes, by their names. Inputs win over nodes of the same name.
func (b *values) scope(fr *frame) template.Scope {
	return func(ref template.Ref) (json.RawMessage, template.Availability) {
		if v, ok := fr.inputs[ref.Root]; ok {
			return v, template.Present
		}
		v, ok := fr.values[ref.Root]
		if !ok {
			return nil, template.Absent
		}
		plain, err := event.Part(v.raw, ref.Member(), b.store.blob)
		if err != nil {
			b.log.Error("a long value cannot be read", "node", fr.path(ref.Root), "error", err)
			return nil, template.Absent
		}
		if v.failed {
			return plain, template.Failed
		}
		return plain, template.Present
	}
}

// stream is like scope, but returns the outputs of nodes as values of the stream, in which bytes keep their content type.
func (b *values) stream(fr *frame) template.Scope {
	plain := b.scope(fr)
	return func(ref template.Ref) (json.RawMessage, template.Availability) {
		v, ran := fr.values[ref.Root]
		if _, input := fr.inputs[ref.Root]; input || !ran {
			return plain(ref)
		}
		raw, err := event.Unfold(v.raw, b.store.blob)
		if err != nil {
			return plain(ref)
		}
		if v.failed {
			return raw, template.Failed
		}
		return raw, template.Present
	}
}

// binding returns what the templates of a node may refer to.
func (b *values) binding(nr *nodeRun) *node.Binding {
	fr := nr.frame
	binding := &node.Binding{Scope: b.scope(fr), Stream: b.stream(fr), Long: b.long(nr), Known: fr.known, Carry: nr.carry, Permissive: fr.Workflow.Permissive(), AsksStatus: fr.plan.AsksStatus(nr.id()), Locals: map[string]json.RawMessage{}}
	if nr.node.Loop != nil {
		binding.Locals[plan.IterationName] = integer(nr.iteration)
	}
	if nr.answer != nil {
		binding.Locals[plan.AnswerName] = nr.answer
	}
	return binding
}

// bind resolves the templates of a node.
func (b *values) bind(nr *nodeRun, binding *node.Binding) (*boundNode, error) {
	if nr.node.Loop != nil && nr.iteration == 1 {
		binding.Scope, binding.Stream = without(nr, binding.Scope), without(nr, binding.Stream)
	}
	call, err := node.Prepare(nr.node, nr.kind, binding)
	if err != nil {
		return nil, err
	}
	if nr.node.Loop != nil && nr.most == 0 {
		own := *binding
		own.Locals = call.Locals()
		if nr.most, err = b.maxIterations(nr, &own); err != nil {
			return nil, err
		}
	}
	bound := &boundNode{Call: call}
	if nr.isSub() {
		if bound.sub, err = b.sub(nr, call.Params); err != nil {
			return nil, err
		}
	}
	if bound.digest, err = b.digest(nr, bound); err != nil {
		return nil, err
	}
	if bound.key = resume.Params(bound.digest); b.oldKeys {
		bound.key = b.oldNode(nr, bound)
	}
	return bound, nil
}

// wholeDigest returns the digest of a node whose first iteration, or whose only one, is bound.
func (b *values) wholeDigest(nr *nodeRun) string {
	if nr.node.Loop == nil {
		return nr.bound.digest
	}
	return b.loop(nr, nr.bound.digest)
}

// without returns a scope in which a node has no outputs yet. The first iteration of a loop must not see the outputs of an
// earlier execution of the node.
func without(nr *nodeRun, scope template.Scope) template.Scope {
	id := nr.id()
	if _, ok := nr.frame.inputs[id]; ok { // templates mean the input by that name
		return scope
	}
	return func(ref template.Ref) (json.RawMessage, template.Availability) {
		if ref.Root == id {
			return nil, template.Absent
		}
		return scope(ref)
	}
}

// sub returns the workflow that a node runs.
func (b *values) sub(nr *nodeRun, params json.RawMessage) (*flow.Flow, error) {
	if sub, ok := nr.frame.Subs[nr.id()]; ok {
		return sub, nil
	}
	named, ok := workflow.SubOf(params)
	if !ok || named.Ref == "" || b.load == nil {
		return nil, fault.New(fault.Validation, "Node %q names no workflow to run", nr.id()).
			Suggest(`Set "workflow" to the name of a saved workflow or a draft, or to a path`)
	}
	return b.load(nr.frame.Flow, named.Ref)
}

// passes reports whether a long value can be passed on for an output of the given type without being read: any value can if no
// type is declared, text and bytes as text, and a list or an object that begins like one.
func passes(typ string, long json.RawMessage) bool {
	ref, _ := event.ReferenceOf(long)
	switch typ {
	case "":
		return true
	case "string":
		return !ref.JSON()
	case "object":
		return ref.JSON() && strings.HasPrefix(ref.Head, "{")
	case "array":
		return ref.JSON() && strings.HasPrefix(ref.Head, "[")
	}
	return false
}

// outputs resolves the outputs of a frame, as a value of the stream: those that the workflow declares, else those of the
// nodes that no other followed.
func (b *values) outputs(fr *frame) (json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	var faults []*fault.Fault
	for _, name := range slices.Sorted(maps.Keys(fr.Workflow.Outputs)) {
		declared := fr.Workflow.Outputs[name]
		source := template.Source(declared.Source)
		if long, ok := fr.longValue(source); ok && passes(declared.ValueType(), long) {
			out[name] = long
			continue
		}
		v, missed := template.Resolve(rawjson.Quote(source), b.scope(fr))
		for _, u := range missed {
			f := fault.New(fault.Template, "Output %q: template %s not resolved: %s", name, u.Expr, u.Reason)
			f.Path, f.Missing = rawjson.JoinPath("outputs", name), []string{u.Expr.Expression()}
			fr.explain(f)
			faults = append(faults, f.Suggest("Give the output a source that has a value on every way through the workflow, such as ${a.key ?? b.key}"))
		}
		if len(missed) > 0 {
			continue
		}
		fitted, f := declared.Convert(name, v)
		if f != nil {
			faults = append(faults, f)
		}
		out[name] = event.Escape(fitted)
	}
	if f := fault.Join(fault.Template, "The run's outputs", faults); f != nil {
		return nil, f
	}
	if len(fr.Workflow.Outputs) == 0 {
		for _, id := range fr.plan.Leaves() {
			if v, ok := fr.values[id]; ok {
				out[id] = v.raw
			}
		}
	}
	raw, err := rawjson.Marshal(out)
	if err != nil {
		return nil, fault.From(err)
	}
	return raw, nil
}

// value returns the outputs of a task for templates: as they were written, so that long parts are fetched when they are
// read, or whole if what was written misses a secret.
func (r *result) value() value {
	switch {
	case r.node.Outputs == nil:
		return value{raw: json.RawMessage("{}")}
	case r.redacted && !r.missingSecrets:
		return value{raw: r.node.Outputs}
	default:
		return value{raw: r.kept, missingSecrets: r.missingSecrets}
	}
}

// longValue returns the reference that a template stands for, if the template is a node's outputs or a member of them and
// that is a long value. Such a value is passed on without being fetched.
func (fr *frame) longValue(source string) (json.RawMessage, bool) {
	parts := template.Parse(source)
	if len(parts) != 1 || parts[0].Expr == nil {
		return nil, false
	}
	ref, ok := parts[0].Expr.Ref()
	if !ok {
		return nil, false
	}
	return fr.longAt(ref)
}

// longAt is longValue for a reference.
func (fr *frame) longAt(ref template.Ref) (json.RawMessage, bool) {
	v, ran := fr.values[ref.Root]
	if _, input := fr.inputs[ref.Root]; !ran || input || v.failed {
		return nil, false
	}
	raw := v.raw
	switch {
	case len(ref.Path) > 1:
		return nil, false
	case len(ref.Path) == 1:
		member := ref.Member()
		if member == "" || !template.IsName(member) {
			return nil, false
		}
		raw = json.RawMessage(gjson.GetBytes(raw, member).Raw)
	}
	_, ok := event.ReferenceOf(raw)
	return raw, ok
}

// withError returns the outputs of a failed node with its message as the output error, unless they have an error.
func withError(outputs json.RawMessage, message string) json.RawMessage {
	if gjson.GetBytes(outputs, "error").Exists() || gjson.GetBytes(outputs, "$blob").Exists() {
		return outputs
	}
	return with(outputs, "error", rawjson.Quote(message))
}

func integer(n int) json.RawMessage { return strconv.AppendInt(nil, int64(n), 10) }

// orEmpty returns outputs, or an empty object if outputs is nil.
func orEmpty(outputs json.RawMessage) json.RawMessage {
	if outputs == nil {
		return json.RawMessage("{}")
	}
	return outputs
}

// with returns an object with a key set to a value, as its last key.
func with(object json.RawMessage, key string, value json.RawMessage) json.RawMessage {
	out := []byte{'{'}
	add := func(quoted string, value []byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, quoted...), ':'), value...)
	}
	gjson.ParseBytes(object).ForEach(func(k, v gjson.Result) bool {
		if k.Str != key {
			add(k.Raw, []byte(v.Raw))
		}
		return true
	})
	add(string(rawjson.Quote(key)), value)
	return append(out, '}')
}

// explain adds to the fault of templates without a value what to read instead of the result of a jq node whose filter had several.
func (fr *frame) explain(f *fault.Fault) {
	for _, missing := range f.Missing {
		ref, ok := template.ParseExpression(missing)
		if !ok || len(ref.Path) == 0 || ref.Path[0].Key != "result" {
			continue
		}
		n, ok := fr.Workflow.Node(ref.Root)
		if !ok || fr.Kinds[n.Type].Name != "jq" || n.Batch != nil {
			continue
		}
		if v, ended := fr.values[n.ID]; ended && !v.failed {
			f.SuggestAs(f) // the lists may be those of another fault
			f.Suggest("The filter of node %s has several results: read ${%s.results}, or write the filter as [FILTER] to get one list", n.ID, n.ID)
		}
	}
}

// maxIterations returns the most iterations of a node's loop. It is known before the first one.
func (b *values) maxIterations(nr *nodeRun, binding *node.Binding) (int, error) {
	raw, err := binding.Value(nr.node, "loop.max_iterations", nr.node.Loop.MaxIterations)
	if err != nil {
		return 0, err
	}
	if fitted, ok := nodetype.Fit("int", raw); ok {
		if n, err := strconv.Atoi(string(fitted)); err == nil && n >= 1 && n <= workflow.MaxIterations {
			return n, nil
		}
	}
	return 0, loopFault("max_iterations", raw, fmt.Sprintf("a whole number from 1 to %d", workflow.MaxIterations))
}

// loopFault is the fault of a field of a loop whose template has a value that the field cannot have.
func loopFault(field string, value json.RawMessage, want string) *fault.Fault {
	f := fault.New(fault.Execution, "loop.%s must be %s, got %s: %s", field, want, rawjson.Kind(value), fault.Truncate(string(rawjson.Compact(value)), 100))
	f.Path = "loop." + field
	return f.Suggest("Correct the input or the node that the value comes from")
}
