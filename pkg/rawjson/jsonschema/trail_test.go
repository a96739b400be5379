package jsonschema

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	google "github.com/google/jsonschema-go/jsonschema"
)

// TestTheLibrarysErrors holds the library's error for every keyword, because trail parses them: a new version with other words
// must not go unnoticed.
func TestTheLibrarysErrors(t *testing.T) {
	t.Parallel()
	const draft7 = `"$schema":"http://json-schema.org/draft-07/schema#",`
	for _, tc := range []struct{ schema, value, trail, text string }{
		// The keywords, in the order in which the library checks them.
		{`{"type":"integer"}`, `"x: y"`, "root type", `validating root: type: x: y has type "string", want "integer"`},
		{`{"type":["string","null"]}`, `[]`, "root type", `validating root: type: [] has type "array", want one of "string, null"`},
		{`{"enum":["a","b"]}`, `"c"`, "root enum", "validating root: enum: c does not equal any of: [a b]"},
		{`{"const":1}`, `2`, "root const", "validating root: const: 2 does not equal 1"},
		{`{"multipleOf":5}`, `7`, "root multipleOf", "validating root: multipleOf: 7/1 is not a multiple of 5.000000"},
		{`{"minimum":1}`, `0`, "root minimum", "validating root: minimum: 0/1 is less than 1.000000"},
		{`{"maximum":1}`, `2`, "root maximum", "validating root: maximum: 2/1 is greater than 1.000000"},
		{`{"exclusiveMinimum":1}`, `1`, "root exclusiveMinimum", "validating root: exclusiveMinimum: 1/1 is less than or equal to 1.000000"},
		{`{"exclusiveMaximum":1}`, `1`, "root exclusiveMaximum", "validating root: exclusiveMaximum: 1/1 is greater than or equal to 1.000000"},
		{`{"minLength":2}`, `"a"`, "root minLength", `validating root: minLength: "a" contains 1 Unicode code points, fewer than 2`},
		{`{"maxLength":2}`, `"abc"`, "root maxLength", `validating root: maxLength: "abc" contains 3 Unicode code points, more than 2`},
		{`{"pattern":"^a$"}`, `"b"`, "root pattern", `validating root: pattern: "b" does not match regular expression "^a$"`},
		{`{"$dynamicRef":"#a","$defs":{"x":{"$dynamicAnchor":"a","type":"null"}}}`, `1`, "root /$defs/x type", `validating root: validating /$defs/x: type: 1 has type "integer", want "null"`},
		{`{"allOf":[{},{"type":"null"}]}`, `1`, "root /allOf/1 type", `validating root: validating /allOf/1: type: 1 has type "integer", want "null"`},
		{`{"anyOf":[{"type":"null"},{"type":"array"}]}`, `1`, "root anyOf", "validating root: anyOf: did not validate against any of [<anonymous schema> <anonymous schema>]:\nvalidating /anyOf/0: type: 1 has type \"integer\", want \"null\"\nvalidating /anyOf/1: type: 1 has type \"integer\", want \"array\""},
		{`{"oneOf":[{"type":"integer"},{"minimum":0}]}`, `1`, "root oneOf", "validating root: oneOf: validated against both <anonymous schema> and <anonymous schema>"},
		{`{"oneOf":[{"type":"null"}]}`, `1`, "root oneOf", "validating root: oneOf: did not validate against any of [<anonymous schema>]"},
		{`{"not":{}}`, `1`, "root not", "validating root: not: validated against <anonymous schema>"},
		{`{"if":true,"then":{"type":"null"}}`, `1`, "root /then type", `validating root: validating /then: type: 1 has type "integer", want "null"`},
		{`{"if":false,"else":{"type":"null"}}`, `1`, "root /else type", `validating root: validating /else: type: 1 has type "integer", want "null"`},
		{`{` + draft7 + `"items":[{"type":"null"}]}`, `[1]`, "root /items/0 type", `validating root: validating /items/0: type: 1 has type "integer", want "null"`},
		{`{` + draft7 + `"items":[{}],"additionalItems":{"type":"null"}}`, `[1,2]`, "root /additionalItems type", `validating root: validating /additionalItems: type: 2 has type "integer", want "null"`},
		{`{"prefixItems":[{"type":"null"}]}`, `[1]`, "root /prefixItems/0 type", `validating root: validating /prefixItems/0: type: 1 has type "integer", want "null"`},
		{`{"items":{"type":"null"}}`, `[1]`, "root /items type", `validating root: validating /items: type: 1 has type "integer", want "null"`},
		{`{"contains":{"type":"null"}}`, `[1]`, "root contains", "validating root: contains: [%!s(float64=1)] does not have an item matching <anonymous schema>"},
		{`{"contains":{"type":"null"},"minContains":2}`, `[null]`, "root minContains", "validating root: minContains: contains validated 1 items, less than 2"},
		{`{"contains":{"type":"null"},"maxContains":1}`, `[null,null]`, "root maxContains", "validating root: maxContains: contains validated 2 items, greater than 1"},
		{`{"minItems":1}`, `[]`, "root minItems", "validating root: minItems: array length 0 is less than 1"},
		{`{"maxItems":1}`, `[1,2]`, "root maxItems", "validating root: maxItems: array length 2 is greater than 1"},
		{`{"uniqueItems":true}`, `[1,1]`, "root uniqueItems", "validating root: uniqueItems: array items 1 and 0 are equal"},
		{`{"unevaluatedItems":{"type":"null"}}`, `[1]`, "root /unevaluatedItems type", `validating root: validating /unevaluatedItems: type: 1 has type "integer", want "null"`},
		{`{"properties":{"a/b":{"type":"null"}}}`, `{"a/b":1}`, "root /properties/a~1b type", `validating root: validating /properties/a~1b: type: 1 has type "integer", want "null"`},
		{`{"patternProperties":{"^a":{"type":"null"}}}`, `{"a":1}`, "root /patternProperties/^a type", `validating root: validating /patternProperties/^a: type: 1 has type "integer", want "null"`},
		{`{"additionalProperties":false}`, `{"a: b":1}`, "root additionalProperties", `validating root: unexpected additional properties ["a: b"]`},
		{`{"additionalProperties":{"type":"null"}}`, `{"a":1}`, "root /additionalProperties type", `validating root: validating /additionalProperties: type: 1 has type "integer", want "null"`},
		{`{"propertyNames":{"maxLength":0}}`, `{"a":1}`, "root /propertyNames maxLength", `validating root: validating /propertyNames: maxLength: "a" contains 1 Unicode code points, more than 0`},
		{`{"minProperties":1}`, `{}`, "root minProperties", "validating root: minProperties: object has 0 properties, less than 1"},
		{`{"maxProperties":1}`, `{"a":1,"b":1}`, "root maxProperties", "validating root: maxProperties: object has 2 properties, greater than 1"},
		{`{"required":["a","b"]}`, `{}`, "root required", `validating root: required: missing properties: ["a" "b"]`},
		{`{` + draft7 + `"dependencies":{"a":["b"]}}`, `{"a":1}`, "root dependentRequired", `validating root: dependentRequired["a"]: missing properties ["b"]`},
		{`{` + draft7 + `"dependencies":{"a":{"required":["b"]}}}`, `{"a":1}`, "root /dependencies/a required", `validating root: validating /dependencies/a: required: missing properties: ["b"]`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, "root dependentRequired", `validating root: dependentRequired["a"]: missing properties ["b"]`},
		{`{"dependentSchemas":{"a":{"required":["b"]}}}`, `{"a":1}`, "root /dependentSchemas/a required", `validating root: validating /dependentSchemas/a: required: missing properties: ["b"]`},
		{`{"unevaluatedProperties":{"type":"null"}}`, `{"a":1}`, "root /unevaluatedProperties type", `validating root: validating /unevaluatedProperties: type: 1 has type "integer", want "null"`},
		// Nested schemas, named by path and by $id.
		{`{"properties":{"a":{"items":{"$ref":"#/$defs/n"}}},"$defs":{"n":{"type":"null"}}}`, `{"a":["validating x: y"]}`, "root /properties/a /properties/a/items /$defs/n type", `validating root: validating /properties/a: validating /properties/a/items: validating /$defs/n: type: validating x: y has type "string", want "null"`},
		{`{"$id":"https://x.org/s","items":{"$id":"https://x.org/t","type":"null"}}`, `[1]`, "https://x.org/s https://x.org/t type", `validating https://x.org/s: validating https://x.org/t: type: 1 has type "integer", want "null"`},
		// An error about the schema is not wrapped.
		{`{"$schema":"http://json-schema.org/draft-04/schema#"}`, `1`, "cannot validate version http", "cannot validate version http://json-schema.org/draft-04/schema#, supported versions: draft-07 and draft 2020-12"},
	} {
		var document google.Schema
		if err := json.Unmarshal([]byte(tc.schema), &document); err != nil {
			t.Fatal(tc.schema, err)
		}
		schema, err := document.Resolve(nil)
		if err != nil {
			t.Fatal(tc.schema, err)
		}
		value, err := Decode(json.RawMessage(tc.value))
		if err != nil {
			t.Fatal(err)
		}
		err = schema.Validate(withNumbers(value, nearest))
		if err == nil {
			t.Errorf("%s: %s fits", tc.schema, tc.value)
			continue
		}
		names, keyword := trail(err)
		if diff := cmp.Diff(tc.trail, strings.Join(append(names, keyword), " ")); diff != "" {
			t.Errorf("%s: %s", tc.schema, diff)
		}
		if diff := cmp.Diff(tc.text, err.Error()); diff != "" {
			t.Errorf("%s: %s: %s", tc.schema, tc.value, diff)
		}
	}
}
