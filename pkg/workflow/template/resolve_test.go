package template

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

func TestResolve(t *testing.T) {
	for in, want := range map[string]string{
		`{"x":"${a.stdout.s}"}`:                         `{"x":"x"}`,
		`{"x":"${a.stdout.n}"}`:                         `{"x":9007199254740993}`,
		`{"x":"${a.stdout.f}"}`:                         `{"x":1.50}`,
		`{"x":"${a.stdout.z}"}`:                         `{"x":null}`,
		`{"x":"${a.stdout.l[2][1]}"}`:                   `{"x":3}`,
		`{"x":"${a.stdout.l[1].k}!"}`:                   `{"x":"v!"}`,
		`{"x":"n=${n} y=${yes} z=[${nothing}]"}`:        `{"x":"n=1.0 y=true z=[]"}`,
		`{"x":"l=${a.stdout.l}"}`:                       `{"x":"l=[1,{\"k\":\"v\"},[2,3]]"}`,
		`{"x":"b=${big-list} ${a.e}${a.el}"}`:           `{"x":"b=[10,[20,21]] {}[]"}`,
		`{"x":"${who}${who}"}`:                          `{"x":"AnnAnn"}`,
		`{"x":"${who} "}`:                               `{"x":"Ann "}`,
		`{"x":"$${who} and ${who}"}`:                    `{"x":"${who} and Ann"}`,
		`{"x":"$$${who}"}`:                              `{"x":"$${who}"}`,
		`{"x":"$${who}"}`:                               `{"x":"${who}"}`,
		`{"x":["${who}",{"y":"${big-list[1][0]}"}]}`:    `{"x":["Ann",{"y":20}]}`,
		`{"x":"${a[\"k.dot\"]}"}`:                       `{"x":"dotted"}`,
		`{"x":"${a[\"*\"]}${a[\"@this\"]}${a[\"#\"]}"}`: `{"x":"starathash"}`,
		`{"x":"${a[\"a|b\"]}${a[\"\"]}${a.0}"}`:         `{"x":"pipeemptyzero"}`,
		`{"x":"${a[\"back\\\\slash\"]}"}`:               `{"x":"bs"}`,
		`{"x":"${big-list[${__index__}][0]}"}`:          `{"x":20}`,
		`{"x":"${nobody ?? \"a \\\"b\\\"\"}"}`:          `{"x":"a \"b\""}`,
		`{"x":"${nobody ?? \"b\"}, ${a.none ?? 1.50}"}`: `{"x":"b, 1.50"}`,
		`{"x":"<${nobody ?? {\"k\" : [1, 2]}}>"}`:       `{"x":"<{\"k\":[1,2]}>"}`,
		`{"x":"${true}"}`:                               `{"x":"an input called true"}`,

		`"${a.list}"`:                                      `"[1]"`,
		`{"x":"${a.list}"}`:                                `{"x":[1]}`,
		`["${a.list}"]`:                                    `[[1]]`,
		`{"x":{"y":"${a.list}"}}`:                          `{"x":{"y":[1]}}`,
		`{"x":"${a.list} "}`:                               `{"x":"[1] "}`,
		`{"x":["${text}"]}`:                                `{"x":["[1]"]}`,
		`{"x":"${nobody ?? a.list}"}`:                      `{"x":[1]}`,
		`{"x":"${nobody.x ?? text}"}`:                      `{"x":"[1]"}`,
		`{"x":"${text ?? a.list}"}`:                        `{"x":"[1]"}`,
		`{"x":"${a.none ?? \"[1]\"}"}`:                     `{"x":"[1]"}`,
		`{"x":"${a.plain}"}`:                               `{"x":"some text"}`,
		`{"x":"${json.deep.er}"}`:                          `{"x":[{"est":[7]}]}`,
		`"${json.deep.er[0]}"`:                             `{"est":[7]}`,
		`"${json}"`:                                        `"{\"deep\":{\"er\":\"[{\\\"est\\\":[7]}]\"}}"`,
		`{"x":"\u0024{who}"}`:                              `{"x":"Ann"}`,
		`{"x":"\u0024\u007Bwho}"}`:                         `{"x":"Ann"}`,
		`{"x":"$\u0024{who}"}`:                             `{"x":"${who}"}`,
		`{"x":"no $ template {here}"}`:                     `{"x":"no $ template {here}"}`,
		`{"${who}":1e400}`:                                 `{"${who}":1e400}`,
		`{"${who}":{"${n}":["${who}"]},"k":-0}`:            `{"${who}":{"${n}":["Ann"]},"k":-0}`,
		` { "a" : "${who}" , "b":[ "\u00e9" , "${n}" ] } `: ` { "a" : "Ann" , "b":[ "\u00e9" , 1.0 ] } `,
		`{"x":"\ud800A ${who} \ud83d\ude00 \u00e9"}`:       "{\"x\":\"\ufffdA Ann 😀 é\"}",
		`{"x":"\ud800\u0041 ${who}"}`:                      "{\"x\":\"\ufffdA Ann\"}",
		`{"x":"\u0000\b\f\n\r\t\/\\\" ${who}"}`:            `{"x":"\u0000\u0008\u000c\n\r\t/\\\" Ann"}`,
		"{\"x\":\"\xff ${who}\"}":                          "{\"x\":\"\xff Ann\"}",
		`{"x":"\ud800\u0041 \/"}`:                          `{"x":"\ud800\u0041 \/"}`,
		`"${who}"`:                                         `"Ann"`,
		`5`:                                                `5`,
		`[]`:                                               `[]`,
		`{}`:                                               `{}`,
		`{"a":[[],{}],"b":"${who}","c":[[1],"${n}",[{"d":"${who}"}]]}`: `{"a":[[],{}],"b":"Ann","c":[[1],1.0,[{"d":"Ann"}]]}`,
	} {
		got, unresolved := Resolve(json.RawMessage(in), scope(t, outputs))
		if string(got) != want || len(unresolved) > 0 {
			t.Errorf("%s\n got %s %v\nwant %s", in, got, unresolved, want)
		}
	}
}

