package shell

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"
)

// pair is shell code with templates, and the same by hand with the variable RAW.
type pair struct{ command, hand string }

func (p pair) in(before, after string) pair {
	return pair{before + p.command + after, before + p.hand + after}
}

func (p pair) and(q pair) pair { return pair{p.command + q.command, p.hand + q.hand} }

func same(text string) pair { return pair{text, text} }

// aWord draws a word. Nothing in backticks stands inside backticks.
func aWord(t *rapid.T, depth int, ticks bool) pair {
	kinds := []string{"bare", "double", "single", "literal", "text"}
	if depth > 0 {
		kinds = append(kinds, "joined", "substitution", "bare substitution", "fallback", "quoted fallback", "literal quotes", "pattern")
		if !ticks {
			kinds = append(kinds, "backticks")
		}
	}
	switch rapid.SampledFrom(kinds).Draw(t, "word") {
	case "bare":
		return pair{`${v}`, `${RAW}`}
	case "double":
		return pair{`"a ${v}"`, `"a ${RAW}"`}
	case "single":
		return pair{`'b ${v}'`, `'b '"${RAW}"''`}
	case "literal":
		return same(rapid.SampledFrom([]string{`'$y "'`, `"a 'b"`, `x`, `"$y"`, `''`, `-n`, `=`}).Draw(t, "literal"))
	case "joined":
		return aWord(t, depth-1, ticks).and(aWord(t, depth-1, ticks))
	case "substitution":
		return aWord(t, depth-1, ticks).in(`"$(printf '%s.' `, `)"`)
	case "bare substitution":
		return aWord(t, depth-1, ticks).in(`$(printf '%s,' `, `)`)
	case "backticks":
		return aWord(t, depth-1, true).in("`printf '%s.' ", "`")
	case "fallback":
		return aWord(t, depth-1, ticks).in(`${y:-`, `}`)
	case "quoted fallback":
		return pair{`"${y:-c ${v}}"`, `"${y:-c ${RAW}}"`}
	case "literal quotes":
		return pair{`"${y:-'${v}'}"`, `"${y:-'${RAW}'}"`}
	case "pattern":
		return aWord(t, depth-1, ticks).in(`"${w#`, `}"`)
	}
	return same("text")
}

// noOperator returns a word, or another if it has what the parser takes for an operator in [[ ]] and in arrays.
func noOperator(word pair) pair {
	if strings.Contains(word.command, "=") || strings.HasPrefix(word.command, "-n") {
		return same("e")
	}
	return word
}

// aStatement draws a statement.
func aStatement(t *rapid.T, depth int) pair {
	kinds := []string{"print", "assign", "document", "quoted document"}
	if rapid.IntRange(0, 3).Draw(t, "bash") == 0 {
		kinds = append(kinds, "test", "array", "here-string", "escapes")
	}
	if depth > 0 {
		kinds = append(kinds, "for", "case", "if", "group", "subshell", "function", "pipe", "and")
	}
	switch rapid.SampledFrom(kinds).Draw(t, "statement") {
	case "assign":
		return aWord(t, 2, false).in("x=", `; printf '<%s>' "$x"`)
	case "test":
		return noOperator(aWord(t, 2, false)).in("[[ a == x || ", " ").and(noOperator(aWord(t, 1, false)).in("== ", " ]] && printf 1"))
	case "array":
		return noOperator(aWord(t, 2, false)).in("a=(x ", ")").and(pair{`; printf '<%s>' "$${a[@]}"`, `; printf '<%s>' "${a[@]}"`})
	case "here-string":
		return aWord(t, 2, false).in("cat <<< ", "")
	case "escapes":
		return pair{`printf '<%s>' $'\'\t${v}\''`, `printf '<%s>' $'\'\t'"${RAW}"$'\''`}
	case "document":
		return pair{"${v}|$(printf '%s.' '${v}')|${y:-${v}}", `${RAW}|$(printf '%s.' "${RAW}")|${y:-${RAW}}`}.in("cat <<EOF\n", "\nEOF\n:")
	case "quoted document":
		text := rapid.StringMatching("[a-z$`\\\\'\" \t]{0,12}").Draw(t, "text")
		if strings.HasSuffix(text, "$") {
			text += "." // $${v} is no template
		}
		return pair{"cat <<'E F'\n" + text + "${v}" + text + "\nE F\n:", `printf '%s%s%s\n' '` + strings.ReplaceAll(text, "'", `'\''`) + `' "${RAW}" '` + strings.ReplaceAll(text, "'", `'\''`) + "'"}
	case "for":
		return aWord(t, 2, false).in("for i in ", ` end; do printf '{%s}' "$i"; done`)
	case "case":
		return aWord(t, 2, false).in("case ", " in ").and(aWord(t, 1, false).in("", ") printf 1 ;; *) printf 2 ;; esac"))
	case "if":
		return aStatement(t, depth-1).in("if ", "; then ").and(aStatement(t, depth-1).in("", "; fi"))
	case "group":
		return aStatement(t, depth-1).in("{ ", "; }")
	case "subshell":
		return aStatement(t, depth-1).in("( ", " )")
	case "function":
		return aStatement(t, depth-1).in("f() { ", "; }; f")
	case "pipe":
		return aStatement(t, depth-1).in("{ ", "; } | cat")
	case "and":
		return aStatement(t, depth-1).in("{ ", "; } && ").and(aStatement(t, depth-1).in("{ ", "; }"))
	}
	return aWord(t, 2, false).in("printf '<%s>' ", " ").and(aWord(t, 2, false))
}

