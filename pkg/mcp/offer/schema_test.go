package offer

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/rawjson/jsonschema"
)

func TestInputSchemas(t *testing.T) {
	long := `{"type":"object","properties":{"x":{"type":"string","description":"` + strings.Repeat("x", maxSchema) + `"}}}`
	for _, c := range []struct{ source, shown, accepts, refuses string }{
		{`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`,
			`{"additionalProperties":false,"properties":{"n":{"type":"integer"}},"required":["n"],"type":"object"}`, `{"n":1}`, `{"n":"x"}`},
		{``, anyArguments, `{"x":1}`, ``},
		{`null`, anyArguments, `{"x":1}`, ``},
		{`{"type":"array"}`, anyArguments, `{"x":1}`, ``},
		{`{"properties":5}`, anyArguments, `{"x":1}`, ``},
		{`{"type":"object","properties":{"x":{"$ref":"#/dead"}}}`, anyArguments, `{"x":1}`, ``},
		{`{"type":["object","null"]}`, anyArguments, `{"x":1}`, ``},
		{`true`, anyArguments, `{"x":1}`, ``},
		{`{"properties":{"x":true}}`, `{"properties":{"x":{}},"type":"object"}`, `{"x":1}`, ``},
		{`{"type":"object","oneOf":[{"required":["a"]},{"required":["b"]}],"additionalProperties":false,"properties":{"a":{},"b":{}}}`,
			`{"additionalProperties":true,"properties":{"a":{},"b":{}},"type":"object"}`, `{"a":1}`, `{"a":1,"b":2}`},
		{`{"$ref":"#/$defs/x","$defs":{"x":{"type":"object","required":["k"]}}}`,
			`{"$defs":{"x":{"type":"object","required":["k"]}},"additionalProperties":true,"type":"object"}`, `{"k":1}`, `{}`},
		{`{"type":"object","properties":{"größe":{"type":"integer"},"n":{"type":"integer"}},"required":["größe","n"],"additionalProperties":false}`,
			`{"additionalProperties":true,"properties":{"n":{"type":"integer"}},"required":["n"],"type":"object"}`, `{"größe":1,"n":1}`, `{"n":1}`},
		{`{"type":"object","properties":{"a b":{"type":"integer"}},"required":["a b"]}`, `{"additionalProperties":true,"properties":{},"type":"object"}`, `{"a b":1}`, `{"a b":"x"}`},
		{`{"type":"object","properties":null,"required":null,"additionalProperties":null}`, `{"type":"object"}`, `{"x":1}`, ``},
		{`{"type":"object","properties":{"x":null}}`, anyArguments, `{"x":1}`, ``},
		{`{"properties":{"x":{"description":"half a \ud83d character"}}}`, "{\"properties\":{\"x\":{\"description\":\"half a \uFFFD character\"}},\"type\":\"object\"}", `{"x":1}`, ``},
		{`{"properties":{"x":` + strings.Repeat(`{"items":`, 100) + `{}` + strings.Repeat(`}`, 100) + `}}`, anyArguments, `{"x":1}`, ``},
		{long, anyArguments, `{"x":"a"}`, `{"x":1}`},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"x":{"type":"string"}}}`,
			`{"properties":{"x":{"type":"string"}},"type":"object"}`, `{"x":"a"}`, `{"x":1}`},
	} {
		l := Listing{InputSchema: json.RawMessage(c.source)}
		if c.source == "" {
			l.InputSchema = nil
		}
		shown, checked := l.InputSchemas()
		if string(shown) != c.shown {
			t.Errorf("%.80s is shown as %s, not %s", c.source, shown, c.shown)
		}
		s, f := jsonschema.Compile(checked)
		if f != nil {
			t.Fatalf("%.80s: %v", c.source, f)
		}
		if v := s.Check(json.RawMessage(c.accepts)); v != nil {
			t.Errorf("%.80s refuses %s: %v", c.source, c.accepts, v)
		}
		if c.refuses != "" && s.Check(json.RawMessage(c.refuses)) == nil {
			t.Errorf("%.80s accepts %s", c.source, c.refuses)
		}
	}
}

func TestPortable(t *testing.T) {
	for schema, want := range map[string]string{
		`{"properties":{"a":true,"b":false,"c":{"items":true,"default":true}},"additionalProperties":false}`: `{"additionalProperties":false,"properties":{"a":{},"b":{"not":{}},"c":{"default":true,"items":{}}}}`,
		`{"allOf":[true,{"patternProperties":{"x":false}}],"enum":[true]}`:                                   `{"allOf":[{},{"patternProperties":{"x":{"not":{}}}}],"enum":[true]}`,
		`{"items":[true,1.0],"const":{"properties":{"a":true}}}`:                                             `{"const":{"properties":{"a":true}},"items":[{},1.0]}`,
		`{"properties":{"true":{"type":"string"}}, "x":1.0}`:                                                 `{"properties":{"true":{"type":"string"}},"x":1.0}`,
	} {
		if got := portable(json.RawMessage(schema)); string(got) != want {
			t.Errorf("%s becomes %s, not %s", schema, got, want)
		}
	}
	if portable(nil) != nil {
		t.Error("nothing becomes something")
	}
}

func TestPlain(t *testing.T) {
	for value, want := range map[string]string{
		`{"a":"[[\"["}`: `{"a":"[[\"["}`, `"\ud83d\ude00 \u0041"`: `"😀 A"`, `["\udc00",1.0,12345678901234567890]`: "[\"\uFFFD\",1.0,12345678901234567890]",
		strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth): strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth), strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1): "",
	} {
		if got := Plain(json.RawMessage(value)); string(got) != want {
			t.Errorf("%s becomes %s", value, got)
		}
	}
}

func TestOutputs(t *testing.T) {
	l := Listing{OutputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"number","description":"What."},"b":{}},"required":["a"]}`)}
	if got := string(l.Outputs()); got != `{"type":"object","properties":{"a":{"description":"What."},"b":{}}}` {
		t.Error(got)
	}
	for _, none := range []string{``, `{}`, `5`, `{"properties":[]}`} {
		l.OutputSchema = json.RawMessage(none)
		if got := l.Outputs(); got != nil {
			t.Errorf("%s: %s", none, got)
		}
	}
}
