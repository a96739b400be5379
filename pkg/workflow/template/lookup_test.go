package template

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/internal/golden"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// scope has the members of an object for roots. Those whose name begins with failed are nodes that failed.
func scope(t interface{ Fatal(...any) }, doc string) Scope {
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(doc), &m); err != nil {
		t.Fatal(err)
	}
	return func(ref Ref) (json.RawMessage, Availability) {
		root := ref.Root
		v, ok := m[root]
		switch {
		case !ok:
			return nil, Absent
		case strings.HasPrefix(root, "failed"):
			return v, Failed
		}
		return v, Present
	}
}

// only is the scope of a run with nothing but n.
func only(doc string) Scope {
	return func(ref Ref) (json.RawMessage, Availability) {
		if ref.Root != "n" {
			return nil, Absent
		}
		return json.RawMessage(doc), Present
	}
}

// outputs is the scope of the tables.
const outputs = `{
	"a": {"stdout":"{\"s\":\"x\",\"n\":9007199254740993,\"f\":1.50,\"z\":null,\"l\":[1,{\"k\":\"v\"},[2,3]]}", "exit_code":0, "o":{"k":1,"l":[1]},
	      "k.dot":"dotted", "*":"star", "@this":"at", "#":"hash", "a|b":"pipe", "":"empty", "0":"zero", "back\\slash":"bs", "list":"[1]", "e":{}, "el":[], "plain":"some text", "z":null},
	"failed": {"error":"broken", "stdout":"half", "z":null, "i":1},
	"who": "Ann", "text": "[1]", "n": 1.0, "yes": true, "nothing": null, "big-list": [10,[20,21]], "true": "an input called true",
	"__index__": 1, "i": 2, "key": "k.dot", "digits": "0", "minus": -1, "half": 0.5, "map": {"0":"by key", "b":{"c":2}}, "json": "{\"deep\":{\"er\":\"[{\\\"est\\\":[7]}]\"}}"}`

func TestValue(t *testing.T) {
	for in, want := range map[string]string{
		"${who}":                 `"Ann"`,
		"${n}":                   "1.0",
		"${true}":                `"an input called true"`,
		"${a.stdout.n}":          "9007199254740993",
		"${a.o}":                 `{"k":1,"l":[1]}`,
		"${a.o.l[0]}":            "1",
		`${a["o"]["l"][0]}`:      "1",
		"${a.z}":                 "null",
		"${failed.error}":        `"broken"`,
		"${json.deep.er[0].est}": "[7]",
		"${text[0]}":             "1",

		"${big-list[${__index__}][${__index__}]}":          "21",
		"${big-list[${big-list[${a.exit_code}]}]}":         "",
		"${a.stdout.l[${i}][${a.stdout.l[0]}]}":            "3",
		"${a[${key}]}":                                     `"dotted"`,
		"${big-list[${digits}]}":                           "10",
		"${map[${digits}]}":                                `"by key"`,
		"${map[${a.exit_code}]}":                           `"by key"`,
		"${map[0]}":                                        "",
		"${map[${failed.z}]}":                              "",
		"${a.stdout.l[${__index__}].k}":                    `"v"`,
		"${big-list[${n}]}":                                "",
		"${big-list[${minus}]}":                            "",
		`${big-list["0"]}`:                                 "",
		"${big-list.0}":                                    "",
		"${a.stdout.l[${big-list[${text[0]}][${i}]}]}":     "",
		"${a.stdout.l[${map.b.c}][${map[${digits}]}]}":     "",
		"${a.stdout.l[${map.b[${a.stdout.l[1].none}]}]}":   "",
		`${map["b"][${map.c}] ?? map.b.c}`:                 "2",
		"${big-list[${failed.i}] ?? who}":                  `"Ann"`,
		"${big-list[${failed.i}] ?? nobody}":               "[20,21]",
		"${big-list[${failed.none}] ?? big-list[0]}":       "10",
		"${nobody ?? nobody.x ?? a.none ?? a.plain.x}":     "",
		"${nobody ?? who}":                                 `"Ann"`,
		"${nobody.x.y ?? who}":                             `"Ann"`,
		"${a.none ?? who}":                                 `"Ann"`,
		"${a.none.further ?? who}":                         `"Ann"`,
		"${a.plain.x ?? who}":                              `"Ann"`,
		"${a.z ?? who}":                                    `"Ann"`,
		"${a.stdout.z ?? who}":                             `"Ann"`,
		"${nothing ?? who}":                                `"Ann"`,
		"${null ?? who}":                                   `"Ann"`,
		"${failed.stdout ?? who}":                          `"Ann"`,
		"${who ?? nobody}":                                 `"Ann"`,
		"${a.exit_code ?? 5}":                              "0",
		"${a.el ?? 5}":                                     "[]",
		"${a[\"\"] ?? 5}":                                  `"empty"`,
		"${nobody ?? failed.stdout}":                       `"half"`,
		"${failed.stdout ?? nobody}":                       `"half"`,
		"${a.z ?? failed.stdout}":                          `"half"`,
		"${failed.stdout ?? a.z}":                          `"half"`,
		"${failed.error ?? failed.stdout}":                 `"broken"`,
		"${failed.z ?? failed.stdout ?? a.z}":              `"half"`,
		"${nobody ?? a.z}":                                 "null",
		"${a.z ?? nobody}":                                 "null",
		"${failed.z ?? a.none}":                            "null",
		"${nobody ?? null}":                                "null",
		"${a.x ?? true}":                                   "true",
		"${a.x ?? -1.50E+3}":                               "-1.50E+3",
		`${a.x ?? {"k": "}"}}`:                             `{"k": "}"}`,
		`${a.x ?? ""}`:                                     `""`,
		`${a.stdout.l[${i}][1] ?? "never"}`:                "3",
		"${nobody ?? a.stdout.l[${nobody}] ?? a.stdout.n}": "9007199254740993",
	} {
		expr, ok := Whole(in)
		if !ok {
			t.Errorf("%s is no expression", in)
			continue
		}
		got, reason := expr.Value(scope(t, outputs))
		if string(got) != want || (reason == "") != (want != "") {
			t.Errorf("%s = %s (%s), want %s", in, got, reason, want)
		}
	}
}

