package mcpclient

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// Unwrap returns the value that the structured content of a tool stands for. Structured content is always an object, so the
// Python SDKs wrap any other value in one: {"result":VALUE}, with an output schema whose only property is result. Unwrap
// returns VALUE then, and structured content of any other form unchanged.
func Unwrap(outputSchema, structured json.RawMessage) json.RawMessage {
	if _, ok := nodetype.WrappedValue(outputSchema); !ok {
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
