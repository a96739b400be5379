package template

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

func scope(t interface{ Fatal(...any) }, doc string) Scope {
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(doc), &m); err != nil {
		t.Fatal(err)
	}
	return func(root string) (json.RawMessage, bool) { v, ok := m[root]; return v, ok }
}

func TestResolve(t *testing.T) {
	doc := `{
		"a": {"stdout":"{\"s\":\"x\",\"n\":9007199254740993,\"f\":1.50,\"z\":null,\"l\":[1,{\"k\":\"v\"},[2,3]]}", "exit_code":0,
		      "k.dot":"dotted", "*":"star", "@this":"at", "#":"hash", "a|b":"pipe", "":"empty", "0":"zero", "back\\slash":"bs", "list":"[1]"},
		"who": "Ann", "text": "[1]", "n": 1.0, "yes": true, "nothing": null, "big-list": [10,[20,21]]}`
	for in, want := range map[string]string{
		`{"x":"${a.stdout.s}"}`:                         `{"x":"x"}`,
		`{"x":"${a.stdout.n}"}`:                         `{"x":9007199254740993}`,
		`{"x":"${a.stdout.f}"}`:                         `{"x":1.50}`,
		`{"x":"${a.stdout.z}"}`:                         `{"x":null}`,
		`{"x":"${a.stdout.l[2][1]}"}`:                   `{"x":3}`,
		`{"x":"${a.stdout.l[1].k}!"}`:                   `{"x":"v!"}`,
		`{"x":"n=${n} y=${yes} z=[${nothing}]"}`:        `{"x":"n=1.0 y=true z=[]"}`,
		`{"x":"l=${a.stdout.l}"}`:                       `{"x":"l=[1,{\"k\":\"v\"},[2,3]]"}`,
		`{"x":"$${who} and ${who}"}`:                    `{"x":"${who} and Ann"}`,
		`{"x":"$$${who}"}`:                              `{"x":"$${who}"}`,
		`{"x":["${who}",{"y":"${big-list[1][0]}"}]}`:    `{"x":["Ann",{"y":20}]}`,
		`{"x":"${a[\"k.dot\"]}"}`:                       `{"x":"dotted"}`,
		`{"x":"${a[\"*\"]}${a[\"@this\"]}${a[\"#\"]}"}`: `{"x":"starathash"}`,
		`{"x":"${a[\"a|b\"]}${a[\"\"]}${a.0}"}`:         `{"x":"pipeemptyzero"}`,
		`{"x":"${a[\"back\\\\slash\"]}"}`:               `{"x":"bs"}`,
		`"${a.list}"`:                                   `"[1]"`,
		`{"x":"${a.list}"}`:                             `{"x":[1]}`,
		`{"x":["${text}"]}`:                             `{"x":["[1]"]}`,
		`{"x":{"y":"${a.list}"}}`:                       `{"x":{"y":[1]}}`,
		`{"x":"\u0024{who}"}`:                           `{"x":"Ann"}`,
		`{"x":"no $ template {here}"}`:                  `{"x":"no $ template {here}"}`,
		`{"${who}":1e400}`:                              `{"${who}":1e400}`,
	} {
		got, unresolved := Resolve(json.RawMessage(in), scope(t, doc))
		if string(got) != want || len(unresolved) > 0 {
			t.Errorf("%s\n got %s %v\nwant %s", in, got, unresolved, want)
		}
	}
}

func TestUnresolvedStaysAndSaysWhy(t *testing.T) {
	doc := `{"a":{"stdout":"plain","o":{"k":1,"l":[1]},"e":{}},"n":null}`
	for in, why := range map[string]string{
		"${b.x}":        "there is no value of b, which did not run",
		"${a.nope}":     "${a} has no key nope, only stdout, o, e",
		"${a.stdout.x}": "${a.stdout} is text that is no JSON object or list",
		"${a.o.l[1]}":   "${a.o.l} is a list of 1 items",
		"${a.o[0]}":     "${a.o} is an object",
		"${a.e.x}":      "${a.e} is an object without keys",
		"${n.x}":        "${n} is null",
		"${a.o.k.z}":    "${a.o.k} is a number",
	} {
		quoted := rawjson.Quote(in)
		got, u := Resolve(json.RawMessage(`{"p":`+string(quoted)+`}`), scope(t, doc))
		if len(u) != 1 || u[0].Reason != why || u[0].Path != "p" || u[0].Ref.String() != in || string(got) != `{"p":`+string(quoted)+`}` {
			t.Errorf("%s: %s %+v", in, got, u)
		}
	}
}

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"":                           "",
		"plain":                      "'plain'",
		"${a}":                       "<a>",
		"x${a.b-c[0]}y":              "'x' <a.b-c[0]> 'y'",
		"${HOME:-x}":                 "!${HOME:-x}",
		"${a":                        "!${a",
		"${}":                        "!${}",
		"${1a}":                      "!${1a}",
		"${a.}b":                     "!${a.} 'b'",
		"${a[x]}":                    "!${a[x]}",
		"$${a}":                      "'${a}'",
		"$$${a}${b}":                 "'$${a}' <b>",
		`${a["x y"].z}`:              `<a["x y"].z>`,
		`${a["q\"]}"]}`:              `<a["q\"]}"]>`,
		"${a[99999999999999999999]}": "!${a[99999999999999999999]}",
	} {
		var words []string
		for _, p := range Parse(in) {
			switch {
			case p.Ref != nil:
				words = append(words, "<"+p.Ref.Expression()+">")
			case p.Bad:
				words = append(words, "!"+p.Text)
			default:
				words = append(words, "'"+p.Text+"'")
			}
		}
		if got := strings.Join(words, " "); got != want {
			t.Errorf("Parse(%q) = %s, want %s", in, got, want)
		}
	}
}

// Every key can be reached, and a reference that is written out is read back as the same.
func TestAnyKeyIsJustAKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.OneOf(rapid.String(), rapid.StringMatching(`[.*@|#\\!{}\[\]()~:?"0-9a]{1,6}`)).Draw(t, "key")
		ref := Ref{Root: "n", Path: []Step{{Key: key}, {Index: 1, IsIndex: true}}}
		again, ok := Whole(ref.String())
		if !ok || again.String() != ref.String() || again.Path[0].Key != key {
			t.Fatalf("%s read back as %v", ref, again)
		}
		doc, _ := json.Marshal(map[string]any{"n": map[string]any{key: []string{"no", "yes"}, key + "x": 1}})
		got, why := Lookup(ref, scope(t, string(doc)))
		if string(got) != `"yes"` {
			t.Fatalf("%s gave %s (%s)", ref, got, why)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("a ${b.c[0]} $${d} ${e:-x")
	f.Fuzz(func(t *testing.T, text string) {
		var whole strings.Builder
		for _, p := range Parse(text) {
			whole.WriteString(p.Source)
		}
		if whole.String() != text {
			t.Errorf("parts give %q, not %q", whole.String(), text)
		}
	})
}
