package mcpclient

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// Unwrap returns the value that the structured content of a tool stands for. Structured content is always an object, so the
// Python SDKs wrap any other value in one: {"result":VALUE}, with an output schema whose only property is result. Unwrap
// returns VALUE then, and structured content of any other form unchanged.
func Unwrap(outputSchema, structured json.RawMessage) json.RawMessage {
	if _, ok := wrapped(outputSchema); !ok {
		return structured
	}
	var inner gjson.Result
	keys := 0
	gjson.ParseBytes(structured).ForEach(func(key, value gjson.Result) bool {
		if keys++; key.Str == wrapper {
			inner = value
		}
		return true
	})
	if keys != 1 || !inner.Exists() {
		return structured
	}
	return json.RawMessage(inner.Raw)
}

// wrapper is the key of a wrapped value.
const wrapper = "result"

// wrapped returns the schema of the value that an output schema wraps, and whether it wraps one. An object is not wrapped,
// unless the schema has the mark of FastMCP: an author may have called the only field of a result "result".
func wrapped(outputSchema json.RawMessage) (value gjson.Result, ok bool) {
	schema := gjson.ParseBytes(outputSchema)
	properties := 0
	schema.Get("properties").ForEach(func(key, property gjson.Result) bool {
		if properties++; key.Str == wrapper {
			value = property
		}
		return true
	})
	if properties != 1 || !value.Exists() {
		return value, false
	}
	return value, schema.Get("x-fastmcp-wrap-result").Bool() || resolve(schema, value).Get("type").Str != "object"
}

// resolve follows a schema's reference into the definitions of the whole schema.
func resolve(whole, schema gjson.Result) gjson.Result {
	for range 10 { // they may lead in a circle
		name, ok := strings.CutPrefix(schema.Get("$ref").Str, "#/")
		group, name, within := strings.Cut(name, "/")
		if !ok || !within || strings.Contains(name, "/") {
			break
		}
		schema = member(member(whole, group), name)
	}
	return schema
}

// member returns a member of an object by its name, which is not a path.
func member(object gjson.Result, name string) (found gjson.Result) {
	object.ForEach(func(key, value gjson.Result) bool {
		if key.Str == name {
			found = value
		}
		return key.Str != name
	})
	return found
}
