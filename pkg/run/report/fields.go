package report

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/event"
)

// field is a named value.
type field struct {
	Name string
	value
}

// maxFields is the most members of an object that have a line of their own.
const maxFields = 200

// fields returns the members of an object.
func (r *writer) fields(raw json.RawMessage, space *budget) (fields []field) {
	if ref, ok := event.ReferenceOf(raw); ok && ref.JSON() {
		content, err := r.long(ref)
		if err != nil {
			return []field{{Name: "all", value: r.value(raw, space)}}
		}
		raw = content
	}
	gjson.ParseBytes(raw).ForEach(func(k, v gjson.Result) bool {
		name := k.Str
		if strings.HasPrefix(name, "$$") {
			name = name[1:]
		}
		fields = append(fields, field{Name: oneLine(name), value: r.value(json.RawMessage(v.Raw), space)})
		if len(fields) == maxFields {
			fields = append(fields, field{Name: "…", value: value{Kind: "none", Text: "the rest is not shown"}})
		}
		return len(fields) < maxFields
	})
	return fields
}