func TestReasons(t *testing.T) {
	many := map[string]int{}
	for i := range 25 {
		many["key"+strconv.Itoa(i+10)] = i
	}
	twentyFive, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	doc := `{"a":{"stdout":"plain","o":{"k":1,"l":[1],"l2":[1,2],"l0":[]},"e":{},"f":true,"number":"5"}, "nothing":null, "many":` + string(twentyFive) + `,
		"odd":{"a b":1, "":2, "` + strings.Repeat("é", 100) + `":3}, "long":` + string(rawjson.Quote("["+strings.Repeat(" ", embeddedLimit)+"]")) + `, "half":0.5, "o":{}}`
	run := scope(t, doc)
	var got strings.Builder
	for _, in := range []string{
		"b.x", "a.nope", "a.stdot", "a.Stdout", "a.stdout.x", "a.stdout[0]", "a.number.x", "a.o.l[1]", "a.o.l2[2].x",
		"a.o.l0[0]", "a.o.l0.x", "a.o.l2.x", "a.o[0]", "a.e.x", "a.e[0]", "nothing.x", "a.o.k.z", "a.f.z",
		"many.x", "many.kye34", `odd["a.b"]`, "long[0]", "a.o.l[${b}]", "a.o.l[${half}]", "a.o.l[${a.f}]", "a.o.l[${o}]", "a.o.l[${a.o.k}].x",
		"a.o[${a.stdout}]",
	} {
		ref, ok := ParseExpression(in)
		if !ok {
			t.Errorf("%s is not a reference", in)
			continue
		}
		value, reason := Lookup(ref, run)
		if reason == "" || value != nil {
			t.Errorf("%s: %s (%s), want a reason and no value", in, value, reason)
		}
		_, _ = fmt.Fprintf(&got, "%s\n\t%s\n", in, reason)
	}
	const goldenFile = "testdata/reasons.golden"
	golden.Compare(t, goldenFile, got.String())
	huge := strings.Repeat("k", 1<<20)
	if _, reason := Lookup(Ref{Root: "n", Path: []Step{{Key: huge}}}, only(`{"`+huge[1:]+`":1}`)); len(reason) > 500 {
		t.Errorf("a reason of %d bytes", len(reason))
	}
}

