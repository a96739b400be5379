package nodetype

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Fit converts a value to the type of a parameter, if that loses nothing. For str, any other value becomes the text of its
// JSON. For other types, text becomes the number, boolean, object or list that it spells. Otherwise ok is false.
func Fit(typ string, raw json.RawMessage) (value json.RawMessage, ok bool) {
	raw = bytes.TrimSpace(raw)
	isText := raw[0] == '"'
	if typ == "any" || typ == "str" && isText { // without decoding: it may be very long
		return raw, true
	}
	text := string(raw)
	if isText && json.Unmarshal(raw, &text) != nil {
		return nil, false
	}
	trimmed := strings.TrimSpace(text)
	switch typ {
	case "str":
		if isText {
			return raw, true
		}
		return rawjson.Quote(rawjson.Compact(raw)), true
	case "int", "float":
		if trimmed == "" || !strings.ContainsRune("-0123456789", rune(trimmed[0])) || !json.Valid([]byte(trimmed)) {
			return nil, false
		}
		if typ == "int" {
			return fitInt(trimmed)
		}
		if _, err := strconv.ParseFloat(trimmed, 64); err != nil {
			return nil, false
		}
		return json.RawMessage(trimmed), true
	case DurationType:
		return fitDuration(raw)
	case "bool":
		lower := strings.ToLower(trimmed)
		return json.RawMessage(lower), lower == "true" || lower == "false"
	case "list", "dict":
		open := map[string]string{"list": "[", "dict": "{"}[typ]
		return json.RawMessage(trimmed), strings.HasPrefix(trimmed, open) && json.Valid([]byte(trimmed))
	}
	return raw, true
}

// fitInt converts a number to an integer, also if it is spelled as 2.0 or 1e3. Such a spelling must be less than 2^53: beyond
// that, a float64 does not hold every integer.
func fitInt(number string) (json.RawMessage, bool) {
	if _, err := strconv.ParseInt(number, 10, 64); err == nil {
		return json.RawMessage(number), true
	}
	const exact = 1 << 53
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= exact {
		return nil, false
	}
	return json.RawMessage(strconv.FormatInt(int64(f), 10)), true
}

// Decode decodes the parameters of a node into a struct of their type, which keeps its values for parameters that are not
// given. The error is an execution_error that names the parameter.
func Decode(params json.RawMessage, to any) error {
	err := json.Unmarshal(params, to)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return fault.New(fault.Execution, "Parameter %q cannot hold %s", wrong.Field+itemOf(params, wrong), wrong.Value).
			Then(fault.Step{Do: fault.DoDescribe, Name: "TYPE"})
	}
	if err != nil {
		return fault.New(fault.Execution, "The parameters cannot be read: %v", err)
	}
	return nil
}

// itemOf returns the index of the first item of a wrong type, such as "[2]", or "" if the parameter is not a list.
func itemOf(params json.RawMessage, wrong *json.UnmarshalTypeError) string {
	var given map[string]json.RawMessage
	var items []json.RawMessage
	if json.Unmarshal(params, &given) != nil || json.Unmarshal(given[wrong.Field], &items) != nil {
		return ""
	}
	for i, item := range items {
		var single *json.UnmarshalTypeError
		if into := reflect.New(wrong.Type); errors.As(json.Unmarshal(item, into.Interface()), &single) {
			return "[" + strconv.Itoa(i) + "]"
		}
	}
	return ""
}

// Defaults returns a JSON object with the default values of the parameters that have one.
func (t *Type) Defaults() json.RawMessage {
	given := map[string]json.RawMessage{}
	for _, p := range t.Params {
		if p.Default != nil {
			given[p.Name] = p.Default
		}
	}
	raw, err := rawjson.Marshal(given)
	if err != nil { // a default in a struct tag is not JSON
		return json.RawMessage("{}")
	}
	return raw
}
