package jsonschema

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// maxDepth is how deep objects and lists of a value may be nested. By a schema that refers to itself the library takes time
// and memory that grow with the square of the depth: gigabytes for the depth that encoding/json allows.
const maxDepth = 500

// Decode returns a JSON value as the Go values of package encoding/json, its numbers as json.Number.
func Decode(raw json.RawMessage) (any, error) {
	value, err := decodeNumbers(raw)
	if err == nil && rawjson.Depth(raw) > maxDepth {
		return nil, fmt.Errorf("more than %d objects and lists are nested", maxDepth)
	}
	return value, err
}

func decodeNumbers(raw json.RawMessage) (any, error) {
	var value any
	if !json.Valid(raw) {
		return nil, json.Unmarshal(raw, &value)
	}
	numbers := json.NewDecoder(bytes.NewReader(raw))
	numbers.UseNumber()
	err := numbers.Decode(&value)
	return value, err
}
