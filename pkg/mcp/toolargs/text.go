package toolargs

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Property returns the schema of the named property in that of an object. It does not exist if the object has no such property.
// The name is not a path: it may have dots.
func Property(schema gjson.Result, name string) (found gjson.Result) {
	schema.Get("properties").ForEach(func(key, p gjson.Result) bool {
		if key.Str == name {
			found = p
		}
		return key.Str != name
	})
	return found
}

// Required returns the names of the properties that the schema of an object requires.
func Required(schema gjson.Result) (names []string) {
	required := schema.Get("required")
	if !required.IsArray() { // a boolean in draft-03
		return nil
	}
	for _, name := range required.Array() {
		if name.Type == gjson.String {
			names = append(names, name.Str)
		}
	}
	return names
}

// Types returns the JSON types that a schema allows, or nil if it allows every type.
func Types(schema gjson.Result) []string {
	var names []string
	if t := schema.Get("type"); t.IsArray() {
		for _, name := range t.Array() {
			names = append(names, name.Str)
		}
	} else if t.Exists() {
		names = append(names, t.Str)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		for _, s := range schema.Get(key).Array() {
			names = append(names, Types(s)...)
		}
	}
	return names
}

// FromText returns text from a command line as a JSON value of a type that a property's schema allows. If the schema allows
// several types, text that reads as a boolean, a number, an object or a list becomes that, and else a string. It returns false
// if no type fits.
func FromText(property gjson.Result, text string) (json.RawMessage, bool) {
	allowed := Types(property)
	may := func(name string) bool { return len(allowed) == 0 || slices.Contains(allowed, name) }
	trimmed := strings.TrimSpace(text)
	word := strings.ToLower(trimmed)
	parsed := gjson.Result{}
	if json.Valid([]byte(trimmed)) {
		parsed = gjson.Parse(trimmed)
	}
	switch {
	case may("boolean") && (word == "true" || word == "false"):
		return json.RawMessage(word), true
	case parsed.Type == gjson.Number && (may("number") || may("integer") && !strings.ContainsAny(trimmed, ".eE")),
		parsed.IsObject() && may("object"), parsed.IsArray() && may("array"):
		return json.RawMessage(trimmed), true
	case may("string"):
		return rawjson.Quote(text), true
	case may("boolean") && (word == "yes" || word == "1"):
		return json.RawMessage("true"), true
	case may("boolean") && (word == "no" || word == "0"):
		return json.RawMessage("false"), true
	case may("null") && trimmed == "null":
		return json.RawMessage(trimmed), true
	}
	return nil, false
}
