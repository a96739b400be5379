package program

import (
	"fmt"
	"strings"
	"testing"
)

// summary is what a test expects: the literals, and ? for other values.
func summary(n Next) string {
	var parts []string
	for _, l := range n.Literals {
		parts = append(parts, l.Text)
	}
	if n.Other >= 0 {
		parts = append(parts, "?")
	}
	return strings.Join(parts, " ")
}

func TestPython(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{`next: str = "c"`, "c"},
		{`next = "c"`, "c"},
		{"if x:\n    next: str = 'a'\nelse:\n\tnext = \"b\"\n", "a b"},
		{`if x: next = "a"; y = 1`, "a"},
		{"if x: y = 1\nelif z: next = 'a'\nelse: next = 'b'", "a b"},
		{`x = 1; next = "c"`, "c"},
		{`next = ("c")`, "c"},
		{`(next) = "c"`, "c"},
		{`next = "a" "b"`, "ab"},
		{`next = r"a\b"`, `a\b`},
		{`next = u"a"`, "a"},
		{`next = """c"""`, "c"},
		{`next = "a\tb\x41B"`, "a\tbAB"},
		{"next = \\\n  \"c\"", "c"},
		{"next = (\n  # why\n  \"c\"\n)", "c"},
		{`next = "a" if x else "b"`, "a b"},
		{`next: str = ("a" if x else "b" if y else None)`, "a b"},
		{`next = "a" if (p if q else r) else "b"`, "a b"},
		{`a = next = "c"`, "c"},
		{`next = a = "c"`, "c"},
		{"for i in l:\n  while i:\n    next = 'c'", "c"},
		{"try:\n  f()\nexcept E as e: next = 'a'\nfinally:\n  next = 'b'", "a b"},
		{"match x:\n  case 1: next = 'a'\n  case [b, _]:\n    next = 'b'\n", "a b"},
		{"with open(f) as g: next = 'c'", "c"},
		{"def f():\n  global next\n  next = 'c'\nf()", "c"},
		{"print(next := 'c')", "c"},
		{"if (next := 'c'): pass", "c"},
		{"next: str\nif x:\n  next = 'c'", "c"},
		{"case: str = 'x'; next = 'c'", "c"},
		{"x = {\n'a': 1}\nnext = 'c'", "c"},
		{"\tif x:\n\t\tnext = 'c'", "c"},

		{`next = None`, ""},
		{`next = ""`, ""},
		{`next: str`, ""},
		{`# next = "c"`, ""},
		{`s = 'next = "c"'`, ""},
		{"s = '''\nnext = \"c\"\n'''", ""},
		{"s = f\"{d['a']}\nnext = 'c'\"", "c"}, // the string ends with its line
		{"s = f'''{x}\nnext = \"c\"\n'''", ""},
		{"s = f\"{d[\"k\"]:>{w}} {{\" # next = 'c'", ""},
		{"s = f\"{x:'>10}\"\nnext = 'c'", "c"},
		{"s = 'it\\'s' # '\nnext = 'c'", "c"},
		{"def f():\n    next = 'c'\n    return next", ""},
		{"def f(): next = 'c'", ""},
		{"def f(next='c'): pass", ""},
		{"class C:\n  next = 'c'\n  def m(self):\n    next = 'd'\n", ""},
		{"class C:\n  pass\nnext = 'c'", "c"},
		{"def f():\n  def g():\n    global next\n    next = 'a'\n  next = 'b'\n", "a"},
		{`node.next = "c"`, ""},
		{`d["next"] = "c"`, ""},
		{`d[next] = "c"`, ""},
		{`f(next="c")`, ""},
		{`x = next(iter(l))`, ""},
		{`next == "c"`, ""},
		{`x = [next for next in l]`, ""},
		{`x = lambda next="c": next`, ""},
		{"next_one = 'c'\nnexts: str = 'd'", ""},
		{"x = (1,\n  dict(next = 'c'))", ""},

		{`next = x`, "?"},
		{`next: str = f"{x}"`, "?"},
		{`next = b"c"`, "?"},
		{`next = "a" + x`, "?"},
		{`next = x or "c"`, "?"},
		{`next = "c".lower()`, "?"},
		{`next = "a" if x else y`, "a ?"},
		{`next = {"a": "b"}[x]`, "?"},
		{`next, x = "a", 1`, "?"},
		{`x, (y, next) = l`, "?"},
		{`[a, *next] = l`, "?"},
		{`next += "x"`, "?"},
		{"for next in l: pass", "?"},
		{"for i, next in l: pass", "?"},
		{"with f() as next: pass", "?"},
		{"from m import next", "?"},
		{"import m as next", "?"},
		{"if (next := f()): pass", "?"},
	} {
		if got := summary(AssignedNext("python", c.code)); got != c.want {
			t.Errorf("%s\ngot %q, want %q", c.code, got, c.want)
		}
	}
}

