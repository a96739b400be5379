package template

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// spell writes parts so that a table can hold them: 'literal', <expression> and !bad.
func spell(parts []Part) string {
	var words []string
	for _, p := range parts {
		switch {
		case p.Expr != nil:
			words = append(words, "<"+p.Expr.Expression()+">")
		case p.Bad:
			words = append(words, "!"+p.Text)
		default:
			words = append(words, "'"+p.Text+"'")
		}
	}
	return strings.Join(words, " ")
}

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"":           "",
		"plain":      "'plain'",
		"$ {a} $":    "'$ {a} $'",
		"${a}":       "<a>",
		"${_a-1}":    "<_a-1>",
		"x${a.b-c}y": "'x' <a.b-c> 'y'",
		"${a}${b}":   "<a> <b>",
		"${a}}":      "<a> '}'",
		"${a.0}":     "<a.0>",
		"${a.-1}":    "<a.-1>",

		"${a[0]}":               "<a[0]>",
		"${a[007]}":             "<a[7]>",
		"${a[0][1].b[2]}":       "<a[0][1].b[2]>",
		`${a["x y"].z}`:         `<a["x y"].z>`,
		`${a["x"]}`:             "<a.x>",
		`${a[""]}`:              `<a[""]>`,
		`${a["q\"]}"]}`:         `<a["q\"]}"]>`,
		`${a["\u0041\/\n"]}`:    `<a["A/\n"]>`,
		`${a["😀\ud83d\ude00"]}`: `<a["😀😀"]>`,
		`${a["${b}"]}`:          `<a["${b}"]>`,

		"${a[${i}].b}":              "<a[${i}].b>",
		"${a[${b[${c}]}].d}":        "<a[${b[${c}]}].d>",
		`${a[${b["x]}"].y}].c[0]}`:  `<a[${b["x]}"].y}].c[0]>`,
		"${a[${b}][${c}]}":          "<a[${b}][${c}]>",
		nest("a", maxNesting) + "!": "<" + strings.TrimSuffix(strings.TrimPrefix(nest("a", maxNesting), "${"), "}") + "> '!'",

		"${a ?? b}":                    "<a ?? b>",
		"${a??b}":                      "<a ?? b>",
		"${a \t??\n b.x[0] ?? c}":      "<a ?? b.x[0] ?? c>",
		`${a ?? "lit"}`:                `<a ?? "lit">`,
		`${a ?? "x ?? y}"}`:            `<a ?? "x ?? y}">`,
		`${a ?? "q\"}" ?? b}`:          `<a ?? "q\"}" ?? b>`,
		`${a ?? {"k":"}"}}`:            `<a ?? {"k":"}"}>`,
		`${a ?? {"k":{"l":[1]}} ?? b}`: `<a ?? {"k":{"l":[1]}} ?? b>`,
		`${a ?? ["${b}", 1 ]}`:         `<a ?? ["${b}", 1 ]>`,
		`${a??-1.50e+3}`:               `<a ?? -1.50e+3>`,
		"${a.x ?? true}":               "<a.x ?? true>",
		"${a ?? null}":                 "<a ?? null>",
		"${null ?? a}":                 "<null ?? a>",
		`${"x" ?? a}`:                  `<"x" ?? a>`,
		"${false??a}":                  "<false ?? a>",
		"${a ?? trueish}":              "<a ?? trueish>",
		"${a ?? true.x}":               "<a ?? true.x>",
		"${true}":                      "<true>",
		"${null.x}":                    "<null.x>",

		"$${a}":          "'${a}'",
		"$$${a}":         "'$${a}'",
		"$$$${a}":        "'$$${a}'",
		"$${a} and ${a}": "'${a} and ' <a>",
		"${a}$${b}${c}":  "<a> '${b}' <c>",
		"$$ ${a}":        "'$$ ' <a>",
		"a$${":           "'a${'",
		"$${$${${a}":     "'${${' <a>",
		"${a $${b}":      "!${a  '${b}'",
		"${$${b}":        "!${ '${b}'",

		"${":                         "!${",
		"${a":                        "!${a",
		"${}":                        "!${}",
		"${ a}":                      "!${ a}",
		"${a }":                      "!${a }",
		"${1a}":                      "!${1a}",
		"${-a}":                      "!${-a}",
		"${é}":                       "!${é}",
		"${a.}b":                     "!${a.} 'b'",
		"${a..b}":                    "!${a..b}",
		"${.a}":                      "!${.a}",
		"${a[x]}":                    "!${a[x]}",
		"${a[]}":                     "!${a[]}",
		"${a[0}":                     "!${a[0}",
		"${a[-1]}":                   "!${a[-1]}",
		"${a[+1]}":                   "!${a[+1]}",
		"${a[1.0]}":                  "!${a[1.0]}",
		"${a[99999999999999999999]}": "!${a[99999999999999999999]}",
		`${a['x']}`:                  `!${a['x']}`,
		`${a["x]}`:                   `!${a["x]}`,
		`${a["\x41"]}`:               `!${a["\x41"]}`,
		"${a[\"\n\"]}":               "!${a[\"\n\"]}",
		"${a[${}]}":                  "!${a[ !${} ']}'",
		"${a[${b ?? c}]}":            "!${a[ <b ?? c> ']}'",
		"${a ??}":                    "!${a ??}",
		"${?? a}":                    "!${?? a}",
		"${a ? b}":                   "!${a ? b}",
		"${a ?? b c}":                "!${a ?? b c}",
		"${a ?? ?? b}":               "!${a ?? ?? b}",
		"${a ?? 01}":                 "!${a ?? 01}",
		"${a ?? 'x'}":                "!${a ?? 'x'}",
		`${a ?? "x}`:                 `!${a ?? "x}`,
		`${a ?? {"k":}}`:             `!${a ?? {"k":} '}'`,
		`${a ?? "\x"}`:               `!${a ?? "\x"}`,
		`${"x"}`:                     `!${"x"}`,
		"${5}":                       "!${5}",
		"${HOME:-x}":                 "!${HOME:-x}",
		"${x:-${y}}":                 "!${x:- <y> '}'",
		"${a${b}":                    "!${a <b>",
		"${${${":                     "!${ !${ !${",
		"${a}${":                     "<a> !${",
		nest("a", maxNesting+1):      "!${a[ <" + strings.TrimSuffix(strings.TrimPrefix(nest("a", maxNesting), "${"), "}") + "> ']}'",
		"${a" + strings.Repeat(".b", maxSteps+1) + "}":    "!${a" + strings.Repeat(".b", maxSteps+1) + "}",
		"${a" + strings.Repeat(" ?? 1", maxTerms) + "}":   "!${a" + strings.Repeat(" ?? 1", maxTerms) + "}",
		"${a" + strings.Repeat(" ?? 1", maxTerms-1) + "}": "<a" + strings.Repeat(" ?? 1", maxTerms-1) + ">",
	} {
		parts := Parse(in)
		if got := spell(parts); got != want {
			t.Errorf("Parse(%q)\n got %s\nwant %s", in, got, want)
		}
		if got := sources(parts); got != in {
			t.Errorf("Parse(%q) has the sources %q", in, got)
		}
		expr, whole := Whole(in)
		if want := len(parts) == 1 && parts[0].Expr != nil; whole != want || whole && expr.String() != parts[0].Expr.String() {
			t.Errorf("Whole(%q) = %s, %v", in, expr, whole)
		}
	}
}

