package template

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

func TestFunctionsAreParsed(t *testing.T) {
	for in, want := range map[string]string{
		"${a.b | lines}":                     "<a.b | lines>",
		"${a.b|trim|lines}":                  "<a.b | trim | lines>",
		"${a | json ?? b[0] | trim ?? \"\"}": `<a | json ?? b[0] | trim ?? "">`,
		"${a ?? b | lines}":                  "<a ?? b | lines>",
		"${a[${i}] | lines}!":                "<a[${i}] | lines> '!'",
		"$${a | lines}":                      "'${a | lines}'",
		"${a | upper}":                       "!${a | upper}",
		"${a | }":                            "!${a | }",
		"${a | lines | upper}":               "!${a | lines | upper}",
		"${a || lines}":                      "!${a || lines}",
		"${a | linesman}":                    "!${a | linesman}",
		"${a | lines b}":                     "!${a | lines b}",
		"${a | lines.x}":                     "!${a | lines.x}",
		`${a ?? "x" | trim}`:                 `!${a ?? "x" | trim}`,
		"${a" + strings.Repeat(" | trim", maxCalls) + "}":   "<a" + strings.Repeat(" | trim", maxCalls) + ">",
		"${a" + strings.Repeat(" | trim", maxCalls+1) + "}": "!${a" + strings.Repeat(" | trim", maxCalls+1) + "}",
	} {
		parts := Parse(in)
		if got := spell(parts); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
		if len(parts) == 1 && parts[0].Expr != nil && strings.Contains(in, "|") {
			if _, ok := parts[0].Expr.Ref(); ok {
				t.Errorf("%s is taken for a reference", in)
			}
		}
	}
	for in, want := range map[string]string{"${a | upper}": "upper", "${a | lines ?? b|x-y}": "x-y", "${a | lines | first}": "first", "${a b}": "", "${a | lines b}": "", `${a ?? "x" | trim}`: "", "${": ""} {
		if got, ok := UnknownFunction(in); got != want && ok || ok != (want != "") {
			t.Errorf("%s: %q %v, want %q", in, got, ok, want)
		}
	}
}

func TestFunctions(t *testing.T) {
	values := scope(t, `{"a":{"crlf":"a\r\nb\r\n","text":" a\n\n  b","empty":"","line":"one\n","json":" {\"k\": [1.50]} \n","spelled":"\"[1]\"","list":["a"],"n":1,"none":null,"html":"<&>\u2028"}}`)
	for in, want := range map[string]string{
		`${a.text | lines}`:                 `[" a","","  b"]`,
		`${a.crlf | lines}`:                 `["a","b"]`,
		`${a.empty | lines}`:                `[]`,
		`${a.line | lines}`:                 `["one"]`,
		`${a.html | lines}`:                 `["<&>` + "\u2028" + `"]`,
		`${a.line | trim}`:                  `"one"`,
		`${a.text | trim | lines}`:          `["a","","  b"]`,
		`${a.json | json}`:                  `{"k": [1.50]}`,
		`${a.json | trim | json}`:           `{"k": [1.50]}`,
		`${a.spelled | json}`:               `"[1]"`,
		`<${a.text | trim | lines}>`:        `"<[\"a\",\"\",\"  b\"]>"`,
		`${a.none | lines}`:                 `null`,
		`${a.none | lines ?? "none"}`:       `"none"`,
		`${a.gone | lines ?? []}`:           `[]`,
		`${b.gone | json ?? a.line | trim}`: `"one"`,
		`{"x":["${a.json | json}","${a.spelled | json}","${a.spelled | trim}","${a.spelled}"]}`: `{"x":[{"k": [1.50]},"[1]","\"[1]\"","\"[1]\""]}`,
	} {
		raw := rawjson.Quote(in)
		if in[0] == '{' {
			raw = json.RawMessage(in)
		}
		got, missed := Resolve(raw, values)
		if string(got) != want || len(missed) > 0 {
			t.Errorf("%s: %s %v, want %s", in, got, missed, want)
		}
	}
	for in, want := range map[string]string{
		`${a.n | lines}`:              "lines takes text, but ${a.n} is a number",
		`${a.list | lines ?? "x"}`:    "lines takes text, but ${a.list} is a list",
		`${a.text | lines | trim}`:    "trim takes text, but ${a.text | lines} is a list",
		`${a.text | json}`:            "${a.text} is text that is not JSON",
		`${a.empty | json ?? "none"}`: "${a.empty} is text that is not JSON",
		`${a.gone | json}`:            "has no key gone",
	} {
		got, missed := Resolve(rawjson.Quote(in), values)
		if len(missed) != 1 || !strings.Contains(missed[0].Reason, want) || string(got) != string(rawjson.Quote(in)) {
			t.Errorf("%s: %s %v, want %s", in, got, missed, want)
		}
	}
}

// Joined by newlines, the lines are the text again.
func TestLinesLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab\n \"é\\"))).Draw(t, "text")
		var got []string
		if err := json.Unmarshal(lines(text), &got); err != nil {
			t.Fatal(err)
		}
		back := strings.Join(got, "\n")
		if strings.HasSuffix(text, "\n") {
			back += "\n"
		}
		if back != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