func TestJavaScript(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{`next = "c"`, "c"},
		{`next = 'c';`, "c"},
		{"next = `c`", "c"},
		{"if (x) next = 'a'; else next = 'b'", "a b"},
		{"if (x) next = 'a'\nelse { next = 'b' }", "a b"},
		{"next = 'a'\nfoo()", "a"},
		{"next = x ? 'a' : 'b'", "a b"},
		{"next = x ? 'a' : y ? 'b' : null", "a b"},
		{"x ? next = 'a' : next = 'b'", "a b"},
		{"x && (next = 'c')", "c"},
		{"let next = 'c'; result = 1", "c"},
		{"const next = 'c'", "c"},
		{"a = next = 'c'", "c"},
		{"next = a = 'c'", "c"},
		{"switch (x) { case 1: next = 'a'; break; default: next = 'b' }", "a b"},
		{"function f() { next = 'c' } f()", "c"},
		{"l.forEach(x => { if (x) next = 'c' })", "c"},
		{"const f = () => next = 'c'", "c"},
		{"const r = /next = 'x'/; next = 'c'", "c"},
		{"const r = /[/]'/; next = 'c'", "c"},
		{"x = a / b; next = 'c' / d", "?"},
		{"x = a / b; next = 'c'; y = 1 / 2", "c"},
		{"if (x) /'/.test(y); next = 'c'", "c"},
		{"x = `${a} ${`b ${c}`} '`; next = 'c'", "c"},
		{"x = `${next = 'c'}`", "c"},
		{"x = {next: 1}; next = 'c'", "c"},
		{"next = (\n'c'\n)", "c"},
		{"next = 'a\\x41\\n'", "aA\n"},
		{"next =\n  'c'", "c"},
		{"class A { next = 1 }\nnext = 'c'", "c"},
		{"x?.next; next = 'c'", "c"},
		{"i++ / 2; next = 'c' // '", "c"},

		{"next = null", ""},
		{"next = undefined;", ""},
		{"next = ''", ""},
		{"let next", ""},
		{"// next = 'c'", ""},
		{"/* next = 'c' */", ""},
		{"x = \"next = 'c'\"", ""},
		{"x = `\nnext = 'c'\n`", ""},
		{"node.next = 'c'", ""},
		{"node?.next", ""},
		{"x = {next: 'c'}", ""},
		{"x['next'] = 'c'", ""},
		{"next === 'c'", ""},
		{"next == 'c'", ""},
		{"class A { next = 'c'; #next = 'd'; static next = 'e'; next() { return 1 } }", ""},
		{"class A extends B { m() { const x = 1 } next = 'c' }", ""},
		{"function f() { let next = 'a'; next = 'b' }", ""},
		{"function f(next = 'c') { next = 'd' }", ""},
		{"l.map((next) => { next = 'c' })", ""},
		{"x = ({next = 'c'}) => next", ""},
		{"for (const next of l) {}", ""},
		{"try {} catch (next) { next = 'c' }", ""},
		{"it.next()", ""},
		{"nextOne = 'c'; $next = 'd'; next$ = 'e'", ""},

		{"next = x", "?"},
		{"next = `a${x}`", "?"},
		{"next = 'a' + x", "?"},
		{"next = 'a'\n + x", "?"},
		{"next = 'a'.trim()", "?"},
		{"next = x ? 'a' : y", "a ?"},
		{"next = x || 'c'", "?"},
		{"next ??= 'c'", "?"},
		{"next += 'c'", "?"},
		{"let {next} = o", "?"},
		{"({next} = o)", "?"},
		{"[a, next] = l", "?"},
		{"for (next of l) {}", "?"},
		{"function f() { const {next} = o }", ""},
	} {
		if got := summary(AssignedNext("node", c.code)); got != c.want {
			t.Errorf("%s\ngot %q, want %q", c.code, got, c.want)
		}
	}
}

