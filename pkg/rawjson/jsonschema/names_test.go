package jsonschema

import (
	"encoding/json"
	"testing"
)

func TestTakesMore(t *testing.T) {
	for source, want := range map[string]bool{
		`{"type":"object","properties":{"a":{}}}`:                                                 false,
		`{"type":"object","properties":{"a":{}},"additionalProperties":false}`:                    false,
		`{"type":"object","properties":{"a":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`: false,
		`{"properties":{},"additionalProperties":false}`:                                          false,
		`{"properties":{"a":{}},"if":{"required":["a"]},"then":{"minProperties":1}}`:              false,
		``:                                  true,
		`{"type":"object"}`:                 true,
		`{"type":"object","properties":{}}`: true,
		`{"properties":{"a":{}},"additionalProperties":true}`:                                 true,
		`{"properties":{"a":{}},"additionalProperties":{}}`:                                   true,
		`{"properties":{"a":{}},"patternProperties":{"^x":{}}}`:                               true,
		`{"$ref":"#/$defs/In","$defs":{"In":{"properties":{"a":{}}}}}`:                        true,
		`{"properties":{"a":{}},"allOf":[{"properties":{"b":{}}}]}`:                           true,
		`{"properties":{"a":{}},"oneOf":[{"anyOf":[{"$ref":"#/$defs/x"}]}],"$defs":{"x":{}}}`: true,
		`{"properties":{"a":{}},"dependencies":{"a":{"properties":{"b":{}}}}}`:                true,
		`{"properties":{"a":{"$ref":"https://127.0.0.1:1/"}}}`:                                true, // it cannot be used
		`{"type":"array","properties":{"a":{}}}`:                                              true,
	} {
		if got := TakesMore(json.RawMessage(source), CompileForeign(json.RawMessage(source)) != nil); got != want {
			t.Errorf("%s: %v", source, got)
		}
	}
}