func TestValuesAreWhatTheyWere(t *testing.T) {
	for _, value := range []string{
		"9007199254740993", "9223372036854775807", "18446744073709551616", "1e400", "-0", "1.0", "1.50", "1E+2", "0.1000000000000000055511151231257827",
		`"\ud800"`, `"\u0000"`, `"\u00e9é"`, `"\/"`, "\"\xff\"", `{"b":1, "a" : [ 1.0 ],"b":2}`, "[ ]", `"$${x} ${y}"`, `"[1.0]x"`, "null", "true",
	} {
		values := func(Ref) (json.RawMessage, Availability) { return json.RawMessage(`{"v":` + value + `}`), Present }
		for in, want := range map[string]string{
			`"${n.v}"`: value, `["${n.v}"]`: "[" + value + "]", `"${n.w ?? n.v}"`: value, `{"k":"${n}"}`: `{"k":{"v":` + value + `}}`, `"${n.w ?? ` + "[0]" + `}"`: "[0]",
		} {
			if got, _ := Resolve(json.RawMessage(in), values); string(got) != want {
				t.Errorf("%s gave %s, not %s", in, got, want)
			}
		}
	}
}

func TestAsText(t *testing.T) {
	for in, want := range map[string]string{
		`"x"`: "x", `"a\nb\u00e9\ud83d\ude00"`: "a\nbé😀", `"\ud800\u0041"`: "\ufffdA", `"\ud800"`: "\ufffd", `"\ude00\ud83d"`: "\ufffd\ufffd", `"\ud83d\ud83d\ude00"`: "\ufffd😀", `"\u0000"`: "\x00", "\"\xff\\n\"": "\xff\n", `"\/\\\""`: `/\"`,
		"null": "", "true": "true", "false": "false", "1.50": "1.50", "-0": "-0", "1e400": "1e400", "9007199254740993": "9007199254740993",
		`{ "b" : 1.0, "a": [ 1 , "x y" ] }`: `{"b":1.0,"a":[1,"x y"]}`, "[ ]": "[]", ` "x" `: "x", " 5\n": "5", "": "", `""`: "", `"<&>"`: "<&>", `["<&>"]`: `["<&>"]`,
	} {
		if got := AsText(json.RawMessage(in)); got != want {
			t.Errorf("AsText(%s) = %q, want %q", in, got, want)
		}
	}
}

