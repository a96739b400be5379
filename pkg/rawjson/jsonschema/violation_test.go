package jsonschema_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

func compiled(t *testing.T, source string) *jsonschema.Schema {
	t.Helper()
	s, f := jsonschema.Compile(json.RawMessage(source))
	if f != nil {
		t.Fatalf("%s: %v", source, f)
	}
	return s
}

// TestPlaces holds the whole message for a value that does not fit: the place, what is expected and what is there.
func TestPlaces(t *testing.T) {
	t.Parallel()
	const integer = `{"type":"integer"}`
	for _, tc := range []struct{ schema, value, want string }{
		{integer, `"x"`, `it must be an integer, not a string`},
		{`{"properties":{"a":{"properties":{"b":` + integer + `}}}}`, `{"a":{"b":"x"}}`, `a.b must be an integer, not a string`},
		{`{"properties":{"a: b":` + integer + `,"c.d":true}}`, `{"a: b":"validating /x: type: y"}`, `a: b must be an integer, not a string`},
		{`{"properties":{"c.d":` + integer + `}}`, `{"c.d":1.5}`, `["c.d"] must be an integer, not a number`},
		{`{"properties":{"~/":` + integer + `}}`, `{"~/":null}`, `~/ must be an integer, not null`},
		{`{"properties":{"":` + integer + `}}`, `{"":[]}`, `[""] must be an integer, not an array`},
		{`{"properties":{"b":` + integer + `,"c":` + integer + `,"a":` + integer + `}}`, `{"c":"x","a":1,"b":"x"}`, `b must be an integer, not a string`},
		{`{"properties":{"a":false}}`, `{"a":1}`, `a must be left out`},
		{`{"items":` + integer + `}`, `[1,2,"x","y"]`, `[2] must be an integer, not a string`},
		{`{"items":{"items":` + integer + `}}`, `[[1],[],[2,{}]]`, `[2][1] must be an integer, not an object`},
		{`{"properties":{"a":{"items":{"required":["n"]}}}}`, `{"a":[{"n":1},{}]}`, `a[1] must have "n"`},
		{`{"prefixItems":[{"type":"string"},` + integer + `],"items":{"type":"null"}}`, `["x","y",null]`, `[1] must be an integer, not a string`},
		{`{"prefixItems":[{"type":"string"}],"items":{"type":"null"}}`, `["x",null,false]`, `[2] must be null, not a boolean`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":` + integer + `}`, `["x",1,"y"]`, `[2] must be an integer, not a string`},
		{`{"properties":{"a":true},"additionalProperties":` + integer + `}`, `{"a":"x","b":1,"c":"x"}`, `c must be an integer, not a string`},
		{`{"patternProperties":{"^n":` + integer + `}}`, `{"a":"x","n1":1,"n2":"x"}`, `n2 must be an integer, not a string`},
		{`{"propertyNames":{"pattern":"^[a-z]+$"}}`, `{"a":1,"B c":2}`, `it must not have "B c": each name must match the regular expression ^[a-z]+$`},
		{`{"properties":{"a":true},"unevaluatedProperties":false}`, `{"a":1,"b":2}`, `b must be left out`},
		{`{"prefixItems":[true],"unevaluatedItems":false}`, `[1,2]`, `[1] must be left out`},
		{`{"dependentSchemas":{"a":{"properties":{"b":` + integer + `}}}}`, `{"a":1,"b":"x"}`, `b must be an integer, not a string`},
		{`{"if":{"required":["a"]},"then":{"properties":{"a":` + integer + `}}}`, `{"a":"x"}`, `a must be an integer, not a string`},
		{`{"allOf":[true,{"properties":{"a":` + integer + `}}]}`, `{"a":"x"}`, `a must be an integer, not a string`},
		{`{"allOf":[{"required":["z"]}],"properties":{"a":` + integer + `}}`, `{"a":"x","z":1}`, `a must be an integer, not a string`},
		{`{"$ref":"#/$defs/list","$defs":{"list":{"items":{"$ref":"#/$defs/n"}},"n":` + integer + `}}`, `[1,"x"]`, `[1] must be an integer, not a string`},
		{`{"$ref":"#/properties/a","properties":{"a":` + integer + `}}`, `"x"`, `it must be an integer, not a string`},
		{`{"$id":"https://x.org/s","properties":{"a":{"$id":"https://x.org/t","items":` + integer + `}}}`, `{"a":["x"]}`, `a[0] must be an integer, not a string`},
		{`{"properties":{"next":{"$ref":"#"},"n":` + integer + `}}`, `{"next":{"next":{"n":"x"}}}`, `next.next.n must be an integer, not a string`},
		{`{"properties":{"mode":{"enum":["fast","slow"]}}}`, `{"mode":"fasd"}`, `mode must be one of "fast", "slow" (did you mean "fast"?)`},
		{`{"items":{"properties":{"title":true},"additionalProperties":false}}`, `[{"titel":1}]`, `[0] must not have "titel" (did you mean "title"?)`},
		{`{"patternProperties":{"^x-":true},"additionalProperties":false}`, `{"x-a":1,"b":1}`, `it must not have "b"`},
		// The choice that the value is probably meant for.
		{`{"properties":{"a":{"anyOf":[{"type":"null"},{"items":` + integer + `}]}}}`, `{"a":[1,"x"]}`, `a[1] must be an integer, not a string`},
		{`{"oneOf":[{"properties":{"kind":{"const":"a"},"n":` + integer + `}},{"properties":{"kind":{"const":"b"},"n":{"type":"string"}}}]}`, `{"kind":"a","n":"x"}`,
			`n must be an integer, not a string`},
		{`{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, `it must fit one of the forms that its schema has`},
	} {
		s := compiled(t, tc.schema)
		v := s.Check(json.RawMessage(tc.value))
		if v == nil {
			t.Errorf("%s: %s fits", tc.schema, tc.value)
			continue
		}
		if diff := cmp.Diff(tc.want, v.Error()); diff != "" {
			t.Errorf("%s: %s: %s", tc.schema, tc.value, diff)
		}
	}
}

func TestFits(t *testing.T) {
	t.Parallel()
	s := compiled(t, `{"type":"object","properties":{"name":{"type":"string","minLength":1},"n":{"type":"integer"}},"required":["name"],"additionalProperties":false}`)
	for document, want := range map[string]bool{`{"name":"x"}`: true, `{"name":"x","n":1e400}`: true, `{"name":7}`: false, `{`: false, `7`: false, ``: false} {
		if got := s.Fits(json.RawMessage(document)); got != want {
			t.Errorf("%s: %v", document, got)
		}
		if v := s.Check(json.RawMessage(document)); (v == nil) != want {
			t.Errorf("%s: %v", document, v)
		}
	}
	if _, f := jsonschema.Compile(json.RawMessage(`{"type":`)); f == nil {
		t.Error("half a document is a schema")
	}
}
