package jsonschema

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/internal/cputime"
)

// anySchema draws what a server may send as a schema: keywords of all dialects with values that may or may not fit them,
// references that lead nowhere or in circles, and what is no schema at all.
func anySchema(t *rapid.T, depth int) any {
	if depth == 0 || rapid.IntRange(0, 9).Draw(t, "leaf") == 0 {
		return rapid.SampledFrom([]any{true, false, nil, "string", 1.5, -1, "", []any{}, map[string]any{}, map[string]any{"type": "string"}}).Draw(t, "value")
	}
	schema := map[string]any{}
	for range rapid.IntRange(0, 5).Draw(t, "keywords") {
		keyword := rapid.SampledFrom([]string{
			"type", "properties", "required", "items", "additionalProperties", "patternProperties", "anyOf", "oneOf", "allOf", "not", "$ref", "$defs", "definitions",
			"enum", "const", "minimum", "exclusiveMinimum", "pattern", "format", "$schema", "$id", "id", "$anchor", "dependencies", "dependentRequired", "if", "then",
			"else", "contains", "prefixItems", "additionalItems", "propertyNames", "maxItems", "multipleOf", "nullable", "default", "$recursiveRef", "$dynamicRef",
			"unevaluatedProperties", "x-own", "Type", "minLength", "uniqueItems",
		}).Draw(t, "keyword")
		switch form := rapid.IntRange(0, 9).Draw(t, "form"); {
		case form == 0:
			schema[keyword] = anySchema(t, depth-1)
		case keyword == "type" || keyword == "required" || keyword == "enum":
			words := rapid.SliceOfN(rapid.SampledFrom([]any{"object", "string", "integer", "array", "null", "any", "a", "b", 1.0, nil}), 0, 3).Draw(t, "words")
			if schema[keyword] = words; len(words) == 1 {
				schema[keyword] = words[0]
			}
		case keyword == "$ref" || keyword == "$dynamicRef" || keyword == "$recursiveRef" || keyword == "$id" || keyword == "$schema" || keyword == "id" || keyword == "$anchor":
			schema[keyword] = rapid.SampledFrom([]any{
				"#", "#/properties/a", "#/$defs/a", "#/definitions/b", "#a", "http://x/y", "a", "", "#/%zz", "urn:x", 7.0, "https://json-schema.org/draft/2019-09/schema",
				"http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-07/schema#",
			}).Draw(t, "reference")
		case keyword == "pattern":
			schema[keyword] = rapid.SampledFrom([]any{"^a", "(?!x)", "(", "[", `\d+`, `\p{L}`, "(a+)+$"}).Draw(t, "pattern")
		case keyword == "minimum" || keyword == "exclusiveMinimum" || keyword == "multipleOf" || keyword == "maxItems" || keyword == "minLength":
			schema[keyword] = rapid.SampledFrom([]any{0.0, -1.0, 1e300, true, "1", 0.1, nil}).Draw(t, "number")
		case keyword == "anyOf" || keyword == "oneOf" || keyword == "allOf" || keyword == "prefixItems":
			list := []any{}
			for range rapid.IntRange(0, 3).Draw(t, "choices") {
				list = append(list, anySchema(t, depth-1))
			}
			schema[keyword] = list
		case keyword == "properties" || keyword == "$defs" || keyword == "definitions" || keyword == "patternProperties" || keyword == "dependencies":
			named := map[string]any{}
			for range rapid.IntRange(0, 3).Draw(t, "names") {
				named[rapid.SampledFrom([]string{"a", "b", "a.b", "a/b", "~", "", "$ref", "(", "検"}).Draw(t, "name")] = anySchema(t, depth-1)
			}
			schema[keyword] = named
		default:
			schema[keyword] = anySchema(t, depth-1)
		}
	}
	return schema
}

// No schema that a server sends makes a check crash, or take long.
func TestAnyForeignSchema(t *testing.T) {
	values := []string{`{}`, `{"a":1,"b":"x"}`, `{"a":{"a":{"a":[1,{"b":null}]}},"":0}`, `{"a":"${x}","a.b":[[],{}],"検":1e400}`}
	rapid.Check(t, func(t *rapid.T) {
		source, err := json.Marshal(anySchema(t, 5))
		if err != nil {
			t.Fatal(err)
		}
		took := cputime.Of(func() {
			if s := CompileForeign(source); s != nil {
				for _, value := range values {
					if v := s.Check(json.RawMessage(value)); v != nil {
						v.DependsOn("${")
					}
					for _, name := range []string{"a", "a.b", "", "検"} {
						_ = s.CheckMember(name, json.RawMessage(value))
						s.AllowsNull(name)
					}
				}
				TakesMore(source, true)
			}
		})
		if took > 5*time.Second {
			t.Errorf("%s takes %v", source, took)
		}
	})
}
