package jsonschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
)

// maxDepth is how deep objects and lists of a value may be nested. By a schema that refers to itself the library takes time
// and memory that grow with the square of the depth: gigabytes for the depth that encoding/json allows.
const maxDepth = 500

// Decode returns a JSON value as the Go values of package encoding/json. A number beyond the range of a float64 becomes the
// greatest or least that there is: that is on the same side of every limit in a schema.
func Decode(raw json.RawMessage) (any, error) {
	var value any
	if !json.Valid(raw) {
		return nil, json.Unmarshal(raw, &value)
	}
	numbers := json.NewDecoder(bytes.NewReader(raw))
	numbers.UseNumber()
	if err := numbers.Decode(&value); err != nil {
		return nil, err
	}
	return withFloats(value, 0)
}

// withFloats replaces, in place, each json.Number of a value by a float64.
func withFloats(value any, depth int) (_ any, err error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("more than %d objects and lists are nested", maxDepth)
	}
	switch value := value.(type) {
	case json.Number:
		f, _ := value.Float64()
		return max(-math.MaxFloat64, min(f, math.MaxFloat64)), nil
	case []any:
		for i := range value {
			if value[i], err = withFloats(value[i], depth+1); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for name := range value {
			if value[name], err = withFloats(value[name], depth+1); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}
