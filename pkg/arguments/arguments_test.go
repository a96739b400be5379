package arguments

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/fault"
)

const schema = `{"type":"object","properties":{"name":{"type":"string","minLength":1},"n":{"type":"integer"},"list":{"type":"array","items":{"type":"object"}}},
	"required":["name"],"additionalProperties":false}`

func TestCheckGivesTheCallersBytes(t *testing.T) {
	c := NewChecker("a.tool", json.RawMessage(schema))
	for _, given := range []string{`{"name":"x"}`, "{ \"name\" : \"\\u00fc\", \"n\":9007199254740993 }"} {
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
		`[]`:                      "must be a JSON object",
		`7`:                       "must be a JSON object",
		`{"name":`:                "cannot be read",
		`{}`:                      `"name" of a.tool is missing`,
		`{"nam":"x"}`:             `no argument "nam"`,
		`{"nam":"x","y":1}`:       "3 errors",
		`{"name":""}`:             "The argument name of a.tool does not fit",
		`{"name":"x","n":1.5}`:    "The argument n of a.tool does not fit",
		`{"name":"x","list":[1]}`: "The argument list[] of a.tool does not fit",
	} {
		_, f := c.Check(json.RawMessage(given))
		if f == nil || f.Type != fault.Usage || !strings.Contains(f.Error(), want) {
			t.Errorf("%s: %v", given, f)
		}
	}
	if _, f := NewChecker("x", json.RawMessage(`7`)).Check(nil); f == nil || f.Type != fault.Internal {
		t.Errorf("a schema that is none: %v", f)
	}
}

func TestFit(t *testing.T) {
	for document, want := range map[string]bool{`{"name":"x"}`: true, `{"name":7}`: false, `{`: false, `7`: false} {
		if got := Fit(json.RawMessage(schema), json.RawMessage(document)); got != want {
			t.Errorf("%s: %v", document, got)
		}
	}
	if Fit(json.RawMessage(`{"type":`), json.RawMessage(`{}`)) {
		t.Error("something fits a schema that is none")
	}
}

func FuzzCheck(f *testing.F) {
	c := NewChecker("a.tool", json.RawMessage(schema))
	for _, given := range []string{"", "{}", `{"name":"x"}`, `{"name":"x","n":1e400}`, `{"a":1,"a":2}`, "{\"name\":\"\xff\"}", strings.Repeat("[", 100)} {
		f.Add([]byte(given))
	}
	f.Fuzz(func(t *testing.T, given []byte) {
		if got, wrong := c.Check(given); wrong == nil && (!json.Valid(got) || !Fit(json.RawMessage(schema), got)) {
			t.Errorf("%q is let through as %q", given, got)
		}
	})
}
