package completion

import (
	"cmp"
	"encoding/json"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Assignment returns the candidate NAME= of a value of the given type, a JSON Schema's. enum is a JSON array of what the value may be,
// or nil.
func Assignment(name, typ, description string, enum json.RawMessage) Candidate {
	c := Candidate{Value: name + "=", Description: cmp.Or(description, typ), Open: true}
	var values []any
	if typ == "boolean" {
		c.Next = []string{"true", "false"}
	} else if json.Unmarshal(enum, &values) == nil {
		for _, v := range values {
			if text, ok := v.(string); ok {
				c.Next = append(c.Next, text)
			} else if raw, err := rawjson.Marshal(v); err == nil {
				c.Next = append(c.Next, string(raw))
			}
		}
	}
	return c
}
