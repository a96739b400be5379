package toolargs

import (
	"testing"

	"github.com/tidwall/gjson"
)

func TestFromText(t *testing.T) {
	for _, tc := range []struct{ schema, text, want string }{
		{`{"type":"string"}`, "42", `"42"`},
		{`{"type":"string"}`, " x ", `" x "`},
		{`{"type":"integer"}`, "42", "42"},
		{`{"type":"integer"}`, "9007199254740993", "9007199254740993"},
		{`{"type":"integer"}`, "4.2", ""},
		{`{"type":"number"}`, "4.20", "4.20"},
		{`{"type":"boolean"}`, "Yes", "true"},
		{`{"type":"boolean"}`, "0", "false"},
		{`{"type":"boolean"}`, "maybe", ""},
		{`{"type":["string","null"]}`, "null", `"null"`},
		{`{"type":"array"}`, "[1, 2]", "[1, 2]"},
		{`{"type":"array"}`, "1,2", ""},
		{`{"anyOf":[{"type":"object"},{"type":"null"}]}`, `{"a":1}`, `{"a":1}`},
		{`{"anyOf":[{"type":"object"},{"type":"null"}]}`, "null", "null"},
		{`{}`, "7", "7"},
		{`{}`, "seven", `"seven"`},
		{``, "[1]", "[1]"},
	} {
		got, ok := FromText(gjson.Parse(tc.schema), tc.text)
		if string(got) != tc.want || ok != (tc.want != "") {
			t.Errorf("%s %q: got %s, %v", tc.schema, tc.text, got, ok)
		}
	}
}

func TestPropertyIsNoPath(t *testing.T) {
	schema := gjson.Parse(`{"properties":{"a.b":{"type":"string"},"a":{"properties":{"b":{"type":"null"}}}}}`)
	if got := Property(schema, "a.b").Get("type").Str; got != "string" {
		t.Errorf("got %q", got)
	}
	if Property(schema, "c").Exists() {
		t.Error("there is no c")
	}
}
