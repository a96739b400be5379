package template

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// Truth reports whether a value counts as true. False are false, null, 0, an empty text, list or object, and the texts
// false, no, null and 0 in any case.
func Truth(raw json.RawMessage) bool {
	v := gjson.ParseBytes(raw)
	switch v.Type {
	case gjson.String:
		switch strings.ToLower(strings.TrimSpace(v.Str)) {
		case "", "false", "no", "0", "null":
			return false
		}
		return true
	case gjson.Number:
		return v.Num != 0
	case gjson.JSON:
		some := false
		v.ForEach(func(_, _ gjson.Result) bool { some = true; return false })
		return some
	}
	return v.Type == gjson.True
}
