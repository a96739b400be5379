package shell

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pflow-suite/pflow/internal/brief"
)

// hostile returns the values.
func hostile() []string {
	const pwn = "touch pwned"
	values := []string{
		"", "plain", "two words", "  blanks  around  ", "\ttab\t", "'", `"`, "`", `\`, "$", "!", "#", "~", "*", "?", "[", "]", "{", "}", "(", ")", "<", ">", "|", "&", ";", "=%@^+:,..",
		"''", `""`, "``", `\\`, "$$", "!!##", "~/", "~root", "/e*", "[a-z]*", "[!a]", "?????", "{a,b}", "{1..3}", "()<>>==", "||", "&&", ";;", "%s%n%d", "@(a|b)", "!(a)", "+(a)",
		"-n", "-rf", "--", "--help", "-v", "-v a[$(>pwned)]", "-v a[`>pwned`] x", "-a", "a -o b", "( a", "3 -o -v a[$(>pwned)]",
		"$HOME", "${HOME}", "${RAW}", "$RAW", "$(", "${", "$((", "$((1+1))", "$[1+1]", "${x:-`>pwned`}", "${x:=$(>pwned)}", "${PFLOW_T1}", "$PFLOW_T1", "$1", "$@", "$*", "$'", `$"`, "$'\\n'", "\\$(>pwned)", "\\`>pwned\\`",
		"EOF", "EOF\n" + pwn, "\nEOF\n" + pwn + "\n", "A\n" + pwn + "\nB\n" + pwn, "END OF IT\n" + pwn, "\n\n" + pwn, "\tEOF\n" + pwn, "EOF0\n" + pwn, "EOF'\n" + pwn,
		"\n", "\n\n", "a\n", "\na", "a\nb", "a\r\nb", "\r", "a\\\nb", "\\\n", "a\\", "a\\\\", "'\\", "\"\\", "\\'", `\"`, "\\n\\t\\0", "\x01", "\x7f", "\x01\x7f\x01", "\x02\x03\x04", "\x1b[31m", "\v\f", "\x0e\x0f",
		"ünï", "日本語", "🙂", "\u0081\u0082\u0083\u0084\u0085\u0086\u0087\u0088", "ÁÂÃÄÅÆÇÈ", "\u00a0nbsp", "\u2028", "\ufeffbom", "e\u0301",
		"\xff", "\x80", "\xc3", "\xc3\x28", "\xed\xa0\x80", "\xf0\x9f", "a\xffb", "\x81", "\x82\x83\x84\x85\x86\x87\x88", "\x81'\x88\"", "\xfe\xff" + pwn,
		"a[$(>pwned)]", "a[`>pwned`]", "x[$(" + pwn + ")]+1", "RANDOM", "x=$(>pwned)", "a=1", "PATH=/nowhere", "IFS=x", "0x10", "08", "1e3", "-", "i++", "y", "RAW",
		"() { :; }; " + pwn, "f() { " + pwn + "; }; f", "eval " + pwn, "eval", ". /dev/stdin", "exec " + pwn, "if " + pwn, "then", "fi", "esac", "in", "case x in x) " + pwn + " ;; esac", "while :; do " + pwn + "; done",
		"a;b", "a|b", "a&b", "a>b", "a<b", "a b*c?d[e]f", "*.txt", ".*", "a:b:c", "a\\*", "\\*", `"*"`, "'*'", "x/../y", "../../../../etc/hostname", "/etc/hostname", "/dev/null", "./p", "a/b/c",
		`{"json": ["$(>pwned)", 'x']}`, `<a href="x">'</a>`, "SELECT 'x'; --", "s/a/b/e", "{print $1}", "%(>pwned)%", "\\u0027;>pwned;\\u0027", "\\x27;>pwned;\\x27", "&#39;;>pwned", "%27;>pwned",
		strings.Repeat("a", 100_000), strings.Repeat("'\"`$\\", 20_000), strings.Repeat("a b\n", 5_000) + "$(>pwned)", strings.Repeat("\\", 3_001), strings.Repeat("'", 3_001), strings.Repeat("$(", 1_000), strings.Repeat("\n", 2_000),
	}
	for i, around := range []string{ // breaking out of each kind of quoting, and adding each kind of operator
		"%s", "; %s", "; %s ;", "& %s", "&& %s", "|| %s", "| %s", "\n%s\n", "$(%s)", "`%s`", "$(%s", "`%s", "' ; %s ; '", `" ; %s ; "`, "'$(%s)'", `"$(%s)"`, "'`%s`'", "\"`%s`\"", "') ; %s ; ('", `"); %s ; ("`,
		"} ; %s ; {", ") ; %s ; (", "))\n%s\n((", "]] ; %s ; [[", ";; esac ; %s ; case x in x", "# \n %s", "<(%s)", ">(%s)", "${y:-$(%s)}", "${y:-`%s`}", "a'\"'\"'; %s; '", "'\\''; %s; '\\''", "\\'; %s; \\'", `\"; %s; \"`,
		"<<X\n%s\nX", "<<'X'\nX\n%s", "$'\\''; %s; '", "a=$(%s) b", "!%s", "-v a[$(%s)]", "'`%s`\"",
	} {
		values = append(values, fmt.Sprintf(around, []string{pwn, ">pwned"}[i%2]))
	}
	return values
}

