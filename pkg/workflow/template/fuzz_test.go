package template

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"a ${b.c[0]} $${d} ${e:-x", `${a ?? {"k":"}"} ?? "x ?? y" ?? 1.50}`, "${a[${b[${c}]}].d}", `${a["q\"]}\ud83d\ude00"]}`, "$$$${a}${true}${null ?? a}", "${${$${[[]]}}", "${a[007]}", "${a??b\t??\nc}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkParts(t, text)
		if ref, ok := ParseExpression(text); ok {
			if again, ok := ParseExpression(ref.Expression()); !ok || !sameRef(ref, again) {
				t.Errorf("%s was read back as %s", ref, again)
			}
		}
		_ = Source(text)
	})
}

func FuzzLookup(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"a":[{"b":1},{"b":[1.50,-0,1e400]}]}`, "a[1].b[0]"},
		{`{"a.b":{"@this":{"#":{"*":{"|":{"\\":1}}}}}}`, `x["a.b"]["@this"]["#"]["*"]["|"]["\\"]`},
		{`{"0":{"":{"\ud800A":{"\u0061":null}}}}`, `x.0[""]["\ufffdA"].a`},
		{`"{\"a\":\"[[1]]\"}"`, "x.a[0][0]"},
		{`[[],{},[{"k":"v"}]]`, "x[2][0].k"},
		{`{"a":1,"a":{"b":2}}`, "x.a.b"},
		{`{"a":[`, "x.a[0]"},
		{`{"a":"\u12`, "x.a.b"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, doc, expr string) {
		ref, ok := ParseExpression(expr)
		if !ok {
			t.Skip()
		}
		got, reason := Lookup(ref, func(Ref) (json.RawMessage, Availability) { return json.RawMessage(doc), Present })
		if !json.Valid([]byte(doc)) || !utf8.ValidString(doc) || equalKeys(doc) {
			return // it did not panic; there is no telling what is right
		}
		for _, step := range ref.Path {
			if step.At != nil {
				return
			}
		}
		want, ok := follow(json.RawMessage(doc), ref.Path)
		if string(got) != string(want) || ok != (reason == "") {
			t.Errorf("%s in %s gave\n%s (%s), want\n%s", ref, doc, got, reason, want)
		}
	})
}

// equalKeys says whether some object of a valid document has a key twice.
func equalKeys(doc string) bool {
	type level struct {
		keys  map[string]bool
		value bool
	}
	levels := []level{{}}
	dec := json.NewDecoder(bytes.NewReader([]byte(doc)))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if err != nil {
			return false
		}
		top := &levels[len(levels)-1]
		text, isText := token.(string)
		if isText && embedsEqualKeys(text) {
			return true
		}
		if delim, ok := token.(json.Delim); ok && (delim == '}' || delim == ']') {
			levels = levels[:len(levels)-1]
			continue
		}
		if top.keys != nil && !top.value {
			if top.keys[text] {
				return true
			}
			top.keys[text], top.value = true, true
			continue
		}
		top.value = false
		switch token {
		case json.Delim('{'):
			levels = append(levels, level{keys: map[string]bool{}})
		case json.Delim('['):
			levels = append(levels, level{})
		}
	}
}

// embedsEqualKeys says whether a text that is JSON itself has an object that has a key twice.
func embedsEqualKeys(text string) bool {
	return bytes.ContainsAny([]byte(text), "{") && json.Valid([]byte(text)) && equalKeys(text)
}

func FuzzResolve(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"x":["${n.a}",{"y":"$${n} ${n.b[0]} ${m ?? n}"}]}`, `{"a":"[1.50]","b":["\ud800A"]}`},
		{`"${n[${n}]}"`, "0"},
		{`]}"${n}"`, "0"},
		{`"\u0024{n}\u0000\ud800"`, `"\u0000"`},
		{`[["${n}","${"]]`, `"\"\\"`},
		{` { "${n}" : "${n ?? {\"a\":\"}\"}}" } `, "null"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, value, n string) {
		if !json.Valid([]byte(value)) || !json.Valid([]byte(n)) {
			_, _ = Resolve(json.RawMessage(value), only(n))
			return // it did not panic
		}
		checkResolve(t, value, n)
	})
}