// nest is a reference with depth others in its index: ${a[${a[${a}]}]} with 2.
func nest(name string, depth int) string {
	return strings.Repeat("${"+name+"[", depth) + "${" + name + "}" + strings.Repeat("]}", depth)
}

func sources(parts []Part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Source)
	}
	return b.String()
}

func TestTermsAreReferencesOrLiterals(t *testing.T) {
	expr, ok := Whole(`${a[${i}].b ?? true ?? "x" ?? c}`)
	if !ok || len(expr.Terms) != 4 {
		t.Fatalf("%v %v", expr, ok)
	}
	var kinds, refs []string
	for _, term := range expr.Terms {
		if term.Ref != nil {
			kinds = append(kinds, "ref")
		} else {
			kinds = append(kinds, string(term.Literal))
		}
	}
	expr.Refs(func(ref Ref, optional bool) {
		if refs = append(refs, ref.Expression()); !optional {
			t.Errorf("%s is not optional", ref)
		}
	})
	if got := strings.Join(kinds, " "); got != `ref true "x" ref` {
		t.Error(got)
	}
	if got := strings.Join(refs, " "); got != "a[${i}].b i c" {
		t.Error(got)
	}
	if _, ok := expr.Ref(); ok {
		t.Error("four terms are no reference")
	}
	one, _ := Whole("${a[${i}]}")
	if ref, ok := one.Ref(); !ok || ref.Root != "a" || ref.Path[0].At.Root != "i" {
		t.Errorf("%+v %v", ref, ok)
	}
	one.Refs(func(ref Ref, optional bool) {
		if optional {
			t.Errorf("%s is optional", ref)
		}
	})
}

func TestNamesAndSources(t *testing.T) {
	for name, want := range map[string]bool{"a": true, "_": true, "a-1": true, "": false, "1a": false, "a.b": false, "é": false, "a b": false, "true": true} {
		if IsName(name) != want {
			t.Errorf("IsName(%q) = %v", name, !want)
		}
	}
	for in, want := range map[string]string{
		"n": "${n}", "n.key": "${n.key}", "$n.key": "${n.key}", `n["a.b"][0]`: `${n["a.b"][0]}`,
		"${n.key}": "${n.key}", "a b": "a b", "": "", "$": "$", "${a ?? b}": "${a ?? b}",
	} {
		if got := Source(in); got != want {
			t.Errorf("Source(%q) = %q, want %q", in, got, want)
		}
	}
	for _, no := range []string{"", "a b", "${a}", "a ?? b", "a.", "a[", "1", `"x"`, "a[0"} {
		if ref, ok := ParseExpression(no); ok {
			t.Errorf("ParseExpression(%q) = %v", no, ref)
		}
	}
}

