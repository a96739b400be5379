package rawjson

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// Equal reports whether two texts are JSON of the same value, whatever the order of their keys and their white space. Numbers are
// compared by their spelling. A text that is not JSON is equal to none.
func Equal[T ~string | ~[]byte](a, b T) bool {
	left, err := decode([]byte(a))
	if err != nil {
		return false
	}
	right, err := decode([]byte(b))
	return err == nil && reflect.DeepEqual(left, right)
}

func decode(raw []byte) (any, error) {
	var v any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	err := decoder.Decode(&v)
	return v, err
}
