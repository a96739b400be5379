package toolargs

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

const schema = `{"type":"object","properties":{"name":{"type":"string","minLength":1},"n":{"type":"integer"},"list":{"type":"array","items":{"type":"object"}}},
	"required":["name"],"additionalProperties":false}`

func TestCheckGivesTheCallersBytes(t *testing.T) {
	c := NewChecker("a.tool", json.RawMessage(schema))
	for _, given := range []string{
		`{"name":"x"}`, "{ \"name\" : \"\\u00fc\", \"n\":9007199254740993 }", `{"name":"x","n":1e400}`, `{"name":"x","list":[{"a":[-1E999999999999]}]}`,
	} {
		if got, f := c.Check(json.RawMessage(given)); f != nil || string(got) != given {
			t.Errorf("%s: got %s, %v", given, got, f)
		}
	}
	open := NewChecker("open", json.RawMessage(`{"type":"object"}`))
	for _, given := range []string{"", "null", "{}"} {
		if got, f := open.Check(json.RawMessage(given)); f != nil || string(got) != "{}" {
			t.Errorf("%q: got %s, %v", given, got, f)
		}
	}
}

func TestCheckSaysWhatIsWrong(t *testing.T) {
	c := NewChecker("a.tool", json.RawMessage(schema))
	for given, want := range map[string]string{
		`[]`:                       "must be a JSON object",
		`garbage`:                  "must be a JSON object",
		`null x`:                   "must be a JSON object",
		`7`:                        "must be a JSON object",
		`{"name":`:                 "cannot be read",
		`{}`:                       `"name" of a.tool is missing`,
		`{"nam":"x"}`:              `no argument "nam"`,
		`{"nam":"x","y":1}`:        "3 errors",
		`{"name":""}`:              "The argument name of a.tool must not be empty",
		`{"name":"x","n":1.5}`:     "The argument n of a.tool must be an integer, not a number",
		`{"name":"x","n":1,"n":2}`: `The call of a.tool has the key "n" twice in one object`,
		`{"name":"x","list":[1]}`:  "The argument list[0] of a.tool must be an object, not an integer",
	} {
		_, f := c.Check(json.RawMessage(given))
		if f == nil || f.Type != fault.Usage || !strings.Contains(f.Error(), want) {
			t.Errorf("%s: %v", given, f)
		}
	}
	if _, f := NewChecker("x", json.RawMessage(`7`)).Check(nil); f == nil || f.Type != fault.Internal {
		t.Errorf("an invalid schema: %v", f)
	}
}