var names = rapid.StringMatching(`[a-zA-Z_][a-zA-Z0-9_-]{0,6}`)

func refs(depth int) *rapid.Generator[Ref] {
	return rapid.Custom(func(t *rapid.T) Ref {
		ref := Ref{Root: names.Draw(t, "root")}
		for range rapid.IntRange(0, 4).Draw(t, "steps") {
			switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); {
			case kind == 0:
				ref.Path = append(ref.Path, Step{Index: rapid.IntRange(0, 1<<62).Draw(t, "index"), IsIndex: true})
			case kind == 1 && depth > 0:
				at := refs(depth-1).Draw(t, "at")
				ref.Path = append(ref.Path, Step{At: &at})
			default:
				ref.Path = append(ref.Path, Step{Key: keys.Draw(t, "key")})
			}
		}
		return ref
	})
}

var exprs = rapid.Custom(func(t *rapid.T) Expr {
	var e Expr
	for range rapid.IntRange(1, 4).Draw(t, "terms") {
		if ref := refs(2).Draw(t, "ref"); rapid.Bool().Draw(t, "is a reference") {
			if reserved := []string{"true", "false", "null"}; len(ref.Path) > 0 || !slices.Contains(reserved, ref.Root) {
				e.Terms = append(e.Terms, Term{Ref: &ref})
				continue
			}
		}
		e.Terms = append(e.Terms, Term{Literal: []byte(documents(2).Draw(t, "literal"))})
	}
	if len(e.Terms) == 1 && e.Terms[0].Ref == nil {
		e.Terms = append(e.Terms, Term{Ref: &Ref{Root: "a"}})
	}
	return e
})

// What is written out is read back as the same, also with other text around it.
func TestWrittenOutIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ref := refs(maxNesting).Draw(t, "ref")
		if again, ok := ParseExpression(ref.Expression()); !ok || !sameRef(ref, again) {
			t.Fatalf("%s was read back as %s", ref, again)
		}
		expr := exprs.Draw(t, "expr")
		parts := Parse("${ $${" + expr.String() + "}${")
		if got, want := spell(parts), "!${  '${' <"+expr.Expression()+"> '}' !${"; got != want {
			t.Fatalf("%s was read back as %s", expr, got)
		}
		if !sameExpr(expr, *parts[2].Expr) {
			t.Fatalf("%+v was read back as %+v", expr, *parts[2].Expr)
		}
	})
}

func sameRef(a, b Ref) bool {
	return a.Root == b.Root && slices.EqualFunc(a.Path, b.Path, func(s, o Step) bool {
		if s.At != nil && o.At != nil {
			return sameRef(*s.At, *o.At)
		}
		return s == o
	})
}

func sameExpr(a, b Expr) bool {
	return slices.EqualFunc(a.Terms, b.Terms, func(s, o Term) bool {
		if s.Ref != nil && o.Ref != nil {
			return sameRef(*s.Ref, *o.Ref)
		}
		return s.Ref == o.Ref && string(s.Literal) == string(o.Literal)
	})
}

// A text is its parts, whatever it is made of.
func TestParseLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"$", "{", "}", "[", "]", `"`, `\`, ".", "?", "??", " ", "\n", "a", "b-1", "0", "12", "true", "null", "${", "$${", `["`, `"]`, "[${", "}]", "é", "\xff",
		})).Draw(t, "words"), "")
		checkParts(t, text)
	})
}

// checkParts checks what holds for the parts of every text.
func checkParts(t interface{ Fatalf(string, ...any) }, text string) {
	parts := Parse(text)
	if got := sources(parts); got != text {
		t.Fatalf("the parts of %q are %q", text, got)
	}
	for i, p := range parts {
		switch {
		case p.Source == "":
			t.Fatalf("%q has an empty part", text)
		case p.Expr != nil:
			if again, ok := Whole(p.Source); !ok || !sameExpr(again, *p.Expr) {
				t.Fatalf("%q in %q is not read alone as it is there", p.Source, text)
			}
			if again, ok := Whole(p.Expr.String()); !ok || !sameExpr(again, *p.Expr) {
				t.Fatalf("%q is written %s, which is another", p.Source, p.Expr)
			}
		case p.Bad:
			if p.Text != p.Source || !strings.HasPrefix(p.Text, "${") {
				t.Fatalf("bad part %+v of %q", p, text)
			}
		case p.Text != strings.ReplaceAll(p.Source, "$${", "${"):
			t.Fatalf("the literal %q of %q is %q", p.Source, text, p.Text)
		case i > 0 && parts[i-1].Expr == nil && !parts[i-1].Bad:
			t.Fatalf("two literals in a row in %q", text)
		}
	}
}
