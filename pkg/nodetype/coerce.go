package nodetype

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Fit makes a parameter's value one of the parameter's type where that loses nothing: any value becomes text as JSON
// spells it, text that spells a number, true or false, an object or a list becomes that. ok is false when it cannot be.
func Fit(typ string, raw json.RawMessage) (value json.RawMessage, ok bool) {
	raw = bytes.TrimSpace(raw)
	isText := raw[0] == '"'
	if typ == "any" || typ == "str" && isText { // it may be very long
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
		if _, err := strconv.ParseInt(trimmed, 10, 64); typ == "int" && err != nil {
			return nil, false
		}
		if _, err := strconv.ParseFloat(trimmed, 64); err != nil {
			return nil, false
		}
		return json.RawMessage(trimmed), true
	case "bool":
		lower := strings.ToLower(trimmed)
		return json.RawMessage(lower), lower == "true" || lower == "false"
	case "list", "dict":
		open := map[string]string{"list": "[", "dict": "{"}[typ]
		return json.RawMessage(trimmed), strings.HasPrefix(trimmed, open) && json.Valid([]byte(trimmed))
	}
	return raw, true
}

// Defaults is the JSON object of the parameters that have a default, for those that are not given.
func (t *Type) Defaults() json.RawMessage {
	given := map[string]json.RawMessage{}
	for _, p := range t.Params {
		if p.Default != nil {
			given[p.Name] = p.Default
		}
	}
	raw, err := rawjson.Marshal(given)
	if err != nil { // a default in a tag is no JSON
		return json.RawMessage("{}")
	}
	return raw
}