// both gives dash and bash, or those of them that are here.
func both(t *testing.T) (paths []string) {
	t.Helper()
	for _, shell := range []string{"dash", "bash"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not here", shell)
			continue
		}
		paths = append(paths, path)
	}
	if len(paths) == 0 {
		t.Skip("neither dash nor bash is here")
	}
	return paths
}

// everyValue are the places that are tried with every value; each other place is tried with a third of them.
var everyValue = []string{
	"bare", "bare, part of a word", "double quotes", "double quotes, part of a word", "single quotes", "single quotes, part of a word", "here-document", "here-document, indented", "quoted here-document", "substitution",
	"substitution, single quotes", "backticks", "backticks in quotes, single", "bare in a substitution", "fallback in quotes", "fallback, single quotes", "bare fallback", "input redirection", "output redirection", "assignment",
	"assignment for a command", "export", "case word", "case pattern", "case pattern, quoted", "case pattern, single quotes", "pattern removed", "command", "items of a loop", "argument of a function", "test", "positional",
}

// placed is one command of the tables as it is run.
type placed struct {
	name, command string
	rendered      string
	byHand        string // empty: the value is expected verbatim
	how           string // it is run: a format of p or q, the folder of the scripts and its number
	short         bool   // the shells' own time grows with the square of the value's length
	every         bool
	bash          bool
}

func placements(t *testing.T) (all []placed) {
	t.Helper()
	for i, table := range []map[string]string{verbatim, like, named, inBash} {
		for name, command := range table {
			s, problems := Parse(command, Options{Known: func(root string) bool { return root == "v" }})
			for _, p := range problems {
				if !p.Warning {
					t.Fatalf("%s: %s", command, p.Message)
				}
			}
			values := make([]string, len(s.Vars))
			rendered, _ := s.Render(values)
			for _, v := range s.Vars { // one value is enough
				rendered = strings.ReplaceAll(rendered, "${"+v.Name+"}", "${PFLOW_T1}")
			}
			p := placed{name: name, command: command, rendered: rendered, every: slices.Contains(everyValue, name), how: "D=%[1]s; . %[2]s/%[1]s/%[3]d 2>/dev/null"}
			if strings.Contains(command, "${w%") || strings.Contains(command, "${w#") && strings.Contains(command, "w=$RAW") {
				p.short = true
				p.how = "[ ${#RAW} -gt 4000 ] || { " + p.how + "; }"
			}
			switch i {
			case 1:
				p.byHand = strings.ReplaceAll(command, "${v}", "${RAW}")
			case 2: // what the shell answers names the script and the line
				p.how = "(" + p.how + ")"
				p.byHand = strings.NewReplacer(`"${v}"`, `"${RAW}"`, `'${v}'`, `"${RAW}"`, `${v}`, `"${RAW}"`).Replace(command)
			}
			if p.bash = s.Bash; p.bash {
				p.every = true
				p.how = `[ -z "$BASH_VERSION" ] || { ` + p.how + "; }"
			}
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b placed) int { return strings.Compare(a.name, b.name) })
	return all
}

