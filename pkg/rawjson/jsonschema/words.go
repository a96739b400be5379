package jsonschema

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// maxShown is how many bytes are said of what is wrong.
const maxShown = 300

// illFormed is why a schema does not decode.
func illFormed(err error) string {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		keyword := wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:]
		if keyword == "" {
			return "there is " + wrong.Value + " where it cannot be"
		}
		return "its " + keyword + " cannot be of type " + wrong.Value
	}
	return plain(err)
}

// plain is what the schema library says, in the words of who wrote the schema: where it is wrong, and how.
func plain(err error) string {
	text, place := strings.TrimPrefix(err.Error(), "jsonschema: "), ""
	for strings.HasPrefix(text, "validating ") {
		at, rest, ok := strings.Cut(strings.TrimPrefix(text, "validating "), ": ")
		if !ok {
			break
		}
		place, text = at, rest
	}
	text = strings.TrimPrefix(strings.TrimPrefix(text, "jsonschema.Schema: "), "<anonymous schema>: ")
	switch {
	case strings.HasPrefix(text, "type: "): // behind it stands the whole value
		if at := strings.LastIndex(text, " has type "); at >= 0 {
			text = "it" + text[at:]
		}
	case strings.HasPrefix(text, "anyOf: did not"), strings.HasPrefix(text, "oneOf: did not"):
		text = "it fits none of the choices of " + text[:len("anyOf")]
	}
	if place != "" && place != "root" {
		text = place + ": " + text
	}
	return fault.Truncate(text, maxShown)
}
