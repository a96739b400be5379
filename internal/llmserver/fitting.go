package llmserver

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// maxDepth limits the depth of a value for a schema that refers to itself.
const maxDepth = 20

// Fitting returns a small value that fits a JSON Schema: objects with all properties, and lists of the minimum length. It supports
// only the common keywords.
func Fitting(schema json.RawMessage) json.RawMessage {
	root := gjson.ParseBytes(schema)
	raw, err := rawjson.Marshal(fitting(root, root, 0))
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

func fitting(root, s gjson.Result, depth int) any {
	if depth > maxDepth {
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

// number returns 1, or the nearest allowed number.
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