func TestUnresolvedStaysAndSaysWhy(t *testing.T) {
	_, who := Lookup(Ref{Root: "nobody"}, scope(t, outputs)) // testdata/reasons.golden has the wording of reasons
	noX, no9 := reason(t, "map.x"), reason(t, "a.o.l[9]")
	for in, c := range map[string]struct {
		got        string
		unresolved []string
	}{
		`"${nobody}"`:       {`"${nobody}"`, []string{"/${nobody}/" + who}},
		`{"p":"${nobody}"}`: {`{"p":"${nobody}"}`, []string{"p/${nobody}/" + who}},
		`{"p":["${who}",{"q.r":"${nobody} ${n}"}]}`:      {`{"p":["Ann",{"q.r":"${nobody} 1.0"}]}`, []string{`p[1]["q.r"]/${nobody}/` + who}},
		`{"p":"\u0024{nobody}"}`:                         {`{"p":"\u0024{nobody}"}`, []string{"p/${nobody}/" + who}},
		`{"p":"$${a} ${nobody??map.x}${nobody}"}`:        {`{"p":"${a} ${nobody??map.x}${nobody}"}`, []string{"p/${nobody ?? map.x}/" + noX, "p/${nobody}/" + who}},
		`[1,"${a.o.l[9]}",{"k":[[],"${a[${nobody}]}"]}]`: {`[1,"${a.o.l[9]}",{"k":[[],"${a[${nobody}]}"]}]`, []string{"[1]/${a.o.l[9]}/" + no9, "[2].k[1]/${a[${nobody}]}/" + who}},
		`{"p":"${bad one} ${who}"}`:                      {`{"p":"${bad one} Ann"}`, nil},
		`{"p":"${bad one}"}`:                             {`{"p":"${bad one}"}`, nil},
	} {
		got, unresolved := Resolve(json.RawMessage(in), scope(t, outputs))
		var said []string
		for _, u := range unresolved {
			said = append(said, u.Path+"/"+u.Expr.String()+"/"+u.Reason)
		}
		if string(got) != c.got || strings.Join(said, "\n") != strings.Join(c.unresolved, "\n") {
			t.Errorf("%s\n got %s %q\nwant %s %q", in, got, said, c.got, c.unresolved)
		}
	}
}

// reason returns why a reference does not resolve in outputs.
func reason(t *testing.T, expr string) string {
	t.Helper()
	ref, ok := ParseExpression(expr)
	_, why := Lookup(ref, scope(t, outputs))
	if !ok || why == "" {
		t.Fatalf("%s resolves", expr)
	}
	return why
}

