package nodetype

import (
	"encoding/json"
	"slices"
)

// Redactor removes secrets. JSON also reports whether there was one.
type Redactor interface {
	Text(text string) string
	JSON(raw json.RawMessage) (json.RawMessage, bool)
}

// Redacted returns parameters without the secrets in their descriptions, defaults and permitted values.
func Redacted(params []Param, secrets Redactor) []Param {
	params = slices.Clone(params)
	for i := range params {
		p := &params[i]
		p.Description = secrets.Text(p.Description)
		p.Default, _ = secrets.JSON(p.Default)
		p.Enum, _ = secrets.JSON(p.Enum)
	}
	return params
}
