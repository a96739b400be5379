package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Mistyped explains the error of decoding a document with a value of the wrong type: the path of the value, which is empty for the
// whole document, and what it must be, such as "a list, not text". It repeats no value. It returns false for any other error.
func Mistyped(source []byte, err error) (path, must string, ok bool) {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return "", "", false
	}
	got, number, _ := strings.Cut(wrong.Value, " ") // such as "number 1.5"
	want := typeWords(wrong.Type)
	switch words := map[string]string{"string": "text", "array": "a list", "object": "an object", "bool": "true or false", "number": "a number"}[got]; {
	case number == "" || want != "a number" && want != "a whole number":
		got = words
	case want == "a whole number" && strings.Contains(number, "."):
		got = "a fraction"
	default:
		got = "one out of range"
	}
	return pathAt(source, wrong.Offset), want + ", not " + got, true
}

// typeWords returns what JSON a Go type is decoded from.
func typeWords(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.String {
			return "a list of texts"
		}
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Pointer:
		return typeWords(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	default:
		return "text"
	}
}

// pathAt returns the path of the value at an offset as encoding/json reports it: the end of a text, a number or a word, and the place
// after the bracket that begins a list or an object.
func pathAt(source []byte, offset int64) string {
	d := json.NewDecoder(bytes.NewReader(source))
	d.UseNumber()
	type level struct {
		path  string // of the list or object
		list  bool
		index int
		key   string
		value bool // the key has been read
	}
	var levels []level
	for {
		token, err := d.Token()
		if err != nil {
			return ""
		}
		path := ""
		if n := len(levels); n > 0 {
			at := &levels[n-1]
			switch end := token == json.Delim('}') || token == json.Delim(']'); {
			case end:
				levels = levels[:n-1]
				continue
			case at.list:
				path = fmt.Sprintf("%s[%d]", at.path, at.index)
				at.index++
			case !at.value:
				at.key, at.value = token.(string), true
				continue
			default:
				path, at.value = JoinPath(at.path, at.key), false
			}
		}
		if d.InputOffset() >= offset {
			return path
		}
		if delim, ok := token.(json.Delim); ok {
			levels = append(levels, level{path: path, list: delim == '['})
		}
	}
}
