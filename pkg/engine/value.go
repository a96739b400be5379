package engine

import (
	"encoding/json"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/workflow/template"
)

// value is the outputs of a node for the templates that read them, as a value of the stream.
type value struct {
	// raw is what was written, or the whole value where secrets were taken out of that.
	raw json.RawMessage
	// missingSecrets reports that raw misses secrets, because it comes from a checkpoint.
	missingSecrets bool
	// failed reports that the node failed and that an edge handles the failure.
	failed bool
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
