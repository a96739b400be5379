package workflow

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func written(s string) Given { return Given{Text: s} }

func given(s string) Given { return Given{JSON: json.RawMessage(s)} }

func TestResolveInputs(t *testing.T) {
	w := &Workflow{Inputs: map[string]Input{
		"s": {Type: "string", Required: new(bool)}, "n": {Type: "number", Required: new(bool)}, "i": {Type: "integer", Required: new(bool)},
		"b": {Type: "boolean", Required: new(bool)}, "o": {Type: "object", Required: new(bool)}, "a": {Type: "array", Required: new(bool)},
		"x": {Type: "any", Required: new(bool)}, "d": {Type: "string", Default: json.RawMessage(`"dflt"`)}, "must": {Type: "string"},
	}}
	for _, c := range []struct {
		name string
		in   Given
		want string // the value or, after a !, a part of the suggestion
	}{
		{"s", written("42"), `"42"`}, {"s", given("42"), `"42"`}, {"s", written(""), `""`}, {"s", given(`{"a": 1}`), `"{\"a\":1}"`}, {"s", given("null"), "null"}, {"s", written(" a\n"), `" a\n"`},
		{"s", given("true"), `"true"`}, {"s", given("1.50"), `"1.50"`}, {"s", written("\xff"), "!base64"}, {"must", written(""), `""`}, {"d", given("null"), "null"},
		{"n", written("1.50"), "1.50"}, {"n", written("9007199254740993"), "9007199254740993"}, {"n", written(" -2e3 "), "-2e3"}, {"n", given(`"7"`), "7"}, {"n", written("12345678901234567890123"), "12345678901234567890123"},
		{"n", written("abc"), "!Write a number, such as 1.5"}, {"n", written(""), "!Write a number"}, {"n", given("true"), "!Write a number"}, {"n", written("1,5"), "!Write a number"}, {"n", written("NaN"), "!Write a number"},
		{"n", written("007"), "!without leading zeros"}, {"n", written(".5"), "!a digit before the decimal point"}, {"n", written("5."), "!a digit after"}, {"n", written("+5"), "!without the plus"}, {"n", written("0x10"), "!in decimal"},
		{"n", written(strings.Repeat("1", 1001)), "!Write a number"},
		{"i", written("7"), "7"}, {"i", written("7.0"), "7.0"}, {"i", written("70e-1"), "70e-1"}, {"i", written("12345678901234567890123"), "12345678901234567890123"}, {"i", given("7.0"), "7.0"},
		{"i", written("7.5"), "!Write a whole number"}, {"i", written("1e999999999"), "!Write a whole number"}, {"i", written("0x10"), "!in decimal"}, {"i", given("[7]"), "!Write a whole number"},
		{"b", written("Yes"), "true"}, {"b", written("0"), "false"}, {"b", written("TRUE"), "true"}, {"b", written("no"), "false"}, {"b", given("false"), "false"}, {"b", given("1"), "true"}, {"b", given(`"true"`), "true"},
		{"b", written("maybe"), "!Write true or false"}, {"b", written(""), "!Write true or false"}, {"b", given("2"), "!Write true or false"},
		{"o", written(`{"k":[1]}`), `{"k":[1]}`}, {"o", given(`{"k": 1}`), `{"k": 1}`}, {"o", given(`"{\"k\":1}"`), `{"k":1}`},
		{"o", written("[1]"), "!Write a JSON object"}, {"o", written("k=v"), "!Write a JSON object"}, {"o", written("{k: v}"), "!Write a JSON object"}, {"o", given("[1]"), "!Write a JSON object"},
		{"a", written("[1, 2]"), "[1, 2]"}, {"a", given(` [1]`), "[1]"}, {"a", given(`"[1]"`), "[1]"}, {"a", written("[]"), "[]"},
		{"a", written("1,2"), "!Write a JSON list: [1, 2]"}, {"a", written("a, b"), `!Write a JSON list: ["a", "b"]`}, {"a", written("a"), `!Write a JSON list, such as`}, {"a", written("[1"), `!Write a JSON list, such as`}, {"a", given("{}"), "!Write a JSON list"},
		{"x", written("5"), "5"}, {"x", written("true"), "true"}, {"x", written("FALSE"), "false"}, {"x", written("hello"), `"hello"`}, {"x", written("{bad"), `"{bad"`}, {"x", written("[1]"), "[1]"}, {"x", given(`"5"`), `"5"`}, {"x", written(""), `""`},
		{"x", written("null"), `"null"`}, {"x", written("007"), `"007"`}, {"x", given(""), "!"},
	} {
		all := map[string]Given{c.name: c.in}
		if c.name != "must" {
			all["must"] = written("x")
		}
		got, err := w.Resolve(all, Supply{})
		refused, isRefused := strings.CutPrefix(c.want, "!")
		switch f := faultOf(err); {
		case isRefused && (err == nil || f.Type != fault.Validation || f.Path != "inputs."+c.name || !strings.Contains(strings.Join(f.Suggestions, ""), refused)):
			t.Errorf("%s=%+v: %v %v %s, want %s", c.name, c.in, err, f.Suggestions, got[c.name].JSON, c.want)
		case !isRefused && (err != nil || string(got[c.name].JSON) != c.want):
			t.Errorf("%s=%+v: %s %v, want %s", c.name, c.in, got[c.name].JSON, err, c.want)
		}
	}
}

