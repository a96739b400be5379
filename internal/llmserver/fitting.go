package llmserver

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// maxDeep is how deep a schema is followed: it may refer to itself.
const maxDeep = 20

// Fitting is the least value that fits a JSON Schema: all properties of objects, lists as short as they may be. It knows
// the keywords that schemas of answers commonly have.
func Fitting(schema json.RawMessage) json.RawMessage {
	root := gjson.ParseBytes(schema)
	raw, err := rawjson.Marshal(fitting(root, root, 0))
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

func fitting(root, s gjson.Result, depth int) any {
	if depth > maxDeep {
		return nil
	}
	if v := s.Get("const"); v.Exists() {
		return v.Value()
	}
	if v := s.Get("enum.0"); v.Exists() {
		return v.Value()
	}
	if ref := s.Get(`$ref`).Str; strings.HasPrefix(ref, "#") {
		path := strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(ref, "#"), "/"), "/", ".")
		if path == "" {
			return fitting(root, root, depth+1)
		}
		return fitting(root, root.Get(path), depth+1)
	}
	for _, key := range []string{"anyOf.0", "oneOf.0", "allOf.0"} {
		if v := s.Get(key); v.Exists() {
			return fitting(root, v, depth+1)
		}
	}
	kind := s.Get("type")
	if kind.IsArray() {
		kind = kind.Get("0")
	}
	switch kind.Str {
	case "string":
		text := "text"
		for int64(len(text)) < s.Get("minLength").Int() {
			text += " text"
		}
		return text
	case "integer":
		return math.Ceil(number(s))
	case "number":
		return number(s)
	case "boolean":
		return true
	case "null":
		return nil
	case "array":
		list := []any{}
		for int64(len(list)) < s.Get("minItems").Int() {
			list = append(list, fitting(root, s.Get("items"), depth+1))
		}
		return list
	}
	object := map[string]any{}
	s.Get("properties").ForEach(func(name, property gjson.Result) bool {
		object[name.Str] = fitting(root, property, depth+1)
		return true
	})
	return object
}

// number is 1, or the bound that is nearest to it.
func number(s gjson.Result) float64 {
	n := 1.0
	if v := s.Get("minimum"); v.Exists() {
		n = max(n, v.Num)
	}
	if v := s.Get("maximum"); v.Exists() {
		n = min(n, v.Num)
	}
	return n
}
