package jsonschema_test

import (
	"encoding/json"
	"fmt"

	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

func Example() {
	schema, f := jsonschema.Compile(json.RawMessage(`{"type": "object", "properties": {"steps": {"type": "array", "items": {
		"type": "object", "properties": {"title": {"type": "string"}}, "additionalProperties": false}}}}`))
	if f != nil {
		panic(f)
	}
	fmt.Println(schema.Check(json.RawMessage(`{"steps": [{"title": "one"}, {"titel": "two"}]}`)))
	// Output: steps[1] must not have "titel" (did you mean "title"?)
}