const boundary = "\n=-=boundary=-=\n"

func TestNoValueRunsAtAnyPlace(t *testing.T) {
	t.Parallel()
	values, all := hostile(), placements(t)
	slices.SortStableFunc(values, func(a, b string) int { return len(b) - len(a) }) // the slowest first
	if len(values) < 200 || len(everyValue) < 14 {
		t.Fatalf("%d values at %d places", len(values), len(everyValue))
	}
	for _, name := range everyValue {
		if !slices.ContainsFunc(all, func(p placed) bool { return p.name == name }) {
			t.Errorf("there is no place %q", name)
		}
	}
	shells := both(t)
	scripts := t.TempDir()
	var driver strings.Builder
	driver.WriteString(". ./raw\n")
	for i, p := range all {
		for name, text := range map[string]string{"p": p.rendered, "q": p.byHand} {
			write(t, filepath.Join(scripts, name, fmt.Sprint(i)), text+"\n")
		}
		for _, d := range []string{"p", "q"} {
			if !p.every {
				fmt.Fprintf(&driver, "[ \"$THIRD\" != %d ] || ", i%3)
			}
			fmt.Fprintf(&driver, "{ "+p.how+"; }; printf '%%s' '%[4]s'\n", d, scripts, i, boundary)
		}
	}
	write(t, filepath.Join(scripts, "driver"), driver.String())

	type job struct {
		shell, value string
		third        int
	}
	jobs := make(chan job)
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for j := range jobs {
				putThrough(t, j.shell, scripts, j.value, j.third, all)
			}
		})
	}
	for _, shell := range shells {
		for i, value := range brief.Part(values, 5) {
			jobs <- job{shell, value, i % 3}
		}
	}
	close(jobs)
	wait.Wait()
	t.Logf("%d values at %d places, and a third of them at %d more, under %d shells", len(values), len(everyValue), len(all)-len(everyValue), len(shells))
}

// putThrough runs all places with one value, which comes in the environment as it does in a run.
func putThrough(t *testing.T, shell, scripts, value string, third int, all []placed) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "p", "f0"), "")
	write(t, filepath.Join(dir, "q", "f0"), "")
	write(t, filepath.Join(dir, "raw"), "RAW='"+strings.ReplaceAll(value, "'", `'\''`)+"'\n")
	cmd := exec.CommandContext(context.Background(), shell, filepath.Join(scripts, "driver"))
	cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin", "HOME=/nowhere", "LC_ALL=C.UTF-8", "PFLOW_T1=" + value, fmt.Sprint("THIRD=", third)}
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		t.Errorf("%s with %s: %v", shell, shown(value), err)
	}
	_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, _ error) error {
		if filepath.Base(path) == "pwned" {
			t.Errorf("%s ran %s", shell, shown(value))
		}
		return nil
	})
	parts := strings.Split(out.String(), boundary)
	if len(parts) != 2*len(all)+1 {
		t.Errorf("%s with %s: %d answers of %d places", shell, shown(value), len(parts)/2, len(all))
		return
	}
	for i, p := range all {
		got, want := parts[2*i], strings.ReplaceAll(parts[2*i+1], fmt.Sprintf("/q/%d", i), fmt.Sprintf("/p/%d", i))
		switch {
		case p.short && len(value) > 4000, !p.every && i%3 != third, p.bash && filepath.Base(shell) != "bash":
		case p.byHand != "" && got != want:
			t.Errorf("%s, %s: %s with %s gives %s, and by hand %s", filepath.Base(shell), p.name, p.rendered, shown(value), shown(got), shown(want))
		case p.byHand == "" && !strings.Contains(got, "<"+value+">") && !strings.Contains(got, "<"+value+".>"):
			t.Errorf("%s, %s: %s with %s gives %s", filepath.Base(shell), p.name, p.rendered, shown(value), shown(got))
		}
	}
}

func shown(s string) string {
	if len(s) > 300 {
		return fmt.Sprintf("%.100q… (%d bytes)", s, len(s))
	}
	return fmt.Sprintf("%q", s)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Error(err)
	}
}