func TestUses(t *testing.T) {
	uses, bad := Uses(json.RawMessage(`{"a":"${x.y} ${x[${i}]}","${key}":[1,"${b ?? c.d[${j}] ?? 1}",{"d.e":"$${no}${oops"}],"z":["\u0024{k}","${}"], "n":null}`))
	var got []string
	for _, u := range uses {
		got = append(got, fmt.Sprintf("%s %s %v", u.Path, u.Ref.Expression(), u.Optional))
	}
	for _, u := range bad {
		got = append(got, u.Path+" !"+u.Ref.Root)
	}
	want := `a x.y false
a x[${i}] false
a i false
${key}[1] b true
${key}[1] c.d[${j}] true
${key}[1] j true
z[0] k false
${key}[2]["d.e"] !${oops
z[1] !${}`
	if got := strings.Join(got, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for raw, want := range map[string]bool{`"x"`: false, `"${x}"`: true, `"\u0024{x}"`: true, `"$\u007bx}"`: true, `{"$":"{"}`: false} {
		if MayHoldTemplate(json.RawMessage(raw)) != want {
			t.Errorf("MayHoldTemplate(%s) is not %v", raw, want)
		}
	}
}

// words are what texts with templates are made of.
var words = rapid.SampledFrom([]string{"${n", "${n}", "${n.a}", `${n["a.b"]}`, "${n[0]}", "${m ?? n}", "${m}", `${n.a ?? "x"}`, "$${", "$", "{", "}", " ", `"`, `\`, "\n", "é", "\u2028", "${n[${n}]}"})

// templates draws a JSON value with templates in its texts.
func templates(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		kind := rapid.IntRange(0, 3).Draw(t, "kind")
		switch {
		case kind == 0 || depth == 0:
			return quoted(t, strings.Join(rapid.SliceOfN(words, 0, 4).Draw(t, "words"), ""))
		case kind == 1:
			return rapid.SampledFrom(numbers).Draw(t, "number")
		}
		var members []string
		for i := range rapid.IntRange(0, 4).Draw(t, "members") {
			member := templates(depth-1).Draw(t, "member")
			if kind == 2 {
				member = quoted(t, "${n}"+strconv.Itoa(i)) + " :" + member
			}
			members = append(members, member)
		}
		joined := strings.Join(members, " ,") + " "
		if kind == 2 {
			return "{" + joined + "}"
		}
		return "[" + joined + "]"
	})
}

func TestResolvedIsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkResolve(t, templates(4).Draw(t, "value"), documents(3).Draw(t, "n"))
	})
}

// checkResolve checks what holds for every JSON value with templates, in a run with nothing but n.
func checkResolve(t interface{ Fatalf(string, ...any) }, value, n string) {
	got, unresolved := Resolve(json.RawMessage(value), only(n))
	if !json.Valid(got) {
		t.Fatalf("%s became %s with %s", value, got, n)
	}
	uses, bad := Uses(json.RawMessage(value))
	if len(uses) == 0 && len(bad) == 0 && !strings.Contains(value, "$") && !strings.Contains(value, `\u`) && string(got) != value {
		t.Fatalf("%s has no template and became %s", value, got)
	}
	places := map[string]bool{}
	for _, u := range uses {
		places[u.Path] = true
	}
	for _, u := range unresolved {
		if u.Reason == "" || !places[u.Path] {
			t.Fatalf("%+v in %s, which uses %v", u, value, uses)
		}
	}
}

// A value that is put in whole is there byte for byte.
func TestWholeValuesKeepTheirBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := documents(4).Draw(t, "document")
		path := ways(t, json.RawMessage(doc))
		want, ok := follow(json.RawMessage(doc), path)
		ref := Ref{Root: "n", Path: path}
		in := rawjson.Quote(ref.String())
		got, unresolved := Resolve(in, only(doc))
		if ok && string(got) != string(want) || !ok && (string(got) != string(in) || len(unresolved) != 1) {
			t.Fatalf("%s became %s, not %s", in, got, want)
		}
	})
}

// What stands in text is what encoding/json makes of it.
func TestTextIsNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := documents(3).Draw(t, "document")
		want, ok := naiveText(json.RawMessage(doc))
		if !ok {
			want = string(rawjson.Compact(json.RawMessage(doc)))
		}
		if want == "null" && !ok {
			want = ""
		}
		if got := AsText(json.RawMessage(doc)); got != want {
			t.Fatalf("%s is the text %q, not %q", doc, got, want)
		}
	})
}