func TestBash(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"next=c", "c"},
		{"next='a b'", "a b"},
		{"next=\"c\"; result=1", "c"},
		{"if true; then next=a; else next=b; fi", "a b"},
		{"f() { next=c; }; f", "c"},
		{"export next=c", "c"},
		{"[[ x ]] && next=c || true", "c"},

		{"next=", ""},
		{"# next=c", ""},
		{"echo 'next=c'", ""},
		{"cat <<E\nnext=c\nE", ""},
		{"(next=c)", ""},
		{"x=$(next=c; echo 1)", ""},
		{"next=c | cat", ""},
		{"next=c &", ""},
		{"next=c env", ""},
		{"f() { local next=c; }", ""},
		{"f() { declare next=c; }", ""},
		{"echo $next", ""},
		{"next=c 'unclosed", ""},

		{"next=$x", "?"},
		{"next=\"a$x\"", "?"},
		{"next=~", "?"},
		{"next+=x", "?"},
		{"read -r next", "?"},
		{"printf -v next %s x", "?"},
		{"for next in a b; do :; done", "?"},
	} {
		if got := summary(AssignedNext("bash", c.code)); got != c.want {
			t.Errorf("%s\ngot %q, want %q", c.code, got, c.want)
		}
	}
}

// TestOffsets checks that an offset is that of the literal, or of the assignment of another value.
func TestOffsets(t *testing.T) {
	for language, code := range map[string]string{
		"python": "x = 'ä'\nnext = 'c'\nnext = x",
		"node":   "x = 'ä'\nnext = 'c'\nnext = x",
		"bash":   "x='ä'\nnext='c'\nnext=$x",
	} {
		n := AssignedNext(language, code)
		if len(n.Literals) != 1 || !strings.HasPrefix(code[n.Literals[0].Offset:], "'c'") || n.Other != strings.LastIndex(code, "next") {
			t.Errorf("%s: %+v", language, n)
		}
	}
}

// TestHostile reads programs that are made to take long.
func TestHostile(t *testing.T) {
	const n = 200_000
	for _, part := range []string{"next=", "next = (", "(next,", "if next:", "f\"{", "`${", "{next=", "next ? ", "'a' if ", "next=\"a\";", "let next;(", "/", "next = 'a' if x else "} {
		code := strings.Repeat(part, n/len(part))
		for _, language := range []string{"python", "node", "bash"} {
			AssignedNext(language, code)
		}
	}
	var many strings.Builder
	for i := range 2 * maxLiterals {
		fmt.Fprintf(&many, "next = 'a%d'\n", i)
	}
	for _, language := range []string{"python", "node"} {
		if found := AssignedNext(language, many.String()); len(found.Literals) != maxLiterals || found.Other < 0 {
			t.Errorf("%s: %d literals", language, len(found.Literals))
		}
	}
}

// FuzzAssignedNext checks that strings and comments are not code, whatever they hold, and that offsets are inside the program.
func FuzzAssignedNext(f *testing.F) {
	f.Add("next = 'c'")
	f.Add("if x: next = f\"{a['b']}\" # c")
	f.Add("next = x ? `a${b}` : /c/")
	f.Add("next=$(c)")
	f.Fuzz(func(t *testing.T, code string) {
		for _, language := range []string{"python", "node", "bash"} {
			n := AssignedNext(language, code)
			for _, l := range n.Literals {
				if l.Text == "" || l.Offset < 0 || l.Offset >= len(code) {
					t.Fatalf("%s: %+v in %q", language, l, code)
				}
			}
			if n.Other >= len(code) {
				t.Fatalf("%s: %d in %q", language, n.Other, code)
			}
		}
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\x00", "").Replace(code)
		comment := strings.NewReplacer("\n", " ", "\r", " ", "\u2028", " ", "\u2029", " ").Replace(code)
		for language, hidden := range map[string]string{
			"python": "s = \"" + quoted + "\" # " + comment,
			"node":   "s = \"" + quoted + "\" // " + comment,
		} {
			if n := AssignedNext(language, hidden); n.Assigns() {
				t.Fatalf("%s: %+v in %q", language, n, hidden)
			}
			if n := AssignedNext(language, hidden+"\nnext = 'c'"); summary(n) != "c" {
				t.Fatalf("%s: %+v in %q", language, n, hidden)
			}
		}
	})
}