// TestEveryKeywordHasItsWords holds the whole message for a value that does not fit, followed by the suggestions.
func TestEveryKeywordHasItsWords(t *testing.T) {
	for _, tc := range []struct{ schema, value, want string }{
		{`{"type":"string"}`, `7`, `be a string, not an integer`},
		{`{"type":["string","null"]}`, `[]`, `be a string or null, not an array`},
		{`{"type":"integer"}`, `"1500"`, `be an integer, not a string. Write it as a number, without quotes`},
		{`{"type":"integer"}`, `"1.5"`, `be an integer, not a string`},
		{`{"type":"integer"}`, `"+7"`, `be an integer, not a string`},
		{`{"type":"integer"}`, `"many"`, `be an integer, not a string`},
		{`{"type":"integer"}`, `"7 has type \"string\""`, `be an integer, not a string`},
		{`{"type":"number"}`, `"-1.5e3"`, `be a number, not a string. Write it as a number, without quotes`},
		{`{"type":"boolean"}`, `"true"`, `be a boolean, not a string. Write true without quotes`},
		{`{"type":"boolean"}`, `1e400`, `be a boolean, not an integer`},
		{`{"enum":["fast","full",7]}`, `"fasd"`, `be one of "fast", "full", 7. Did you mean "fast"?`},
		{`{"enum":[1,2,3,4,5,6,7,8,9,10,11,12]}`, `{"a":[1]}`, `be one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, … and 2 more`},
		{`{"const":{"a":1}}`, `7`, `be {"a":1}`},
		{`{"minLength":1}`, `""`, `not be empty`},
		{`{"minLength":3}`, `"ab"`, `have at least 3 characters`},
		{`{"maxLength":3}`, `"abcd"`, `have at most 3 characters`},
		{`{"pattern":"^[a-z]+$"}`, `"A: b"`, `match the regular expression ^[a-z]+$`},
		{`{"minimum":1}`, `0`, `be at least 1`},
		{`{"maximum":1000}`, `1e400`, `be at most 1000`},
		{`{"minimum":-1.5}`, `-1e400`, `be at least -1.5`},
		{`{"exclusiveMinimum":0}`, `0`, `be more than 0`},
		{`{"exclusiveMaximum":1}`, `1`, `be less than 1`},
		{`{"multipleOf":5}`, `7`, `be a multiple of 5`},
		{`{"minItems":1}`, `[]`, `not be empty`},
		{`{"minItems":2}`, `[1]`, `have at least 2 items`},
		{`{"maxItems":1}`, `[1,2]`, `have at most 1 items`},
		{`{"uniqueItems":true}`, `[1,1]`, `not have the same item twice`},
		{`{"minProperties":2}`, `{}`, `have at least 2 members`},
		{`{"maxProperties":1}`, `{"a":1,"b":2}`, `have at most 1 members`},
		{`{"required":["a","b"]}`, `{}`, `have "a", "b"`},
		{`{"properties":{"a":{}},"additionalProperties":false}`, `{"b: c":1}`, `not have "b: c"`},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `7`, `fit one of the forms that its schema has`},
		{`{"oneOf":[{"type":"string"}]}`, `7`, `fit one of the forms that its schema has`},
		{`{"oneOf":[{"type":"integer"},{"minimum":1}]}`, `7`, `fit only one of the forms that its schema has, and fits several`},
		{`{"not":{"type":"integer"}}`, `7`, `fit its schema, by the keyword "not"`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `fit its schema, by the keyword "dependentRequired"`},
		{`{"$ref":"#/$defs/short"}`, `"abc"`, `have at most 2 characters`},
	} {
		c := NewChecker("tool", json.RawMessage(`{"type":"object","properties":{"x/y":`+tc.schema+`},"$defs":{"short":{"maxLength":2}}}`))
		_, f := c.Check(json.RawMessage(`{"x/y":` + tc.value + `}`))
		if f == nil {
			t.Errorf("%s: %s is accepted", tc.schema, tc.value)
			continue
		}
		got := strings.Join(append([]string{f.Error()}, f.Suggestions...), ". ")
		want := "The argument x/y of tool must " + tc.want
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, %s: %s", tc.schema, tc.value, diff)
		}
	}
}

func TestWhatCameIsRepeatedShort(t *testing.T) {
	long := strings.Repeat("y", 1_000_000)
	var many strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&many, `"k%d":%d,`, i, i)
	}
	c := NewChecker("tool", json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"a":{"enum":["x"]},"b":{"type":"integer"},
		"c":{"additionalProperties":false},"d":{"maxLength":1},"e":{"pattern":"^z"}}}`))
	for _, given := range []string{
		`{"` + long + `":1}`, `{` + many.String() + `"last":1}`, `{"a":"` + long + `"}`, `{"b":"` + long + `"}`, `{"c":{` + many.String() + `"last":1}}`,
		`{"d":"` + long + `"}`, `{"e":"` + long + `"}`,
	} {
		_, f := c.Check(json.RawMessage(given))
		if f == nil {
			t.Fatalf("%.40s is accepted", given)
		}
		if text, _ := json.Marshal(f); len(text) > 5000 {
			t.Errorf("%.40s: %d bytes: %.200s", given, len(text), text)
		}
	}
	_, f := c.Check(json.RawMessage(`{` + many.String() + `"last":1}`))
	if text := f.Error(); !strings.HasPrefix(text, "The arguments of tool: 100001 errors\n") || !strings.HasSuffix(text, "… and 99991 more unknown arguments") || len(f.Errors) != 11 {
		t.Error(text)
	}
}

func FuzzCheck(f *testing.F) {
	c := NewChecker("a.tool", json.RawMessage(schema))
	for _, given := range []string{"", "{}", `{"name":"x"}`, `{"name":"x","n":1e400}`, `{"a":1,"a":2}`, "{\"name\":\"\xff\"}", strings.Repeat("[", 100)} {
		f.Add([]byte(given))
	}
	fits, wrong := jsonschema.Compile(json.RawMessage(schema))
	if wrong != nil {
		f.Fatal(wrong)
	}
	f.Fuzz(func(t *testing.T, given []byte) {
		if got, wrong := c.Check(given); wrong == nil && (!json.Valid(got) || !fits.Fits(got)) {
			t.Errorf("%q is accepted as %q", given, got)
		}
	})
}
