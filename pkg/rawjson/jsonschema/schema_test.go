package jsonschema_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

const object = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`

func TestTheSchemaIsChecked(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`null`:                      "",
		object:                      "",
		`"{\"type\":\"object\"}"`:   "",
		`{"properties":{"a":true}}`: "",
		`{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}`: "",
		`[]`:                                  "it must be a JSON object",
		`"text"`:                              "it must be a JSON object",
		`{}`:                                  "type, properties, anyOf, $ref",
		`{"type":"array"}`:                    "an object, not array",
		`{"type":["string","null"]}`:          "an object, not string or null",
		`{"properties":{"a":{"type":"str"}}}`: `/properties/a/type: there is no type "str"`,
		`{"properties":{"a":{"anyOf":[{"type":"x"}]}}}`:                         `/properties/a/anyOf/0/type: there is no type "x"`,
		`{"properties":{"a":{"pattern":"["}}}`:                                  "error parsing regexp",
		`{"properties":{"a":{"$ref":"#/$defs/gone"}}}`:                          "/properties/a/$ref: there is no schema #/$defs/gone",
		`{"properties":{"a":{"$ref":"https://x.org/s"}}}`:                       "/properties/a/$ref: there is no schema https://x.org/s",
		`{"type":"object","$schema":"http://json-schema.org/draft-04/schema#"}`: `/$schema: the dialect "http://json-schema.org/draft-04/schema#" is not supported`,
		`{"type":"object","minLength":1.5}`:                                     "not an integer value",
		`{"type":"object","$defs":{"a":true},"definitions":{"a":true}}`:         "Defs and Definitions",
		`{"type":"object","properties":[]}`:                                     "properties cannot be of type array",
	} {
		_, f := jsonschema.ParseObjectOutput(json.RawMessage(source))
		if (want == "") != (f == nil) || f != nil && (!strings.Contains(f.Message, want) || f.Type != fault.Usage || f.Path != "params.output_schema") {
			t.Errorf("%s: %v, want %q", source, f, want)
		}
		if f != nil && (strings.Contains(f.Message, "jsonschema") || strings.Contains(f.Message, "Go ")) {
			t.Errorf("%s: a message of the library: %v", source, f)
		}
	}
}

func TestStrict(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]bool{
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`:                                                                        true,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:                                                                                                     false,
		`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`:                                                                                         false,
		`{"type":"object","properties":{"a":{"type":"object"}},"required":["a"],"additionalProperties":false}`:                                                                        false,
		`{"type":"object","properties":{"a":{"not":{}}},"required":["a"],"additionalProperties":false}`:                                                                               false,
		`{"type":"object","properties":{},"additionalProperties":false,"$defs":{"x":{"type":"object","properties":{"y":{}}}}}`:                                                        false,
		`{"type":"object","properties":{"properties":{"type":"object","properties":{},"additionalProperties":false}},"required":["properties"],"additionalProperties":false}`:         true,
		`{"type":"object","properties":{"properties":{"type":"object","properties":{},"additionalProperties":false},"b":{}},"required":["properties"],"additionalProperties":false}`:  false,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["b"],"additionalProperties":false}`:                                                                        false,
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"required":{"type":"string"}},"required":["required"],"additionalProperties":false}`: true,
	} {
		s, f := jsonschema.ParseOutput(json.RawMessage(source))
		if f != nil || s.Strict() != want {
			t.Errorf("%s: %v, want strict %v", source, f, want)
		}
	}
}

