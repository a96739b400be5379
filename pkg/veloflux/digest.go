package veloflux

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// parseBody parses a response body that must be JSON.
func parseBody(body []byte) (gjson.Result, error) {
	switch {
	case !utf8.Valid(body):
		return gjson.Result{}, errors.New("it is not UTF-8 text")
	case !json.Valid(body):
		return gjson.Result{}, errors.New("it is not JSON")
	}
	return gjson.ParseBytes(body), nil
}

// parseList returns the elements of a response body that must be a list of objects, each with a name.
func parseList(body []byte, what string) ([]gjson.Result, error) {
	document, err := parseBody(body)
	if err != nil {
		return nil, err
	}
	if !document.IsArray() {
		return nil, fmt.Errorf("it is %s, not a list of %ss", kindOf(document), what)
	}
	elements := document.Array()
	for i, e := range elements {
		if !e.IsObject() {
			return nil, fmt.Errorf("%s %d is %s, not an object", what, i+1, kindOf(e))
		}
		if e.Get("name").Type != gjson.String {
			return nil, fmt.Errorf("%s %d has no name", what, i+1)
		}
	}
	return elements, nil
}

func kindOf(value gjson.Result) string { return rawjson.Kind(json.RawMessage(value.Raw)) }

// rawText returns the bytes of a JSON string, or those of an empty one for any other value.
func rawText(value gjson.Result) json.RawMessage {
	if value.Type != gjson.String {
		return json.RawMessage(`""`)
	}
	return json.RawMessage(value.Raw)
}

// rawList returns the bytes of a JSON list, or [] for any other value.
func rawList(value gjson.Result) json.RawMessage {
	if !value.IsArray() {
		return json.RawMessage(`[]`)
	}
	return json.RawMessage(value.Raw)
}