// What an object has twice, every way of reading it finds where it stands first.
func TestTheFirstOfEqualKeysCounts(t *testing.T) {
	doc := `{"k":1, "o":{"k":2, "k":3}, "\u006f":{"k":4}, "k":5, "l":[{"":6,"":7}], "l":[], "\ufffd":8, "\ufffd":9, "text":"{\"o\":{\"k\":10},\"o\":{\"k\":11}}"}`
	for in, want := range map[string]string{
		"n.k": "1", "n.o": `{"k":2, "k":3}`, "n.o.k": "2", "n.l[0]": `{"":6,"":7}`, `n.l[0][""]`: "6", `n["\ufffd"]`: "8", "n.text.o.k": "10", "n.text.o": `{"k":10}`,
	} {
		ref, _ := ParseExpression(in)
		if got, reason := Lookup(ref, only(doc)); string(got) != want {
			t.Errorf("%s = %s (%s), want %s", in, got, reason, want)
		}
	}
}

func TestKeysAreSpelledInManyWays(t *testing.T) {
	for doc, c := range map[string]struct{ in, want string }{
		`{"a\u002eb":1}`:                          {`n["a.b"]`, "1"},
		`{"\u0061":{"\u0062":[1,2]}}`:             {"n.a.b[1]", "2"},
		`{"a\/b":1}`:                              {`n["a/b"]`, "1"},
		`{"\ud83d\ude00":1}`:                      {`n["😀"]`, "1"},
		`{"😀":1}`:                                 {`n["\ud83d\ude00"]`, "1"},
		`{"\ud800":1}`:                            {`n["\ud800"]`, "1"},
		`{"\ud800A":1}`:                           {`n["\ufffdA"]`, "1"},
		`{"\ud800\u0041":{"x":1}}`:                {`n["\ufffdA"].x`, "1"},
		`{"\ud800\u0041":{"x":1},"\ufffd":2}`:     {`n["\ufffd"]`, "2"},
		`{"\ud83d\ud83d\ude00":1}`:                {`n["\ufffd😀"]`, "1"},
		`{"\udc00\ud800":1}`:                      {`n["\ufffd\ufffd"]`, "1"},
		`{"a\u0000b":1}`:                          {`n["a\u0000b"]`, "1"},
		"{\"\xff\":1,\"\xfe\":2}":                 {"n[\"\xfe\"]", "2"},
		"{\"x\":{\"\xff.\":{\"y\":2}}}":           {"n.x[\"\xff.\"].y", "2"},
		`{"\\":{"\"":1}}`:                         {`n["\\"]["\""]`, "1"},
		`{"\\\\\"\\":{"b":1},"b":2}`:              {`n["\\\\\"\\"].b`, "1"},
		`{"":{"":{"":{"x":1}}}}`:                  {`n[""][""][""].x`, "1"},
		`{"":{"":{"x":1}}}`:                       {`n[""][""]`, `{"x":1}`},
		` {"a" : { "b" : [ 1 , {"c" : 2 } ] } } `: {"n.a.b[1].c", "2"},
		"\n[ [ ] , [\t[ 7 ]\r\n] ]":               {"n[1][0]", "[ 7 ]"},
		`{"a":{"0":"key"}}`:                       {"n.a.0", `"key"`},
		`{"a":{"0":"key"}, "b":["item"]}`:         {"n.b[0]", `"item"`},
	} {
		ref, ok := ParseExpression(c.in)
		if !ok {
			t.Errorf("%s is no reference", c.in)
			continue
		}
		if got, reason := Lookup(ref, only(doc)); string(got) != c.want {
			t.Errorf("%s in %s = %s (%s), want %s", c.in, doc, got, reason, c.want)
		}
	}
}

