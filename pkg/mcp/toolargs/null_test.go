package toolargs

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNullIsLeftOut holds that null counts as an argument that is not given, only where the argument's schema does not allow
// it, and only at the top.
func TestNullIsLeftOut(t *testing.T) {
	c := NewChecker("t", json.RawMessage(`{"type":"object","required":["name"],"additionalProperties":false,"$defs":{"text":{"type":"string"}},"properties":{
		"name":{"type":"string"},"n":{"type":"integer"},"mode":{"enum":["a","b"]},"a/b.c~":{"$ref":"#/$defs/text"},"never":false,
		"maybe":{"type":["string","null"]},"any":{},"anything":true,"choice":{"anyOf":[{"type":"string"},{"type":"null"}]},
		"inputs":{"type":"object"}}}`))
	for given, want := range map[string]string{
		`{"name":"x","n":null}`:                                              `{"name":"x"}`,
		`{"n" : null, "name":"x","mode":null}`:                               `{"name":"x"}`,
		`{"name":"<ü>","a/b.c~":null,"never":null}`:                          `{"name":"<ü>"}`,
		`{"name":"x","n":9007199254740993}`:                                  `{"name":"x","n":9007199254740993}`,
		`{"name":"x","inputs":{"b": null,"n":1.50}}`:                         `{"name":"x","inputs":{"b": null,"n":1.50}}`,
		`{"name":"x","inputs":{"b":null},"n":null}`:                          `{"inputs":{"b":null},"name":"x"}`,
		`{"name":"x","maybe":null,"any":null,"anything":null,"choice":null}`: `{"name":"x","maybe":null,"any":null,"anything":null,"choice":null}`,
	} {
		got, f := c.Check(json.RawMessage(given))
		if diff := cmp.Diff(want, string(got)); f != nil || diff != "" {
			t.Errorf("%s: %v %s", given, f, diff)
		}
	}
	for given, want := range map[string]string{
		`{"list":[null]}`:     "The argument list[0] of inner must be a string, not null",
		`{"one":{"of":null}}`: "The argument one.of of inner must be {\"a\":1}",
	} {
		inner := NewChecker("inner", json.RawMessage(`{"type":"object","properties":{"list":{"items":{"type":"string"}},"one":{"properties":{"of":{"const":{"a":1}}}}}}`))
		if _, f := inner.Check(json.RawMessage(given)); f == nil || f.Error() != want {
			t.Errorf("%s: %v", given, f)
		}
	}
	if _, f := c.Check(json.RawMessage(`{"name":null}`)); f == nil || len(f.Missing) != 1 || f.Missing[0] != "name" {
		t.Errorf("a required argument that is null: %v", f)
	}
	if _, f := c.Check(json.RawMessage(`{"name":"x","nam":null}`)); f == nil || len(f.Available) == 0 {
		t.Errorf("an unknown argument that is null: %v", f)
	}
}
