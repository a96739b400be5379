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

// maxFields is how many members of an object have lines of their own.
const maxFields = 200

// fields are the members of an object, each with its value.
func (r *writer) fields(raw json.RawMessage, space *allowance) (fields []field) {
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
			fields = append(fields, field{Name: "…", value: value{Kind: "none", Text: "the rest is left out"}})
		}
		return len(fields) < maxFields
	})
	return fields
}
