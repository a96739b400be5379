package shell

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"
)

// A command of simple words is rendered as if it had been parsed.
func TestSimpleCommands(t *testing.T) {
	words := append(strings.Fields(builtins+syntaxWords), "a", "x=1", "x+=1", "-n", "a.b/c:d", "12", "@", "%", "rm", "-rf", "/", "mkfs", "grep", "0=1", "=")
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 4).Draw(t, "words") {
			b.WriteString(rapid.SampledFrom([]string{"", " ", "  "}).Draw(t, "space") + rapid.SampledFrom(words).Draw(t, "word") + " ")
		}
		command := b.String()
		if !simple(command) {
			return
		}
		taken++
		for _, o := range []Options{{Known: knows("x")}, {Known: knows("x"), Own: []string{"x", "a"}}, {Known: knows("x"), Unsafe: true}} {
			got, problems := Parse(command, o)
			want, wanted := parseWhole(command, o, false)
			if d := cmp.Diff(want, got, cmp.AllowUnexported(Script{}), cmpopts.EquateEmpty()) + cmp.Diff(wanted, problems, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("%q: %s", command, d)
			}
		}
	})
	if taken == 0 {
		t.Error("no command was simple")
	}
}

func knows(names ...string) func(string) bool {
	return func(name string) bool { return strings.Contains(" "+strings.Join(names, " ")+" ", " "+name+" ") }
}

// What is taken for alike is parsed alike, to the last node.
func checkAlike(t interface{ Errorf(string, ...any) }, text string) (taken bool) {
	if nesting(text) > maxNesting {
		return false
	}
	file, err := parse(text, syntax.LangBash)
	if err != nil || !alike(file, text) {
		return false
	}
	if bashSyntax(file) {
		t.Errorf("%q is alike and has syntax of bash", text)
	}
	posix, err := parse(text, syntax.LangPOSIX)
	if err != nil {
		t.Errorf("%q is alike, but %v", text, err)
		return true
	}
	var one, other bytes.Buffer
	joinLiterals(file)
	joinLiterals(posix)
	_, _ = syntax.DebugPrint(&one, file), syntax.DebugPrint(&other, posix)
	if one.String() != other.String() {
		t.Errorf("%q is parsed otherwise:\n%s%s", text, &one, &other)
	}
	return true
}

// joinLiterals joins the literals of words that follow each other: the parser divides some without need.
func joinLiterals(file *syntax.File) {
	syntax.Walk(file, func(n syntax.Node) bool {
		if w, ok := n.(*syntax.Word); ok {
			var parts []syntax.WordPart
			for _, p := range w.Parts {
				if lit, ok := p.(*syntax.Lit); ok && len(parts) > 0 {
					if last, ok := parts[len(parts)-1].(*syntax.Lit); ok {
						last.Value, last.ValueEnd = last.Value+lit.Value, lit.ValueEnd
						continue
					}
				}
				parts = append(parts, p)
			}
			w.Parts = parts
		}
		return true
	})
}

// alikeParts are parts of shell code, some of them only bash's.
var alikeParts = []string{
	"a", "x=1 ", "x+=1 ", "x[1]=2 ", "x=(1)", " ", " ", "\n", "; ", " | ", " |& ", " && ", " || ", " & ", " > f", " >> f", " 2>&1", " &> f", " >& f", " < f", " <<< w", " {fd}> f", " >| f", " <(a)",
	"$x", "${x}", "${x:-y}", "${x[1]}", "${x^}", "${!x}", "${#x}", "$1", "$@", "$'a'", `$"a"`, `"a $x b"`, `'a $x'`, "`a`", "$(a)", "$(a; b)", "${ a; }", "$((1+1))", "$[1]", "((x))", "( (a) )", "(a)", "{ a; }", "{a,b}", "@(a|b)", "!(a)", "*", "?", "[a]", "~",
	"if a; then b; fi", "while a; do b; done", "until a; do b; done", "for x in a b; do c; done", "select x in a; do b; done", "case a in b) c;; esac", "function f { a; }", "f() { a; }", "[[ a == b ]]", "[ a = b ]", "let x=1", "declare x=1", "export x=1", "local x", "time a", "coproc a", "! a",
	"# note", "a\\ b", "\\\n", "'", `"`, "(", ")", "}", "then", "do", "\t", "-n", "=", "%", "\r", "é",
}

func TestAlike(t *testing.T) {
	taken, n := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 6).Draw(t, "parts") {
			b.WriteString(rapid.SampledFrom(alikeParts).Draw(t, "part"))
		}
		n++
		if checkAlike(t, b.String()) {
			taken++
		}
	})
	if taken < n/50 {
		t.Errorf("only %d of %d commands were taken", taken, n)
	}
	for _, text := range []string{
		"cat $file | grep -i 'foo bar' > out.txt 2>&1", `if test -n "${x}"; then echo "yes $x"; fi`, "cd /tmp && ls -l; echo done", "x=1 y='2' env", `out=$(date) && echo "$out"`,
	} {
		if !checkAlike(t, text) {
			t.Errorf("%q is not alike", text)
		}
	}
}

func FuzzAlike(f *testing.F) {
	for _, part := range alikeParts {
		f.Add("a " + part + " b")
	}
	f.Fuzz(func(t *testing.T, text string) { checkAlike(t, text) })
}