// What several keys are to gjson: a path of nothing but keys, that ends with the first index.
func TestPaths(t *testing.T) {
	for in, want := range map[string]struct {
		path  string
		steps int
	}{
		"n.a.b":            {"a.b", 2},
		"n.a[12].b":        {"a.12", 2},
		"n[0].a":           {"0", 1},
		"n.0.a":            {`\0.a`, 2},
		"n.a-b_1.c":        {`a\-b\_\1.c`, 2},
		`n["@this"]["!x"]`: {`\@this.\!x`, 2},
		`n["a.*?|#\\"].b`:  {`a\.\*\?\|\#\\.b`, 2},
		`n["{[(\"~:,"].b`:  {`\{\[\(\"\~\:\,.b`, 2},
		`n["\u0000é😀"].b`:  {"\\\x00é😀.b", 2},
		`n.a["\ufffd"].b`:  {"a", 1},
		"n.a[\"\xff\"].b":  {"a", 1},
		`n["\ufffd"].a`:    {"", 0},
		`n[""].a[""]`:      {".a.", 3},
	} {
		ref, ok := ParseExpression(in)
		if path, n := pathOf(ref.Path); !ok || path != want.path || n != want.steps {
			t.Errorf("%s is the path %s of %d steps, want %s of %d", in, path, n, want.path, want.steps)
		}
	}
}

// Every such reference would lead somewhere if a part of it reached gjson as more than a key or an index.
func TestNothingButKeysAndIndexes(t *testing.T) {
	doc := `{"a":{"b":[{"c":1,"5":{"x":1}},{"c":2}],"0":{"x":1},"b|c":[1]},"list":[[1,2],{"x":3}],"text":"some {\"x\":1} text","x":5, "two":[1], "two":{"p|x":{"x":1}}}`
	for _, in := range []string{
		`n["a.b"]`, `n["a.b.0.c"]`, `n["a"]["b.0"]`, `n["@this"]`, `n["@this"].a`, `n.a["@this"].b`, `n["@reverse"]`, `n.a["@keys"]`, `n.list["@reverse"][0]`, `n["@pretty"]`, `n["@this|a"]`,
		`n["a|b"]`, `n["a|@this"]`, `n.a["|"]`, `n.a["b|c|@this"]`, `n.list["0|@this"]`, `n["|a"].b`, `n["#"]`, `n.list["#"]`, `n.list["#"].x`, `n.list["#.x"]`, `n.a.b["#"].c`, `n.a.b["#.c"]`, `n.a.b["#(c==1)"]`, `n.a.b["#(c==1)#"].c`,
		`n["*"]`, `n["a*"]`, `n["?"]`, `n.a["*"].c`, `n["{a,x}"]`, `n["[a,x]"]`, `n["{a"]["x}"]`, `n.a["{b}"].x`, `n["!\"x\""]`, `n["!true"]`, `n[".."]`, `n[""][""].x`, `n["..0"].a`, `n["..#"]`,
		`n["\\a"]`, `n["a\\"]`, `n["\\"].a`, `n["~true"]`, `n[":a"]`, `n.list[":0"]`, `n.list.0`, `n.list["0"]`, `n.list["1"].x`, `n.list.1.x`, `n.a[0]`, `n.a[0].x`, `n.a.b[0][5]`, `n.a.b[0][5].x`, `n.list["01"]`,
		`n.two["p|x"]`, `n.text.x`, `n.text.x.y`, `n.x.x`, `n[0]`, `n["x\u0000"]`, `n["\u0000"]`,
	} {
		ref, ok := ParseExpression(in)
		if !ok {
			t.Errorf("%s is no reference", in)
			continue
		}
		if got, reason := Lookup(ref, only(doc)); reason == "" {
			t.Errorf("%s = %s", in, got)
		}
	}
}

// What is made longer by who has read it does not write into what it was read from.
func TestValuesEndWhereTheyEnd(t *testing.T) {
	for _, in := range []string{"n", "n.a", "n.a.b", "n.l", "n.l[1]", "n.l[1].c", "n.t", "n.t.x"} {
		doc := `{"a":{"b":1,"c":2},"l":[1,{"c":3},4],"t":"{\"x\":1,\"y\":2}","u":"[1]","z":0}  `
		kept := json.RawMessage(doc)
		ref, _ := ParseExpression(in)
		got, reason := Lookup(ref, func(Ref) (json.RawMessage, Availability) { return kept, Present })
		if reason != "" {
			t.Errorf("%s: %s", in, reason)
		}
		_ = append(got, "!!!"...)
		u, _ := member(kept, "u")
		inner, _ := Embedded(u)
		_ = append(inner, "!!!"...)
		if string(kept) != doc {
			t.Errorf("%s: the document is now %s", in, kept)
		}
	}
}

