package rawjson

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestQuoteIsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching("[\x00-\x7f<>&\u2028é]*")).Draw(t, "text")
		if !utf8.ValidString(text) {
			t.Skip()
		}
		var back string
		if err := json.Unmarshal(Quote(text), &back); err != nil || back != text {
			t.Fatalf("%q became %s (%v)", text, Quote(text), err)
		}
	})
}

func TestMarshalEscapesNoHTML(t *testing.T) {
	got, err := Marshal(map[string]any{"a": "<b> & c", "n": json.RawMessage("1.50")})
	if err != nil || string(got) != `{"a":"<b> & c","n":1.50}` {
		t.Errorf("%s %v", got, err)
	}
}

func TestKindAndPath(t *testing.T) {
	if got := Kind(json.RawMessage(" [1]")); got != "a list" {
		t.Errorf("with space before it: %s", got)
	}
	for raw, want := range map[string]string{`{}`: "an object", `[1]`: "a list", `"x"`: "text", `true`: "true or false", `null`: "null", `-1`: "a number", "": "nothing"} {
		if got := Kind(json.RawMessage(raw)); got != want {
			t.Errorf("Kind(%s) = %s", raw, got)
		}
	}
	if got := JoinPath(JoinPath(JoinPath("", "nodes"), "a.b"), "c"); got != `nodes["a.b"].c` {
		t.Error(got)
	}
	if got := Compact(json.RawMessage("{ \"a\" : 1.0 }")); string(got) != `{"a":1.0}` || strings.Contains(string(Compact(json.RawMessage("{bad"))), " ") {
		t.Errorf("%s", got)
	}
}