func TestResolveOrderAndFaults(t *testing.T) {
	w := &Workflow{Inputs: map[string]Input{
		"given": {Type: "string"}, "env": {Type: "string"}, "set": {Type: "integer"}, "dflt": {Type: "string", Default: json.RawMessage(`"d"`)}, "opt": {Type: "string", Required: new(bool)},
	}}
	has := func(m map[string]string) func(string) (string, bool) {
		return func(n string) (string, bool) { s, ok := m[n]; return s, ok }
	}
	from := Supply{Environment: has(map[string]string{"given": "no", "env": "from env"}), Settings: has(map[string]string{"env": "no", "set": "3"})}
	got, err := w.Resolve(map[string]Given{"given": {Text: "mine"}}, from)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]Value{
		"given": {json.RawMessage(`"mine"`), "given"}, "env": {json.RawMessage(`"from env"`), "environment"}, "set": {json.RawMessage(`3`), "settings"},
		"dflt": {json.RawMessage(`"d"`), "default"}, "opt": {json.RawMessage(`null`), "unset"},
	} {
		if string(got[name].JSON) != string(want.JSON) || got[name].Origin != want.Origin {
			t.Errorf("%s = %s from %s", name, got[name].JSON, got[name].Origin)
		}
	}
	_, err = w.Resolve(map[string]Given{"gvien": {Text: "x"}, "set": {Text: "x"}, "env": {JSON: json.RawMessage("null")}}, Supply{})
	f := fault.From(err)
	if len(f.Errors) != 4 || strings.Join(f.Missing, " ") != "env given" || !strings.Contains(f.Error(), `no input "gvien"`) {
		t.Errorf("%v, missing %v", f, f.Missing)
	}
	_, err = w.Resolve(nil, Supply{Environment: has(map[string]string{"given": "x", "env": "x", "set": "soon"})})
	if f := faultOf(err); !strings.Contains(f.Error(), `"set" must be of type integer, and soon from the environment is not`) {
		t.Error(f)
	}
}

// TestSecretsAreNotTold checks that no error contains a part of a secret's value.
func TestSecretsAreNotTold(t *testing.T) {
	for _, typ := range InputTypes() {
		w := &Workflow{Inputs: map[string]Input{"x": {Type: typ, Secret: true}}}
		for _, g := range []Given{written("hush,hush"), written("0xhush"), written("007"), given(`["hush"]`), given(`{"hush": 7}`)} {
			_, err := w.Resolve(map[string]Given{"x": g}, Supply{})
			if f := faultOf(err); strings.Contains(f.Error()+strings.Join(f.Suggestions, ""), "hush") || strings.Contains(f.Error(), "007") {
				t.Errorf("%s: %v %v", typ, f, f.Suggestions)
			}
		}
	}
}

// TestResolveAnything checks that a value has the declared type, or that the error names the input.
func TestResolveAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom(InputTypes()).Draw(t, "type")
		s := rapid.OneOf(rapid.String(), rapid.StringMatching(`[-+]?[0-9.e,]{0,8}|\[[0-9,]*\]|\{("a":[0-9])?\}|true|no|null|[01]`)).Draw(t, "text")
		g := written(s)
		if rapid.Bool().Draw(t, "JSON") && json.Valid([]byte(s)) {
			g = given(s)
		}
		resolved(t, typ, g)
	})
}

func resolved(t interface{ Fatalf(string, ...any) }, typ string, g Given) {
	w := &Workflow{Inputs: map[string]Input{"x": {Type: typ, Required: new(bool)}}}
	got, err := w.Resolve(map[string]Given{"x": g}, Supply{})
	if err != nil {
		if f := faultOf(err); f.Path != "inputs.x" || f.Message == "" || !utf8.ValidString(f.Message) {
			t.Fatalf("%+v", f)
		}
		return
	}
	v := got["x"].JSON
	if !json.Valid(v) || !utf8.Valid(v) {
		t.Fatalf("%q of type %s became %q", g.Text, typ, v)
	}
	kind := map[byte]string{'"': "string", '{': "object", '[': "array", 't': "boolean", 'f': "boolean", 'n': "null"}[v[0]]
	switch {
	case kind == "":
		kind = "number"
	case kind == "null" && g.isNull():
		return
	}
	if typ != "any" && kind != typ && (kind != "number" || typ != "integer") {
		t.Fatalf("%q of type %s became %s", g.Text, typ, v)
	}
	again, err := w.Resolve(map[string]Given{"x": {JSON: v}}, Supply{})
	if err != nil || string(again["x"].JSON) != string(v) {
		t.Fatalf("%s became %s: %v", v, again["x"].JSON, err)
	}
}