func TestEmbedded(t *testing.T) {
	for in, want := range map[string]string{
		`"{}"`: "{}", `"[1.0,1e400]"`: "[1.0,1e400]", `" \n{\"a\": 1}\t "`: `{"a": 1}`, `"\u007b\u007d"`: "{}", `"[\"\\ud800\"]"`: `["\ud800"]`, "\"\u00a0[]\"": "[]",
		`"5"`: "", `"true"`: "", `"null"`: "", `"\"x\""`: "", `""`: "", `"{"`: "", `"[1,]"`: "", `"[1] x"`: "", `"{}{}"`: "", `{}`: "", `[1]`: "", `5`: "", ``: "", `"`: "",
		`"` + strings.Repeat("[", 10001) + strings.Repeat("]", 10001) + `"`: "", // deeper than any reader of ours goes
	} {
		got, ok := Embedded(json.RawMessage(in))
		if string(got) != want || ok != (want != "") {
			t.Errorf("Embedded(%s) = %s, %v", in, got, ok)
		}
	}
	most := "[" + strings.Repeat(`\n`, embeddedLimit-2) + "]"
	if _, ok := Embedded(json.RawMessage(`"` + most + `"`)); !ok {
		t.Error("a text of 10 MiB is not read")
	}
	if _, ok := Embedded(json.RawMessage(`" ` + most + `"`)); ok {
		t.Error("a text of more than 10 MiB is read")
	}
}

// Lookup finds what a decoder finds that knows nothing of paths, byte for byte, and nothing where that finds nothing.
func TestLookupIsNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := documents(5).Draw(t, "document")
		if !json.Valid([]byte(doc)) {
			t.Fatalf("%s is no JSON", doc)
		}
		path := ways(t, json.RawMessage(doc))
		checkLookup(t, doc, path)

		outer := `{"x":[0,` + doc + `],"y":` + string(rawjson.Quote(doc)) + `}`
		checkLookup(t, outer, append([]Step{{Key: "x"}, {Index: 1, IsIndex: true}}, path...))
		checkLookup(t, outer, append([]Step{{Key: "y"}}, path...))
		if len(path) > 0 {
			i := rapid.IntRange(0, len(path)-1).Draw(t, "other kind")
			other := slices.Clone(path)
			if other[i].IsIndex {
				other[i] = Step{Key: strconv.Itoa(path[i].Index)}
			} else if index, ok := parseIndex(path[i].Key); ok {
				other[i] = Step{Index: index, IsIndex: true}
			}
			checkLookup(t, doc, other)
		}
	})
}

func checkLookup(t interface{ Fatalf(string, ...any) }, doc string, path []Step) {
	ref := Ref{Root: "n", Path: path}
	want, ok := follow(json.RawMessage(doc), path)
	got, reason := Lookup(ref, only(doc))
	if string(got) != string(want) || ok != (reason == "") {
		t.Fatalf("%s in %s gave\n%s (%s), want\n%s", ref, doc, got, reason, want)
	}
}

// A step that a reference gives is the same as one that is written down.
func TestIndexesByReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := documents(4).Draw(t, "document")
		path := ways(t, json.RawMessage(doc))
		roots := map[string]json.RawMessage{"n": json.RawMessage(doc)}
		by := slices.Clone(path)
		for i, step := range path {
			name := "i" + strconv.Itoa(i)
			if by[i] = (Step{At: &Ref{Root: name}}); step.IsIndex {
				roots[name] = json.RawMessage(strconv.Itoa(step.Index))
				continue
			}
			roots[name] = rawjson.Quote(step.Key)
		}
		lookup := func(ref Ref) (json.RawMessage, Availability) { return roots[ref.Root], Present }
		want, why := Lookup(Ref{Root: "n", Path: path}, lookup)
		got, reason := Lookup(Ref{Root: "n", Path: by}, lookup)
		if why == "" && string(got) != string(want) {
			t.Fatalf("%s gave %s (%s), not %s", Ref{Root: "n", Path: path}, got, reason, want)
		}
	})
}