// TestASchemaWithoutEnd checks that a schema is refused if it leads back to itself without going into a part of the value. The
// library would follow it until the program crashes.
func TestASchemaWithoutEnd(t *testing.T) {
	t.Parallel()
	for source, at := range map[string]string{
		`{"allOf":[{"$ref":"#"}]}`:                  "/allOf/0/$ref leads back to the root",
		`{"anyOf":[{"type":"null"},{"$ref":"#"}]}`:  "/anyOf/1/$ref leads back to the root",
		`{"oneOf":[{"$ref":"#/oneOf/0"}]}`:          "/oneOf/0/$ref leads back to /oneOf/0",
		`{"not":{"$ref":"#"}}`:                      "/not/$ref",
		`{"if":{"$ref":"#"}}`:                       "/if/$ref",
		`{"if":true,"then":{"$ref":"#"}}`:           "/then/$ref",
		`{"if":true,"else":{"$ref":"#"}}`:           "/else/$ref",
		`{"$ref":"#"}`:                              "/$ref leads back to the root",
		`{"AllOf":[{"$REF":"#"}]}`:                  "/allOf/0/$ref",
		`{"dependentSchemas":{"a/b":{"$ref":"#"}}}`: "/dependentSchemas/a~1b/$ref",
		`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`:       "leads back to /$defs/a",
		`{"properties":{"x":{"$ref":"#/$defs/a%20b"}},"$defs":{"a b":{"$ref":"#/$defs/a%20b"}}}`: "/$defs/a b/$ref leads back to /$defs/a b",
		`{"$ref":"#me","$anchor":"me"}`:                                                                "/$ref leads back to the root",
		`{"$dynamicRef":"#me","$dynamicAnchor":"me"}`:                                                  "/$dynamicRef leads back to the root",
		`{"$id":"https://x.org/s","allOf":[{"$ref":"https://x.org/s"}]}`:                               "/allOf/0/$ref leads back to the root",
		`{"$id":"https://x.org/s","allOf":[{"$ref":"https://x.org/s#/allOf/0"}]}`:                      "/allOf/0/$ref leads back to /allOf/0",
		`{"properties":{"p":{"$id":"https://x.org/t","$ref":"#/$defs/a","$defs":{"a":{"$ref":"#"}}}}}`: "leads back to /properties/p",
	} {
		for _, parse := range []func(json.RawMessage) (*jsonschema.Schema, *fault.Fault){jsonschema.ParseOutput, jsonschema.ParseObjectOutput} {
			_, f := parse(json.RawMessage(source))
			if f == nil || f.Type != fault.Usage || len(f.Suggestions) == 0 || !strings.Contains(f.Message, "output_schema") {
				t.Errorf("%s: %v", source, f)
				continue
			}
			if !strings.Contains(f.Message, at) && !strings.Contains(f.Message, "type, properties, anyOf, $ref") {
				t.Errorf("%s: %v, want %q", source, f, at)
			}
		}
	}
}

// TestASchemaOfItself checks schemas that refer to themselves for a part of the value, and properties with the names of keywords.
func TestASchemaOfItself(t *testing.T) {
	t.Parallel()
	for source, value := range map[string]string{
		`{"type":"object","properties":{"next":{"$ref":"#"}},"additionalProperties":false}`:                                                                   `{"next":{"next":{}}}`,
		`{"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{"of":{"type":"array","items":{"$ref":"#/$defs/node"}}}}}}`:                     `{"of":[{"of":[]}]}`,
		`{"type":"object","properties":{"v":{"anyOf":[{"type":"null"},{"$ref":"#"}]},"allOf":{"$ref":"#"}}}`:                                                  `{"v":{"v":null},"allOf":{}}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/s"},"b":{"allOf":[{"$ref":"#/$defs/s"},{"$ref":"#/$defs/s"}]}},"$defs":{"s":{"type":"string"}}}`: `{"a":"x","b":"y"}`,
		`{"then":{"$ref":"#"},"type":"object"}`:                                      `{}`,
		`{"enum":[{"$ref":"#"}],"default":{"allOf":[{"$ref":"#"}]},"type":"object"}`: `{"$ref":"#"}`,
	} {
		s, f := jsonschema.ParseOutput(json.RawMessage(source))
		if f != nil {
			t.Errorf("%s: %v", source, f)
			continue
		}
		if err := s.Check(json.RawMessage(value)); err != nil {
			t.Errorf("%s: %s: %v", source, value, err)
		}
	}
}

// TestASchemaThatTakesTooLong checks that references that each lead to two others are refused.
func TestASchemaThatTakesTooLong(t *testing.T) {
	t.Parallel()
	defs := `"n30":{"type":"object"}`
	for i := range 30 {
		next := `{"$ref":"#/$defs/n` + strconv.Itoa(i+1) + `"}`
		defs += `,"n` + strconv.Itoa(i) + `":{"allOf":[` + next + `,` + next + `]}`
	}
	_, f := jsonschema.ParseOutput(json.RawMessage(`{"$ref":"#/$defs/n0","$defs":{` + defs + `}}`))
	if f == nil || f.Type != fault.Usage || !strings.Contains(f.Message, "more than 10000 schemas") || !strings.Contains(f.Message, "/$defs/n") {
		t.Error(f)
	}
}

// FuzzSchema checks that every schema is refused, or that values can be checked by it.
func FuzzSchema(f *testing.F) {
	for _, seed := range []string{
		object, `{"allOf":[{"$ref":"#"}]}`, `{"$ref":"#/properties/a","properties":{"a":{"not":{"$ref":"#"}}}}`,
		`{"$dynamicRef":"#a","$defs":{"x":{"$dynamicAnchor":"a","$ref":"#a"}}}`, `{"$id":"a","$ref":"a#/$defs/b","$defs":{"b":{"$id":"c","$ref":"#"}}}`,
		`{"dependencies":{"a":{"$ref":"#"},"b":["a"]},"$schema":"http://json-schema.org/draft-07/schema#"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, source string) {
		if s, f := jsonschema.ParseOutput(json.RawMessage(source)); f == nil && s != nil {
			for _, value := range []string{`{"a":{"b":[{}]},"b":1}`, `[[{"a":{}}]]`, `"a"`} {
				_ = s.Check(json.RawMessage(value))
			}
			_ = s.Strict()
		}
	})
}
