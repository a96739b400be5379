package engine

import (
	"encoding/json"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// value is what a node put out, as a value of the stream. When secrets were taken out of what is written, raw is the
// whole value in memory; when the value comes from a checkpoint it is what was written, and redacted says that it lacks
// something. failed says that the node failed and an edge took that.
type value struct {
	raw      json.RawMessage
	redacted bool
	failed   bool
}

// valueOf is what is kept of a node's outputs for the templates that read them: as they were written, long parts being
// fetched when they are read, or whole where that lacks a secret.
func valueOf(r *result) value {
	switch {
	case r.node.Outputs == nil:
		return value{raw: json.RawMessage("{}")}
	case r.redacted && !r.missingSecrets:
		return value{raw: r.node.Outputs}
	default:
		return value{raw: r.kept, redacted: r.missingSecrets}
	}
}

// keep gives a value of the stream as it may be written: without secrets, long parts as references. redacted says that
// a secret was in it.
func (e *execution) keep(raw json.RawMessage) (kept json.RawMessage, redacted bool, err error) {
	kept, redacted = e.Redactor.JSON(raw)
	kept, err = event.Spill(kept, e.Journal.PutBlob)
	return kept, redacted, err
}

// plain is the JSON that a value of the stream stands for.
func (e *execution) plain(raw json.RawMessage) (json.RawMessage, error) {
	return event.Plain(raw, e.Journal.Blob)
}

// outputs resolves what a frame gives back, as a value of the stream: its declared outputs, or what the nodes put out that
// nothing followed.
func (e *execution) outputs(l *frame) (json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	var faults []*fault.Fault
	for name, declared := range l.Workflow.Outputs {
		source := template.Source(declared.Source)
		if long, ok := l.long(source); ok {
			out[name] = long
			continue
		}
		v, missed := template.Resolve(rawjson.Quote(source), e.scope(l))
		for _, u := range missed {
			f := fault.New(fault.Template, "Output %q: template %s not resolved: %s", name, u.Expr, u.Reason)
			f.Path, f.Missing = rawjson.JoinPath("outputs", name), []string{u.Expr.Expression()}
			faults = append(faults, f.Suggest("Give the output a source that every way through the workflow fills, such as ${a.key ?? b.key}"))
		}
		out[name] = event.Escape(v)
	}
	if f := fault.Join(fault.Template, "The run's outputs", faults); f != nil {
		return nil, f
	}
	if len(l.Workflow.Outputs) == 0 {
		for _, id := range l.plan.Leaves() {
			if v, ok := l.values[id]; ok {
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

// long is what a template stands for that is a node's outputs or a member of them, where that is kept as a long value:
// it can be passed on without being fetched.
func (l *frame) long(source string) (json.RawMessage, bool) {
	parts := template.Parse(source)
	if len(parts) != 1 || parts[0].Expr == nil {
		return nil, false
	}
	ref, ok := parts[0].Expr.Ref()
	v, ran := l.values[ref.Root]
	if _, input := l.inputs[ref.Root]; !ok || !ran || input || v.failed {
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
	_, ok = event.ReferenceOf(raw)
	return raw, ok
}

// telling is what a failed node left behind, with why it failed as its output error.
func telling(outputs json.RawMessage, message string) json.RawMessage {
	if gjson.GetBytes(outputs, "error").Exists() || gjson.GetBytes(outputs, "$blob").Exists() {
		return outputs
	}
	return with(outputs, "error", rawjson.Quote(message))
}

func integer(n int) json.RawMessage { return strconv.AppendInt(nil, int64(n), 10) }

// opened is an object of the stream itself, where a reference stands for it.
func (e *execution) opened(raw json.RawMessage) (json.RawMessage, error) {
	if ref, ok := event.ReferenceOf(raw); ok {
		return e.Journal.Blob(ref.Blob)
	}
	return raw, nil
}

// with is an object with a key at its end, which it has once.
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