// TestACommandDoesAsByHand: random scripts do with random values what they do with a variable that holds them.
func TestACommandDoesAsByHand(t *testing.T) {
	t.Parallel()
	shells, dir := both(t), t.TempDir()
	run := func(t *rapid.T, shell, command string, variables ...string) string {
		cmd := exec.CommandContext(context.Background(), shell, "-c", command)
		cmd.Dir, cmd.Env = dir, append([]string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "w=w"}, variables...)
		var out bytes.Buffer
		cmd.Stdout = &out
		_ = cmd.Run() // an error of the shell's is one in both
		if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
			t.Fatalf("%s %s ran %q", shell, command, variables)
		}
		return out.String()
	}
	rapid.Check(t, func(t *rapid.T) {
		var p pair
		for range rapid.IntRange(1, 3).Draw(t, "statements") {
			p = p.and(aStatement(t, 2).in("", "\n"))
		}
		value := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"'", `"`, `\`, "`", "$", "(", ")", ">pwned", ";", "\n", " ", "*", "a", "EOF", "E F", "${RAW}", "\xff", "é", "{", "}", "|", "&", "#", "=", "-n", "[", "]"}), 0, 8).Draw(t, "value"), "")
		s, problems := Parse(p.command, Options{Known: func(root string) bool { return root == "v" }})
		if i := slices.IndexFunc(problems, func(p Problem) bool { return !p.Warning }); i >= 0 {
			t.Fatalf("%s: %s", p.command, problems[i].Message)
		}
		values := make([]string, len(s.Vars))
		for i := range values {
			values[i] = value
		}
		command, variables := s.Render(values)
		for _, shell := range shells {
			if s.Bash && filepath.Base(shell) != "bash" {
				continue
			}
			got, want := run(t, shell, command, variables...), run(t, shell, p.hand, "RAW="+value)
			if got != want {
				t.Fatalf("%s: %s\nas %s\nwith %q gives %q\nby hand, %s, %q", filepath.Base(shell), p.command, command, value, got, p.hand, want)
			}
		}
	})
}

// FuzzParse checks that each command becomes a script or an error. In both dialects, or in that of bash alone if the script
// is for bash, each template of what is rendered is a reference that the shell expands.
func FuzzParse(f *testing.F) {
	for _, table := range []map[string]string{verbatim, like, named} {
		for _, command := range table {
			f.Add(command)
		}
	}
	for _, name := range []string{"errors.txt", "warnings.txt", "safe.txt", "bash.txt", "ordinary.txt"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		for block := range strings.SplitSeq(string(text), "\n\n") {
			f.Add(block)
		}
	}
	known := func(root string) bool { return root == "v" || root == "name" || root == "count" }
	f.Fuzz(func(t *testing.T, command string) {
		unsafe, problems := Parse(command, Options{Known: known, Unsafe: true})
		if len(problems) == 0 {
			unsafe.Render(make([]string, len(unsafe.Vars)))
		}
		_, given := Parse(command, Options{Known: known, Own: []string{"P"}, FromTemplates: []string{"P"}})
		s, problems := Parse(command, Options{Known: known})
		for _, p := range append(given, problems...) {
			if p.Message == "" || p.Suggest == "" || p.Offset < -1 || p.Offset > len(command) {
				t.Errorf("%q: %+v", command, p)
			}
		}
		if len(s.Vars) == 0 || slices.ContainsFunc(problems, func(p Problem) bool { return !p.Warning }) {
			return
		}
		rendered, _ := s.Render(make([]string, len(s.Vars)))
		for _, dialect := range []syntax.LangVariant{syntax.LangPOSIX, syntax.LangBash} {
			if s.Bash && dialect != syntax.LangBash {
				continue
			}
			file, err := parse(rendered, dialect)
			if err != nil {
				t.Fatalf("%q became %q: %v", command, rendered, err)
			}
			expanded, inside := map[string]bool{}, 0
			syntax.Walk(file, func(n syntax.Node) bool {
				switch n := n.(type) {
				case *syntax.ParamExp:
					if n.Param != nil {
						expanded[n.Param.Value] = true
					}
					inside++
				case *syntax.SglQuoted: // within "${x:-…}" they are text, which the parser does not know
					for _, v := range s.Vars {
						expanded[v.Name] = expanded[v.Name] || inside > 0 && strings.Contains(n.Value, "${"+v.Name+"}")
					}
				}
				return true
			})
			for _, v := range s.Vars {
				if !expanded[v.Name] {
					t.Errorf("%q became %q, in which %s is not expanded", command, rendered, v.Name)
				}
			}
		}
	})
}
